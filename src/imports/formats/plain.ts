import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PersonName, SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import { foldText } from "../../platform/text/likeness.ts";
import type { SourceFile } from "../read/source.ts";
import { readTable, type Row } from "../read/table.ts";
import type { Staging } from "./staging.ts";
import { detachText } from "../read/text.ts";
import { cleanId, findValueFault, idLength, nameLength, readUsername, toName } from "../read/value.ts";
import { cleanCell, layOut, type Mapping, type TableGuess } from "./columns.ts";
import { chooseScope, maxGroups, speakingOf, tooManyGroups, type ReadContext, type ReadResult } from "./format.ts";
import { findClassesIn, isParentRole, readDate, readRole, splitClasses, foldWord } from "./words.ts";

/** The columns of groups of a plain table. */
export const groupColumns = [
  ["classes", "class", "KLASSE"],
  ["courses", "course", "KURS"],
  ["groups", "group", "SONSTIG"],
] as const;

/** The column of the ids of groups, in the order of their names; without one it is the kind and the name. */
export const idsHeading = (kind: string): string => `${kind}_ids`;

const nameColumns = ["first_name", "call_name", "last_name", "full_name"];
const keptColumns = [
  ...["id", "role", ...nameColumns, "username", "status"],
  ...groupColumns.flatMap(([heading, kind]) => [heading, idsHeading(kind)]),
];

export const plainTemplate = (): string => readFileSync(new URL("../template.csv", import.meta.url), "utf8");

export const schoolMissing = () =>
  new AppError("invalid", "school_missing", "A plain CSV file says nothing of schools: name the one it is for.");

/** The column that is added to rows that were left out: a file that has it is an addition, and nobody else leaves. */
export const reasonHeadings = { en: "left_out_because", de: "ausgelassen_weil" } as const;

export const isReasonHeading = (heading: string): boolean =>
  Object.values<string>(reasonHeadings).includes(heading.trim().toLowerCase());

/** Reads a table of people: one row per person, with groups by name. FORMATS.md describes it. */
export async function readPlain(
  file: SourceFile,
  input: ReadContext,
  plan: { guess: TableGuess; mapping: Mapping | "template" | undefined } | undefined,
): Promise<ReadResult> {
  const { staging, onBytes } = input;
  const school = input.schools.only;
  if (school === undefined) throw schoolMissing();
  const seen = new Map<string, string>();
  const mapping = typeof plan?.mapping === "object" ? plan.mapping : undefined;
  const layout = mapping ? layOut(plan!.guess, mapping) : plan && { ...plan.guess, columns: undefined };
  const required = mapping ? requiredOf(mapping) : ["id", "role", "first_name", "last_name"];
  const setAside = (row: Row, written: readonly string[]): boolean => {
    if (!isNoPerson(row, written, mapping?.idFromName ? "birth_date" : "id")) return false;
    stageNoPerson(row, staging);
    return true;
  };
  const headings = await readTable({ file, onBytes, layout, required, setAside }, staging, (row) => {
    const isParent = !mapping?.role && isParentRole(row.get("role"));
    if (isParent && row.get("status").toLowerCase() !== "deleted") return staging.note("parents_and_guardians");
    const name = row.has("full_name") ? readFullName(row) : readName(row);
    const sourceId = mapping?.idFromName ? makeId(row, name) : row.need("id", idLength);
    const role =
      mapping?.role ??
      (isParent ? "OTHER" : row.choose("role", readRole, "unknown_role", "The role is not student, teacher or other."));
    const isDeleted = readStatus(row);
    const at = { line: row.line, column: row.column("id") };
    const fields = row.keep(mapping?.idFromName ? [...keptColumns, "birth_date"] : keptColumns);
    staging.person(at, { sourceId, schools: [school], role, name, username: readUsername(row), isDeleted, fields });
    if (!isDeleted) readGroups(row, { staging, school, seen, sourceId, mapping, carryOvers: input.carryOvers });
  });
  const { mode, people = "ALL" } = mapping ?? chooseScope(input, { mode: "BULK", people: "ALL" });
  const isAddition = headings.some(isReasonHeading);
  const idColumn = mapping && plan!.guess.headings[mapping.uses.indexOf("ID")];
  const columns = { file: file.name, person: idColumn || "id" };
  const has = (name: string) =>
    layout?.columns?.has(name) ?? headings.some((heading) => heading.trim().toLowerCase() === name);
  const groupsOf = (heading: string) => has(heading) || (heading === "classes" && Boolean(mapping?.className));
  return {
    mode: isAddition ? "DELTA" : mode,
    people,
    isArchive: false,
    headings,
    schools: new Set([school]),
    speaksOf: speakingOf({
      ...Object.fromEntries(groupColumns.map(([heading, , type]) => [type, !groupsOf(heading)])),
      ROLE: !has("role"),
      CALL_NAME: !has("call_name"),
    }),
    keyColumns: { person: columns, group: { file: file.name, group: "classes" }, membership: columns, role: columns },
  };
}

const longestShown = 100;

/** Named as a warning. If it has the id of a person of the school, that person stays. */
function stageNoPerson(row: Row, staging: Staging): void {
  const id = cleanId(row.get("id"));
  const text = row.cells.filter((cell) => cell !== "").join(" ");
  staging.person(
    { line: row.line, column: row.column("id") },
    {
      sourceId: findValueFault(id, idLength) === null ? id : "",
      schools: [],
      role: "OTHER",
      name: null,
      isDeleted: false,
      fields: [cleanCell(text.slice(0, longestShown))],
      silentAbout: ["PERSON"],
    },
  );
}

const requiredOf = ({ uses, idFromName }: Mapping): string[] => [
  idFromName ? "birth_date" : "id",
  ...(uses.includes("FULL_NAME") ? ["full_name"] : ["first_name", "last_name"]),
];

/** A digest, so that the date of birth is not stored; empty if a part is wrong, because it would be another id. */
function makeId(row: Row, name: PersonName | null): string {
  const date = readDate(row.need("birth_date"));
  if (date === undefined && row.get("birth_date") !== "")
    row.fault("birth_date", "unknown_date", "The value is not a date such as 31.08.2012 or 2012-08-31.");
  const words = [name?.last ?? "", name?.firstFull ?? "", date ?? ""].map(foldText);
  if (words.includes("")) return "";
  return `name:${createHash("sha256").update(words.join("\n")).digest("hex").slice(0, 32)}`;
}

function readStatus(row: Row): boolean {
  const status = row.get("status").toLowerCase();
  if (status !== "" && status !== "active" && status !== "deleted")
    row.fault("status", "unknown_status", "The status is not active or deleted.");
  return status === "deleted";
}

function readName(row: Row): PersonName | null {
  if (row.get("first_name") === "" && row.get("last_name") === "") return null;
  const [firstFull, last] = [toName(row.need("first_name")), toName(row.need("last_name"))];
  const firstCall = toName(row.take("call_name")) || firstFull;
  return { firstFull, firstCall, last };
}

/** `Last, First` or `First Last`; particles such as `von` belong to the last name. */
function readFullName(row: Row): PersonName | null {
  const name = toName(row.need("full_name", 2 * nameLength));
  const [last, first] = name.includes(",") ? name.split(/,(.*)/) : splitName(name);
  if (!last?.trim() || !first?.trim()) {
    if (name !== "") row.fault("full_name", "name_incomplete", "The value is not a first and a last name.");
    return null;
  }
  const firstFull = first.trim();
  return { firstFull, firstCall: toName(row.take("call_name")) || firstFull, last: last.trim() };
}

function splitName(name: string): [last: string, first: string] {
  const words = name.split(" ");
  const particle = words.findIndex((word, index) => index > 0 && /^\p{Ll}/u.test(word));
  const from = particle === -1 ? words.length - 1 : particle;
  return [words.slice(from).join(" "), words.slice(0, from).join(" ")];
}

const maxNames = 20_000;

type PersonContext = Pick<ReadContext, "staging" | "carryOvers"> & {
  school: SchoolId;
  /** The name of each group by its id. */
  seen: Map<string, string>;
  sourceId: string;
  mapping: Mapping | undefined;
};

function readGroups(row: Row, { staging, school, seen, sourceId, mapping, carryOvers }: PersonContext): void {
  for (const [heading, kind, type] of groupColumns) {
    const column = row.column(heading);
    const names = heading === "classes" && mapping?.className ? mapping.className : row.get(heading);
    if (names.length > maxNames) {
      row.fault(heading, "value_too_long", `The value is longer than ${maxNames} characters.`);
      continue;
    }
    const hasIds = row.has(idsHeading(kind));
    const ids = hasIds ? splitList(row.get(idsHeading(kind))) : [];
    const cells = hasIds ? splitList(names) : names.split(mapping ? /[|,;\n]/ : "|").map(toName);
    const named = kind === "class" && !hasIds ? cells.flatMap(splitClasses) : cells;
    const groups = new Map(named.map((name, index) => [cleanId(ids[index] ?? "") || `${kind}:${name}`, name]));
    for (const [groupSourceId, name] of groups) {
      if (name === "") continue;
      const problem = findValueFault(name, nameLength) ?? findValueFault(groupSourceId, idLength);
      if (problem) {
        row.fault(heading, ...problem);
        continue;
      }
      if ((seen.get(groupSourceId) ?? name) !== name)
        row.fault(heading, "group_contradiction", "Another row gives the group with this id another name.");
      if (!seen.has(groupSourceId)) {
        if (seen.size >= maxGroups) {
          row.fault(heading, "too_many_groups", tooManyGroups);
          return;
        }
        seen.set(detachText(groupSourceId), detachText(name));
        const previousSourceId = carryOvers.get(groupSourceId) ?? null;
        const mayMean = kind === "class" ? findClassesIn(name) : [];
        const group = { sourceId: groupSourceId, schoolId: school, name, type, previousSourceId, isDeleted: false };
        staging.group({ line: row.line, column }, { ...group, mayMean });
      }
      const membership = { schoolId: school, personSourceId: sourceId, groupSourceId, role: null, isDeleted: false };
      staging.membership({ line: row.line, column: row.column("id"), groupColumn: column }, membership);
    }
  }
}

/** Words of sums, and those of footers, which a colon, a date or a number follows. */
const sum =
  /^(zwischen|gesamt|end)?summen?$|^(gesamt(zahl|anzahl)?|insgesamt|anzahl|total|subtotal|grandtotal|sum|count)$/;
const footer =
  /^(stand|seite|blatt|page|datum|date|druckdatum|gedruckt(am)?|erstellt(am|von)?|exportiert(am)?|printed(on)?|hinweis|legende)$/;

const firstWords = (cell: string): string => foldWord(/^[^\d:]*/.exec(cell)![0]);
const isSum = (cell: string): boolean => {
  const [word = ""] = cell.split(/[\s:\d]/, 1);
  return sum.test(foldWord(word));
};
const isFooter = (cell: string): boolean => /[:\d]/.test(cell) && footer.test(firstWords(cell));
const hasLetter = (text: string): boolean => /\p{L}/u.test(text);

const hasWholeName = (row: Row): boolean => {
  if (!row.has("full_name")) return hasLetter(row.get("first_name")) && hasLetter(row.get("last_name"));
  const name = row.get("full_name");
  return /[\s,]/.test(name) && hasLetter(name) && !isSum(name) && !isFooter(name);
};

const isHeading = (cells: readonly string[], headings: readonly string[]): boolean => {
  const isSame = (cell: string, heading: string | undefined) =>
    heading !== undefined && foldWord(cell) === foldWord(heading);
  return cells.every((cell, index) => cell === "" || isSame(cell, headings[index]));
};

/** Whether a row is no person: repeated headings, a sum, a footer, or a lone value. A name with an id is a person. */
function isNoPerson(row: Row, headings: readonly string[], idColumn: "id" | "birth_date"): boolean {
  const filled = row.cells.filter((cell) => cell !== "");
  if (isHeading(row.cells, headings)) return true;
  const hasId = row.get(idColumn) !== "";
  if (hasWholeName(row)) return !hasId && filled.some((cell) => isSum(cell) || isFooter(cell));
  if (filled.length === 1 || filled.some((cell) => isSum(cell) || isFooter(cell))) return true;
  const name = ["first_name", "last_name", "full_name"].map(row.get).join("");
  if (hasLetter(name)) return false;
  if (!hasId) return row.get("role") === "";
  return name !== "" && !filled.some(hasLetter);
}

/** A cell of names or ids that stand beside each other. */
export const joinList = (entries: readonly string[]): string =>
  entries.map((entry) => entry.replaceAll("%", "%25").replaceAll("|", "%7C")).join("|");

const splitList = (cell: string): string[] =>
  cell.split("|").map((entry) => toName(entry.replaceAll("%7C", "|").replaceAll("%25", "%")));
