import { plainTemplate } from "../imports/index.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, makeOwnCommand, type Verbs, type Result, type Service } from "./command.ts";
import * as calls from "./import-calls.ts";
import { importColumns, importLines, undoLines } from "./import-lines.ts";
import { done, wholeList } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import { argsNamed } from "./verbs.ts";

const args = argsNamed("importId");
const faultsOption = { faults: option.count("How many faults of a broken file to print; 1000 if left out.") };

export const verbs: Verbs = {
  preview: makeApiCommand({
    summary: "Read a roster, list its faults, and show what it would change. Nothing changes yet.",
    args: { file: argument.text() },
    options: {
      school: option.school("The school it is for. Plain CSV needs it; other formats then must name no other."),
      mode: option.oneOf(
        ["bulk", "delta"] as const,
        "bulk: people who are not in it leave; delta: it names changes only. A OneRoster manifest says which.",
      ),
      carryOver: option.texts("A group that keeps its id under a new source id.", "old=new"),
      schoolYear: option.text("The year that groups are carried over into; needed for --carry-over.", "2026/27"),
      ...faultsOption,
    },
    run: async (service, { args: { file }, options: { school, mode, carryOver = [], schoolYear, faults } }) => {
      const record = await calls.previewImport(service, {
        path: file,
        schoolId: school,
        carryOvers: readCarryOvers(carryOver),
        schoolYear,
        mode: mode && (mode.toUpperCase() as Schemas["ImportMode"]),
      });
      return show(service, record, faults);
    },
  }),
  apply: makeApiCommand({
    summary: "Apply an import as its preview showed, school by school, and notify the apps.",
    args,
    run: async (service, { args: { importId: id } }) => show(service, await calls.applyImport(service, id, false)),
  }),
  confirm: makeApiCommand({
    summary: "Confirm what a held import removes, and apply it.",
    args,
    run: async (service, { args: { importId: id } }) => show(service, await calls.applyImport(service, id, true)),
  }),
  cancel: makeApiCommand({
    summary: "Cancel an import and delete what was read of its file.",
    args,
    run: async (service, { args: { importId: id } }) => {
      await calls.cancelImport(service, id);
      return done("Import cancelled.", { id, state: "CANCELLED" });
    },
  }),
  undo: makeApiCommand({
    summary: "Undo an applied import, as far as nothing that it changed was changed again.",
    args,
    options: {
      dryRun: option.flag("Only show what would come back and what stays as it is."),
      keep: option.count("How many people and groups stay as they are, where there are any; --dry-run says it."),
    },
    run: async (service, { args: { importId: id }, options: { dryRun, keep } }) => {
      if (!dryRun) return show(service, await calls.undoImport(service, id, keep));
      const previews = await calls.previewUndo(service, id);
      return { lines: undoLines(id, previews), quiet: [id], data: { id, schools: previews } };
    },
  }),
  show: makeApiCommand({
    summary: "Show an import: its numbers, samples of what it would change now, or its faults.",
    args,
    options: faultsOption,
    run: async (service, { args: { importId: id }, options: { faults } }) =>
      show(service, await calls.getImport(service, id), faults),
  }),
  list: makeApiCommand({
    summary: "List imports, the latest first.",
    options: {
      school: option.school("Only those of this school."),
      limit: option.count("How many at most; 50 if left out."),
    },
    run: async (service, { options: { school: schoolId, limit = 50 } }) =>
      wholeList("imports", await calls.listImports(service, { schoolId, limit }), {
        columns: importColumns,
        id: ({ id }) => id,
      }),
  }),
  template: makeOwnCommand({
    summary:
      "Print a plain CSV file to fill in: `… import template > roster.csv`. Its columns are explained in src/imports/FORMATS.md.",
    run: async () => ({ lines: [plainTemplate().trimEnd()], isFile: true, data: { template: plainTemplate() } }),
  }),
};

async function show(service: Service, record: Schemas["Import"], maxFaults = 1000): Promise<Result> {
  const faults = record.state === "BROKEN" ? await calls.listFaults(service, record.id, maxFaults) : [];
  const samples = await calls.sampleImport(service, record);
  return {
    lines: importLines(record, faults, samples),
    quiet: [record.id],
    data: { ...record, faults, samples: Object.fromEntries(samples) },
    isRefused: record.state === "BROKEN",
  };
}

/** Reads `old=new` as the old source id by the new one. Errors: UsageError. */
function readCarryOvers(texts: readonly string[]): Map<string, string> {
  const carryOvers = new Map<string, string>();
  for (const text of texts) {
    const [previous, next, more] = text.split("=").map((word) => word.trim());
    if (!previous || !next || more !== undefined)
      throw new UsageError(`--carry-over: '${text}' is not of the form old=new.`);
    if (carryOvers.has(next)) throw new UsageError(`--carry-over: two groups are carried over to '${next}'.`);
    carryOvers.set(next, previous);
  }
  return carryOvers;
}
