export const packageNames = [
  "schultor-client.tgz",
  "schultor-cli.tgz",
  "spectral-rules.js",
  "spectral-rules-schultor.js",
  "tutorial-typescript.tgz",
  "tutorial-python.tgz",
  "tutorial-php.tgz",
] as const;

export type PackageName = (typeof packageNames)[number];
