import type { SchoolId } from "../directory/index.ts";
import { maxFaults } from "../imports/index.ts";
import type { Counts, ImportFault, ImportRecord, Samples } from "../imports/index.ts";
import { alignColumns, counted, type Columns } from "./lines.ts";

/** An import as one line of a list. */
export const importColumns: Columns<ImportRecord> = {
  id: ({ id }) => id,
  created: ({ createdAt }) => createdAt.toISOString().slice(0, 16),
  state: ({ state }) => state,
  format: ({ format }) => format,
  mode: ({ mode }) => mode,
  file: ({ fileName }) => fileName,
  schools: ({ schools }) => String(schools.length),
};

/** An import as an operator reads it: numbers, a few of each kind, what to do next. */
export function importLines(
  record: ImportRecord,
  faults: readonly ImportFault[],
  samples: ReadonlyMap<SchoolId, Samples>,
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
  const passedOver = Object.entries(notes).map(([code, number]) => `Skipped: ${number} ${code.replaceAll("_", " ")}.`);
  return [
    ...head,
    ...passedOver,
    ...schools.flatMap((school) => ["", ...schoolLines(school, samples.get(school.id) ?? [])]),
    "",
    next(record),
  ];
}

function faultLine({ file, line, column, field, message }: ImportFault): string {
  return `${file}:${line}${column === null ? "" : `:${column}`}${field === null ? "" : ` ${field}`}: ${message}`;
}

/** Of a file with very many faults only the first are kept. */
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
  `  kept       ${counted(kept, "person", "people")} whom the files do not name, for what they are for the staff`;

function schoolLines({ id, state, counts }: ImportRecord["schools"][number], samples: Samples): string[] {
  return [
    `School ${id} (before: ${sizeOf(counts.before)}): ${state}`,
    ...alignColumns(countRows(counts)),
    ...((counts.kept ?? 0) > 0 ? [keptLine(counts.kept!)] : []),
    ...alignColumns(samples.map(sampleColumns)),
  ];
}

const sizeOf = ({ people, groups }: Counts["before"]): string =>
  `${counted(people, "person", "people")} and ${counted(groups, "group")}`;

function countRows({ people, groups, memberships }: Counts): string[][] {
  const row = (name: string, numbers: Record<string, number>) => [
    `  ${name}`,
    Object.entries(numbers)
      .filter(([, number]) => number > 0)
      .map(([change, number]) => `${number} ${words[change] ?? change}`)
      .join(", ") || "no change",
  ];
  const { removed, ...others } = groups;
  return [row("people", people), row("groups", { ...others, ended: removed }), row("memberships", memberships)];
}

const words: Record<string, string> = {
  carriedOver: "carried over",
  joined: "join from another school",
  left: "leave for another school",
  leftHome: "leave, and stay at another of their schools",
};

function sampleColumns({ kind, change, sourceId, name, previousSourceId }: Samples[number]): string[] {
  const what = kind === "group" && change === "removed" ? "ended" : change.replaceAll("_", " ");
  return [
    `    ${kind}`,
    what,
    previousSourceId === null ? sourceId : `${previousSourceId} → ${sourceId}`,
    name ?? "(no name)",
  ];
}

function next({ id, state }: ImportRecord): string {
  if (state === "READY") return `To apply it: import apply ${id}`;
  if (state === "HELD")
    return `It is held: it would remove unusually much of a school. To apply it all the same: import confirm ${id}`;
  return state === "APPLIED" ? "It has been applied." : "";
}
