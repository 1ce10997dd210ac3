import type { PersonRole, SchoolId } from "../../directory/index.ts";
import type { Schools } from "../schools.ts";
import type { Staging } from "../staging.ts";

export type ImportMode = "BULK" | "DELTA";
export type ImportFormat = "PLAIN" | "ONEROSTER" | "SCHULCONNEX";

/**
 * What a file can speak of: types of groups, which groups there are, who is in them, and attributes of people. What it
 * does not speak of stays. A record can be silent about more of them than its file.
 */
export const subjects = [
  ...(["KLASSE", "KURS", "SONSTIG", "GROUP", "MEMBERSHIP"] as const),
  ...(["ROLE", "NAME", "MIDDLE_NAME", "CALL_NAME"] as const),
] as const;
export type Subject = (typeof subjects)[number];

/** All subjects but those that are true here. */
export const speakingOf = (silentAbout: Partial<Record<Subject, boolean>>): Subject[] =>
  subjects.filter((subject) => silentAbout[subject] !== true);

export type ReadContext = {
  staging: Staging;
  schools: Schools;
  mode: ImportMode | undefined;
  /** Source id of the previous group by source id of the new one. */
  carryOvers: ReadonlyMap<string, string>;
  onBytes(bytes: number): void;
};

export type ReadResult = {
  mode: ImportMode;
  schools: ReadonlySet<SchoolId>;
  keyColumns: KeyColumns;
  speaksOf: readonly Subject[];
  /** Whether the rows are in several files. */
  isArchive: boolean;
  /** Of what is kept of a faulty row. */
  headings?: readonly string[];
};

export type KeyColumns = Record<
  "person" | "group" | "membership" | "role",
  { file: string; person?: string; group?: string }
>;

const nearestFirst: readonly PersonRole[] = ["TEACHER", "STUDENT", "OTHER"];

/** Of several roles, the one nearest to teaching. */
export const nearestRole = (roles: readonly (PersonRole | null)[]): PersonRole | null =>
  nearestFirst.find((role) => roles.includes(role)) ?? null;

/** Limits groups that files list with people; they are kept in memory so that each is staged once. */
export const maxGroups = 200_000;
export const tooManyGroups = `The file names more than ${maxGroups} groups.`;
