/** What partners install, below `/downloads` of the service. */
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

/** The documents of what apps read and are notified of. */
export const documentsOfRecords: readonly string[] =
  "idm schulconnex schulconnex-1.7 schulconnex-1.8 oneroster oneroster-1.1 webhooks".split(" ");
