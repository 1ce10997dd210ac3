import type { SchoolId } from "../directory/index.ts";
import {
  applyImport,
  confirmImport,
  getImport,
  listImportFaults,
  listImports,
  plainTemplate,
  previewImport,
  sampleImport,
  type ImportId,
  type ImportRecord,
  type OnProgress,
} from "../imports/index.ts";
import type { Db } from "../platform/db.ts";
import { makeCommand, type Noun, type Result, type Tools } from "./command.ts";
import { importColumns, importLines } from "./import-lines.ts";
import { alignColumns } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import { makeProgressBar } from "./progress-bar.ts";

const takes = { import: argument.id<ImportId>() };
const roster = { file: argument.text() };
const faultsOption = { faults: option.count("How many faults of a broken file to print; 1000 if left out.") };

export const rosterImport: Noun = {
  summary: "Imports of rosters: OneRoster 1.1 and 1.2 (zip of CSV), Schulconnex personen-info (JSON), plain CSV.",
  verbs: {
    preview: makeCommand({
      summary: "Read a roster, list its faults, and show what it would change. Nothing changes yet.",
      takes: roster,
      options: {
        school: option.id<SchoolId>("The school it is for. Plain CSV needs it; other formats then must name no other."),
        mode: option.oneOf(
          ["bulk", "delta"] as const,
          "bulk: who is not in it leaves; delta: it names changes only. A OneRoster manifest decides by itself.",
        ),
        carryOver: option.texts("A group that goes on with the same id, by its ids in the source system.", "old=new"),
        schoolYear: option.text("The year that groups are carried over into; needed for --carry-over.", "2026/27"),
        ...faultsOption,
      },
      run: (tools, { given, options: { school, mode, carryOver = [], schoolYear, faults } }) =>
        withImports(tools, async (db, onProgress) => {
          const wanted = {
            ...{ path: given.file, schoolId: school, carryOvers: readCarryOvers(carryOver), schoolYear },
            ...{
              mode: mode && (mode.toUpperCase() as "BULK" | "DELTA"),
              holdShare: tools.config.importHoldShare,
              onProgress,
            },
          };
          return showImport(db, await previewImport(db, wanted, tools.origin()), { faults, now: tools.clock() });
        }),
    }),
    apply: makeCommand({
      summary: "Do what the preview of an import showed, school by school, and tell the apps.",
      takes,
      run: (tools, { given }) =>
        withImports(tools, async (db, onProgress) => applied(db, tools, given.import, onProgress)),
    }),
    confirm: makeCommand({
      summary: "Agree to what a held import removes, and do it.",
      takes,
      run: (tools, { given }) =>
        withImports(tools, async (db, onProgress) => {
          await confirmImport(db, given.import, tools.origin());
          return applied(db, tools, given.import, onProgress);
        }),
    }),
    show: makeCommand({
      summary: "Show an import: its numbers, samples of what it would change now, or its faults.",
      takes,
      options: faultsOption,
      run: (tools, { given, options }) =>
        withImports(tools, async (db) =>
          showImport(db, await getImport(db.pool, given.import), { faults: options.faults, now: tools.clock() }),
        ),
    }),
    list: makeCommand({
      summary: "List imports, the latest first.",
      options: {
        school: option.id<SchoolId>("Only those that concern this school."),
        limit: option.count("How many at most; 50 if left out."),
      },
      run: (tools, { options: { school, limit } }) =>
        withImports(tools, async (db) => {
          const imports = await listImports(db.pool, { schoolId: school, limit });
          return {
            lines: imports.length === 0 ? ["There are none."] : alignColumns(imports.map(importColumns)),
            data: { imports },
          };
        }),
    }),
    template: makeCommand({
      summary:
        "Print a plain CSV file to fill in: `… import template > roster.csv`. Its columns are explained in src/imports/FORMATS.md.",
      run: async () => ({ lines: [plainTemplate().trimEnd()], isFile: true, data: { template: plainTemplate() } }),
    }),
  },
};

const labels = { reading: "Reading", checking: "Checking", comparing: "Comparing", applying: "Applying" };

function withImports(
  { withDatabase }: Tools,
  work: (db: Db, onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  return withDatabase(async ({ db }) => {
    const bar = makeProgressBar(process.stderr);
    const onProgress: OnProgress = ({ phase, done, total }) =>
      bar.show({ label: labels[phase], done, total, unit: phase === "reading" ? "bytes" : "schools" });
    return work(db, onProgress).finally(() => bar.end());
  });
}

async function applied(
  db: Db,
  { config, clock, origin }: Tools,
  id: ImportId,
  onProgress: OnProgress,
): Promise<Result> {
  const rules = { holdShare: config.importHoldShare, restoreWindowDays: config.restoreWindowDays, onProgress };
  return showImport(db, await applyImport(db, id, rules, origin()), { now: clock() });
}

async function showImport(
  db: Db,
  record: ImportRecord,
  { faults: limit = 1000, now }: { faults?: number | undefined; now: Date },
): Promise<Result> {
  const faults = await listImportFaults(db.pool, record.id, { limit });
  const samples = await sampleImport(db, record.id, now);
  const data = { ...record, faults, samples: Object.fromEntries(samples) };
  return { lines: importLines(record, faults, samples), data, isRefused: record.state === "BROKEN" };
}

function readCarryOvers(texts: readonly string[]): Map<string, string> {
  const carryOvers = new Map<string, string>();
  for (const text of texts) {
    const [previous, next, more] = text.split("=").map((part) => part.trim());
    if (!previous || !next || more !== undefined)
      throw new UsageError(`--carry-over: '${text}' is not of the form old=new.`);
    if (carryOvers.has(next)) throw new UsageError(`--carry-over: two groups are to go on as '${next}'.`);
    carryOvers.set(next, previous);
  }
  return carryOvers;
}
