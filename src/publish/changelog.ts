import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** A change of the contract, for those who have to act on it. */
export type ChangelogEntry = {
  contracts: string[];
  kind: "added" | "changed" | "clarified" | "deprecated" | "removed";
  /** The operations, schemas and security schemes that differ. */
  parts: string[];
  what: string;
  /** Whom it concerns, or `nobody`. */
  who: string;
  /** What they have to do, or `nothing`. */
  action: string;
  /** The last day to do it, as 2028-08-01. */
  until?: string;
  /** The path of a page that says more. */
  more?: string;
};
/** Shape: `date` as 2026-11-21; newest first. */
export type ChangelogRelease = { version: string; date: string; entries: ChangelogEntry[] };
export type Changelog = { next: ChangelogEntry[]; releases: ChangelogRelease[] };

/** The folder of everything that was released. */
export const releasesFolder = join(import.meta.dirname, "..", "..", "openapi", "released");

/** Reads the changelog, whose form `npm run lint:changelog` checks. */
export function readChangelog(): Changelog {
  return parse(readFileSync(join(releasesFolder, "changelog.yaml"), "utf8")) as Changelog;
}
