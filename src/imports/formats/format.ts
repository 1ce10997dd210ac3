import type { PersonRole, SchoolId } from "../../directory/index.ts";
import type { Schools } from "./schools.ts";
import type { Staging } from "./staging.ts";

export type ImportMode = "BULK" | "DELTA";
/** Which people the files list; everybody else stays as they are. */
export type ImportPeople = "ALL" | "STUDENTS" | "TEACHERS";
export type ImportFormat = "PLAIN" | "ONEROSTER" | "SCHULCONNEX";

/**
 * What a file can speak of: types of groups, which groups there are, who is in them, and attributes of people. What it
 * does not speak of stays. A record can be silent about more of them than its file.
 */
const subjects = [
  ...(["KLASSE", "KURS", "SONSTIG", "GROUP", "MEMBERSHIP"] as const),
  ...(["ROLE", "NAME", "MIDDLE_NAME", "CALL_NAME"] as const),
] as const;
export type Subject = (typeof subjects)[number];

const roles = { ALL: null, STUDENTS: "STUDENT", TEACHERS: "TEACHER" } as const;

/** The role of the people whom the files list; null for all of them. */
export const roleOf = (people: ImportPeople): "STUDENT" | "TEACHER" | null => roles[people];

/** Whether the files are complete, and for which people. */
type Scope = { mode: ImportMode; people: ImportPeople };
export type AskedScope = { mode?: ImportMode | undefined; people?: ImportPeople | undefined };

/** What is asked for, otherwise what is usual. A list of all people of a role is whole unless asked otherwise. */
export const chooseScope = ({ mode, people }: AskedScope, usual: Scope): Scope => ({
  mode: mode ?? (people === undefined || people === "ALL" ? usual.mode : "BULK"),
  people: people ?? (mode === undefined ? usual.people : "ALL"),
});

/** All subjects except the ones marked true in `silentAbout`. */
export const speakingOf = (silentAbout: Partial<Record<Subject, boolean>>): Subject[] =>
  subjects.filter((subject) => silentAbout[subject] !== true);

export type ReadContext = AskedScope & {
  staging: Staging;
  schools: Schools;
  /** Source id of the previous group by source id of the new one. */
  carryOvers: ReadonlyMap<string, string>;
  onBytes(bytes: number): void;
};

export type ReadResult = Scope & {
  schools: ReadonlySet<SchoolId>;
  keyColumns: KeyColumns;
  speaksOf: readonly Subject[];
  /** Whether the rows are in several files. */
  isArchive: boolean;
  /** Limits the stored part of a faulty row. */
  headings?: readonly string[];
};

export type KeyColumns = Record<
  "person" | "group" | "membership" | "role",
  { file: string; person?: string; group?: string }
>;

const nearestFirst: readonly PersonRole[] = ["TEACHER", "STUDENT", "OTHER"];

/** Returns the role that is nearest to teaching. */
export const nearestRole = (roles: readonly (PersonRole | null)[]): PersonRole | null =>
  nearestFirst.find((role) => roles.includes(role)) ?? null;

/** Limits groups that files list with people; they are kept in memory so that each is staged once. */
export const maxGroups = 200_000;
export const tooManyGroups = `The file names more than ${maxGroups} groups.`;

/** From May on, rosters are of the next school year. */
export function schoolYearOf(now: Date): string {
  const year = now.getFullYear() - (now.getMonth() < 4 ? 1 : 0);
  return `${year}/${String(year + 1).slice(-2)}`;
}
