import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type ChangelogEntry = {
  contracts: string[];
  kind: "added" | "changed" | "clarified" | "deprecated" | "removed";
  parts: string[];
  what: string;
  who: string;
  action: string;
  until?: string;
  more?: string;
};
export type ChangelogRelease = { version: string; date: string; entries: ChangelogEntry[] };
export type Changelog = { next: ChangelogEntry[]; releases: ChangelogRelease[] };

export const releasesFolder = join(import.meta.dirname, "..", "..", "openapi", "released");

/** `npm run lint:changelog` checks its form. */
export function readChangelog(): Changelog {
  return parse(readFileSync(join(releasesFolder, "changelog.yaml"), "utf8")) as Changelog;
}
