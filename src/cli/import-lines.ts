import { maxFaults } from "../imports/index.ts";
import type { Schemas } from "./admin-api.ts";
import type { Samples } from "./import-calls.ts";
import { alignColumns, counted, nameOf, type Columns } from "./lines.ts";

type Import = Schemas["Import"];
type School = Schemas["ImportSchool"];

export const importColumns: Columns<Import> = {
  id: ({ id }) => id,
  created: ({ createdAt }) => createdAt.slice(0, 16),
  state: ({ state }) => state,
  format: ({ format }) => format,
  mode: ({ mode }) => mode,
  file: ({ fileName }) => fileName,
  schools: ({ schools }) => String(schools.length),
};

export function importLines(
  record: Import,
  faults: readonly Schemas["ImportFault"][],
  samples: ReadonlyMap<string, Samples>,
): string[] {
  const { id, format, mode, state, errorCount, notes, schools } = record;
  const head = [`Import ${id}: ${format}, ${mode}, ${state}`];
  if (state === "BROKEN")
    return [
      ...head,
      ...faults.map(faultLine),
      ...moreFaults(errorCount, faults.length),
      `The file has ${counted(errorCount, "fault")}; nothing was changed.`,
    ];
  const skipped = Object.entries(notes).map(([code, number]) => `Skipped: ${number} ${code.replaceAll("_", " ")}.`);
  return [
    ...head,
    ...skipped,
    ...schools.flatMap((school) => ["", ...schoolLines(school, samples.get(school.id))]),
    "",
    next(record),
  ];
}

function faultLine({ file, line, column, field, message }: Schemas["ImportFault"]): string {
  return `${file}:${line}${column === null ? "" : `:${column}`}${field === null ? "" : ` ${field}`}: ${message}`;
}

/** The service keeps the first faults of a file and counts the rest. */
function moreFaults(all: number, printed: number): string[] {
  const kept = Math.min(all, maxFaults);
  return [
    ...(kept > printed ? [`… and ${kept - printed} more; --faults ${kept} prints all of them.`] : []),
    ...(all > kept
      ? [`… and ${all - kept} more that were only counted. Correct these first and preview the file again.`]
      : []),
  ];
}

const keptLine = (kept: number): string =>
  `  kept       ${counted(kept, "person", "people")} who are missing from the files, but have staff roles`;

function schoolLines(school: School, samples: Samples = { leavers: [], groups: [] }): string[] {
  const { id, state, before, kept } = school;
  return [
    `School ${id} (before: ${counted(before.people, "person", "people")} and ${counted(before.groups, "group")}): ${state}`,
    ...alignColumns(countRows(school)),
    ...(kept > 0 ? [keptLine(kept)] : []),
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

const leaverColumns = ({ sourceSystemIdentifier, name, losesAccess }: Samples["leavers"][number]): string[] => [
  "    person",
  losesAccess ? "removed" : "left",
  sourceSystemIdentifier ?? "",
  nameOf(name),
];

const groupColumns = ({ step, sourceSystemIdentifier, name }: Samples["groups"][number]): string[] => [
  "    group",
  step === "REMOVED" ? "ended" : step.toLowerCase().replaceAll("_", " "),
  sourceSystemIdentifier ?? "",
  name,
];

function next({ id, state }: Import): string {
  if (state === "READY") return `To apply it: import apply ${id}`;
  if (state === "HELD")
    return `It is held because it would remove an unusually large part of a school. To apply it anyway: import confirm ${id}`;
  return state === "APPLIED" ? "It has been applied." : "";
}
