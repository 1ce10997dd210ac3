import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type ChangelogEntry = {
  contracts: string[];
  kind: "added" | "changed" | "clarified" | "deprecated" | "removed";
  /** Operations, schemas and security schemes. */
  parts: string[];
  what: string;
  /** Whom it concerns, or `nobody`. */
  who: string;
  /** What they have to do, or `nothing`. */
  action: string;
  /** The last day, as 2028-08-01. */
  until?: string;
  more?: string;
};
/** Newest first; `date` as 2026-11-21. */
export type ChangelogRelease = { version: string; date: string; entries: ChangelogEntry[] };
export type Changelog = { next: ChangelogEntry[]; releases: ChangelogRelease[] };

export const releasesFolder = join(import.meta.dirname, "..", "..", "openapi", "released");

/** `npm run lint:changelog` checks its form. */
export function readChangelog(): Changelog {
  return parse(readFileSync(join(releasesFolder, "changelog.yaml"), "utf8")) as Changelog;
}
