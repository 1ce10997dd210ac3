import type { SchoolId } from "../../directory/index.ts";
import type { Schools } from "../schools.ts";
import type { Staging } from "../staging.ts";

export type ImportMode = "BULK" | "DELTA";
export type ImportFormat = "PLAIN" | "ONEROSTER" | "SCHULCONNEX";

/** What a format's reader is given. */
export type Reading = {
  staging: Staging;
  schools: Schools;
  mode: ImportMode | undefined;
  /** The group of last year by the source id of the one it goes on as. */
  carryOvers: ReadonlyMap<string, string>;
  onBytes(bytes: number): void;
};

/** What a reader found. `schools` are all that the files name. */
export type Read = {
  mode: ImportMode;
  schools: ReadonlySet<SchoolId>;
  /** The files' names and identifying columns, for faults that are found after reading. */
  places: Places;
};

export type Places = Record<
  "person" | "group" | "membership" | "role",
  { file: string; person?: string; group?: string }
>;

/** The most groups of a file that names them with its people; they are kept in memory, so that each is staged once. */
export const maxGroups = 200_000;
export const tooManyGroups = `The file names more than ${maxGroups} groups.`;
