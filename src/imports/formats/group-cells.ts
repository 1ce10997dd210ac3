import { toName } from "../read/value.ts";

/** The columns of groups of a plain table. */
export const groupColumns = [
  ["classes", "class", "KLASSE"],
  ["courses", "course", "KURS"],
  ["groups", "group", "SONSTIG"],
] as const;

/** The column of the ids of groups, in the order of their names; without one it is the kind and the name. */
export const idsHeading = (kind: string): string => `${kind}_ids`;

/** A cell of names or ids that stand beside each other. */
export const joinList = (entries: readonly string[]): string =>
  entries.map((entry) => entry.replaceAll("%", "%25").replaceAll("|", "%7C")).join("|");

export const splitList = (cell: string): string[] =>
  cell.split("|").map((entry) => toName(entry.replaceAll("%7C", "|").replaceAll("%25", "%")));
