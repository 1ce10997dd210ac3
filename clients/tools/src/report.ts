/** What a tool found: for people, as the ids that scripts read, and as data. */
export type Report = {
  lines: readonly string[];
  quiet: readonly string[];
  data: object;
  /** What was examined is not all right: exit code 1. */
  hasFailed: boolean;
};
