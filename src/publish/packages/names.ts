export const packageNames = ["schultor-client.tgz", "schultor-cli.tgz"] as const;

export type PackageName = (typeof packageNames)[number];
