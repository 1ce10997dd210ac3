import { stringify } from "csv-stringify/sync";
import { maxFaults, reasonHeadings } from "../imports/index.ts";
import { csvForSpreadsheets } from "../platform/text/csv.ts";
import type { Schemas } from "./admin-api.ts";
import type { Samples, UndoPreview } from "./import-calls.ts";
import { alignColumns, counted, fullName, type Columns } from "./lines.ts";

type Import = Schemas["Import"];
type School = Schemas["ImportSchool"];

const scopeOf = ({ mode, people }: Pick<Import, "mode" | "people">): string =>
  people === "ALL" ? mode : `${mode} ${people}`;

export function importLines(
  record: Import,
  faults: readonly Schemas["ImportFault"][],
  samples: ReadonlyMap<string, Samples>,
  warnings: readonly Schemas["ImportWarning"][],
): string[] {
  const { id, format, mode, state, errorCount, notes, schools, rows } = record;
  const head = [`Import ${id}: ${format}, ${scopeOf(record)}, ${state}`];
  if (state === "BROKEN")
    return [
      ...head,
      ...faults.map(faultLine),
      ...moreFaults(errorCount, faults.length),
      `The file has ${counted(errorCount, "fault")}; nothing was changed.`,
      ...warningLines(record, warnings),
      ...(rows === null ? [] : [leaveOutLine(id, rows)]),
    ];
  const skipped = Object.entries(notes).map(([code, number]) => `Skipped: ${number} ${code.replaceAll("_", " ")}.`);
  return [
    ...head,
    ...skipped,
    ...(rows === null
      ? []
      : [`Left out: ${counted(rows.faulty, "faulty row")}. To print them as CSV: import left-out ${id}`]),
    ...(rows !== null && rows.withoutId > 0 && mode === "BULK" ? [nobodyLeaves] : []),
    ...warningLines(record, warnings),
    ...schools.flatMap((school) => ["", ...schoolLines(id, school, samples.get(school.id))]),
    "",
    next(record),
  ];
}

const useWord = (use: Schemas["ColumnUse"]): string => (use === "IGNORED" ? "-" : use.toLowerCase());

export const mappingColumns: Columns<Schemas["ColumnMapping"]> = {
  id: ({ id }) => id,
  "last used": ({ usedAt }) => usedAt,
  columns: ({ columns }) => columns.map(({ heading, use }) => `${heading}=${useWord(use)}`).join(", "),
};

export function columnLines({ id }: Import, read: Schemas["ImportColumns"]): string[] {
  const { sheet, sheets, possibleEncodings, role, className } = read;
  const rows = read.columns.map(({ heading, use, samples }, index) => {
    return [`  ${index + 1}`, heading, useWord(use), samples.join(" | ")];
  });
  return [
    "The columns of the file are read like this:",
    "",
    ...alignColumns(rows),
    "",
    ...(sheets.length > 1
      ? [`Sheet: ${sheet ?? ""}; the others: ${sheets.filter((one) => one !== sheet).join(", ")}`]
      : []),
    ...(sheet === null ? [`Encoding: ${read.encoding}; separator: ${read.separator.toLowerCase()}`] : []),
    ...possibleEncodings.map((one) => `The names in ${one.encoding}: ${one.samples.join(", ")}`),
    ...(possibleEncodings.length > 0 ? [`To read them in another one: import columns ${id} --encoding ENCODING`] : []),
    ...(role === "COLUMN" ? [] : [`Role of everybody: ${role.toLowerCase()}`]),
    ...(className === null ? [] : [`Class of everybody: ${className}`]),
    `Mode: ${scopeOf(read).toLowerCase()}`,
    "",
    `To read the file like this: import columns ${id}`,
    `To change it first: import columns ${id} --column NUMBER=USE --role student --mode bulk`,
  ];
}

const nobodyLeaves = "A row without a readable id may be anybody's, so nobody leaves and no group ends by this import.";

const leaveOutLine = (id: string, { readable, faulty, withoutId }: NonNullable<Schemas["ImportRows"]>): string =>
  `To go on with the other ${counted(readable, "row")} and leave out ${faulty}: import leave-out ${id}` +
  (withoutId > 0 ? `. ${nobodyLeaves}` : "");

const warningTexts: Record<Schemas["ImportWarningKind"], string> = {
  CLASS_MISSING: "student without a class",
  NAME_TWICE: "same name twice in a class",
  GROUP_SPELLING: "another spelling of a group",
  CLASS_UNCERTAIN: "read as one class, and may mean others",
  DATE_IN_PLACE: "a date instead of an id or class",
  CHARACTERS_LOST: "lost characters",
  NO_PERSON: "a row without a person, passed over",
};

function warningLines({ warningCount }: Import, warnings: readonly Schemas["ImportWarning"][]): string[] {
  const more = warningCount - warnings.length;
  return [
    ...warnings.map(
      ({ file, line, kind, name, detail }) =>
        `${file}:${line}: warning: ${warningTexts[kind]}: ${name}${detail === null ? "" : ` (${detail})`}`,
    ),
    ...(warnings.length > 0 && more > 0 ? [`… and ${counted(more, "more warning")}.`] : []),
  ];
}

export function leftOutCsv(rows: readonly Schemas["ImportFaultyRow"][]): string {
  const width = Math.max(0, ...rows.map(({ fields }) => fields.length));
  const headings = rows.find(({ fields }) => fields.length === width)?.fields.map(({ heading }) => heading) ?? [];
  const records = rows.map(({ fields, faults }) => [
    ...headings.map((_, index) => fields[index]?.value ?? ""),
    faults.map(({ field, message }) => `${field === null ? "" : `${field}: `}${message}`).join(" "),
  ]);
  return stringify([[...headings, reasonHeadings.en], ...records], csvForSpreadsheets);
}

function faultLine({ file, line, column, field, message }: Schemas["ImportFault"]): string {
  return `${file}:${line}${column === null ? "" : `:${column}`}${field === null ? "" : ` ${field}`}: ${message}`;
}

/** The service keeps the first faults of a file and counts the rest. */
function moreFaults(all: number, printed: number): string[] {
  const listed = Math.min(all, maxFaults);
  return [
    ...(listed > printed ? [`… and ${listed - printed} more; --faults ${listed} prints all of them.`] : []),
    ...(all > listed
      ? [`… and ${all - listed} more that were only counted. Correct these first and preview the file again.`]
      : []),
  ];
}

const outdatedLine = (id: string, at: string | null): string =>
  `  outdated   these numbers are from ${at?.slice(0, 16) ?? "earlier"}, and the school has changed since. To make them anew: import compare ${id}`;

const keptLine = (kept: number): string =>
  `  kept       ${counted(kept, "person", "people")} who are missing from the files, but have staff roles`;

function schoolLines(importId: string, school: School, samples: Samples = { leavers: [], groups: [] }): string[] {
  const { id, state, before, kept, isOutdated, comparedAt } = school;
  return [
    `School ${id} (before: ${counted(before.people, "person", "people")} and ${counted(before.groups, "group")}): ${state}`,
    ...alignColumns(countRows(school)),
    ...(kept > 0 ? [keptLine(kept)] : []),
    ...(isOutdated ? [outdatedLine(importId, comparedAt)] : []),
    ...school.holds.map(holdLine),
    ...alignColumns([...samples.leavers.map(leaverColumns), ...samples.groups.map(groupColumns)]),
  ];
}

function countRows({ people, groups, memberships }: School): string[][] {
  const row = (name: string, numbers: Record<string, number>) => [
    `  ${name}`,
    Object.entries(numbers)
      .filter(([, number]) => number > 0)
      .map(([change, number]) => `${number} ${changeTexts[change] ?? change}`)
      .join(", ") || "no change",
  ];
  const { removed, ...others } = groups;
  return [row("people", people), row("groups", { ...others, ended: removed }), row("memberships", memberships)];
}

const changeTexts: Record<string, string> = {
  carriedOver: "carried over",
  joined: "join from another school",
  left: "leave for another school",
  leftHome: "leave, and stay at another of their schools",
};

/** What undoing an import does at its schools, and what stays as it is. */
export function undoLines(id: string, previews: readonly UndoPreview[]): string[] {
  const entries = previews.flatMap(({ entries }) => entries);
  const stays = previews.reduce((sum, preview) => sum + preview.kept.people + preview.kept.groups, 0);
  return [
    ...previews.flatMap((preview) => [`School ${preview.schoolId}`, ...alignColumns(undoRows(preview))]),
    ...(stays === 0 ? [] : ["", `Stay as they are: ${stays}`, ...alignColumns(entries.map(keptColumns))]),
    "",
    `To undo it: import undo ${id}${stays === 0 ? "" : ` --keep ${stays}`}`,
  ];
}

function undoRows({ people, groups, memberships, deletedForGood, viewChanges }: UndoPreview): string[][] {
  const apps = viewChanges.map(({ appName, people: { enter, change, leave } }): string[] => [
    `  app ${appName}`,
    `${counted(enter, "person", "people")} enter, ${change} change, ${leave} leave`,
  ]);
  const words = ({ restored, removed, changed }: UndoPreview["people"]) =>
    `${restored} come back, ${removed} are deleted again, ${changed} become what they were`;
  return [
    ["  people", words(people)],
    ["  groups", words(groups)],
    ["  memberships", `${memberships.restored} come back, ${memberships.removed} end`],
    ...(deletedForGood === 0 ? [] : [["  permanently deleted", counted(deletedForGood, "person", "people")]]),
    ...apps,
  ];
}

const reasonTexts: Record<string, string> = {
  ID_TAKEN: "someone else has the earlier id",
  STAFF_ROLE: "has a staff role",
  HAS_MEMBERS: "has members who stay",
};

const keptColumns = ({
  kind,
  groupName,
  personName,
  reasons,
  changedAt,
  classesNow,
}: UndoPreview["entries"][number]) => [
  `  ${kind.toLowerCase()}`,
  groupName ?? fullName(personName),
  reasons.map((reason) => reasonTexts[reason] ?? `${reason.toLowerCase().replaceAll("_", " ")} changed`).join(", "),
  changedAt === null ? "" : changedAt.slice(0, 10),
  classesNow.length === 0 ? "" : `now in ${classesNow.join(", ")}`,
];

const leaverColumns = ({ sourceSystemIdentifier, before, losesAccess }: Samples["leavers"][number]): string[] => [
  "    person",
  losesAccess ? "removed" : "left",
  sourceSystemIdentifier ?? "",
  fullName(before?.name ?? null),
];

type Person = Schemas["ImportPerson"];
/** What something is before and after, as one text if it stays. */
const change = (before: string | undefined, after: string | undefined): string =>
  before === undefined || after === undefined || before === after
    ? (after ?? before ?? "")
    : `${before || "–"} → ${after || "–"}`;

const changeOf = (read: (state: NonNullable<Person["before"]>) => string) => (person: Person) =>
  change(
    person.before === null ? undefined : read(person.before),
    person.after === null ? undefined : read(person.after),
  );

export const personColumns: Columns<Person> = {
  number: ({ sourceSystemIdentifier }) => sourceSystemIdentifier,
  name: changeOf(({ name }) => fullName(name)),
  what: ({ kinds }) => kinds.map((kind) => kind.toLowerCase().replaceAll("_", " ")).join(", "),
  role: changeOf(({ role }) => role.toLowerCase()),
  classes: changeOf(({ classes }) => classes.join(", ")),
  groups: changeOf(({ groups }) => groups.join(", ")),
};

export const changedGroupColumns: Columns<Schemas["ImportGroupChange"]> = {
  id: ({ groupId }) => groupId,
  name: ({ name, previousName }) => change(previousName ?? name, name),
  type: ({ type }) => type,
  what: ({ step }) => (step === "NONE" ? "" : step === "REMOVED" ? "ended" : step.toLowerCase().replaceAll("_", " ")),
  members: ({ size }) => change(String(size.before), String(size.after)),
  pupils: ({ size }) => change(String(size.pupilsBefore), String(size.pupilsAfter)),
};

const groupColumns = ({ step, sourceSystemIdentifier, name }: Samples["groups"][number]): string[] => [
  "    group",
  step === "REMOVED" ? "ended" : step.toLowerCase().replaceAll("_", " "),
  sourceSystemIdentifier ?? "",
  name,
];

const holdTexts: Record<Schemas["ImportHoldReason"], string> = {
  LEAVERS: "people leave",
  GROUPS_ENDED: "groups end",
  NAMES_CHANGED: "known people of the file get a completely different name, as if it were that of another school",
  CLASSES_LEFT: "classes lose most of their pupils",
  CLASSES_ENDED: "classes end or become empty",
  OTHER_SCHOOL: "people are in a file that names another school",
};

const holdLine = ({ reason, count, of, names }: School["holds"][number]): string =>
  `  unusual    ${reason.toLowerCase()}=${count}: ${count} of ${of} ${holdTexts[reason]}` +
  (names.length === 0 ? "" : `: ${names.join(", ")}`);

/** Leavers and ended groups alone need no numbers. */
const holdOptions = ({ holds }: Import): string =>
  holds.every(({ reason }) => reason === "LEAVERS" || reason === "GROUPS_ENDED")
    ? ""
    : holds.map(({ reason, count }) => ` --hold ${reason.toLowerCase()}=${count}`).join("");

function next(record: Import): string {
  const { id, state, undoUntil } = record;
  if (state === "READY") return `To apply it: import apply ${id}`;
  if (state === "HELD")
    return `It is held because of what is unusual. To apply it anyway: import confirm ${id}${holdOptions(record)}`;
  if (state === "UNDONE") return "It has been undone.";
  if (state !== "APPLIED") return "";
  return undoUntil === null
    ? "It has been applied."
    : `It has been applied. To see what undoing it would bring back: import undo ${id} --dry-run`;
}
