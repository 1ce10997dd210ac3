import {
  applyImport,
  cancelImport,
  confirmImport,
  getImport,
  listImportFaults,
  listImports,
  plainTemplate,
  previewImport,
  removeStaged,
  sampleImport,
  type ImportFault,
  type ImportId,
  type ImportRecord,
  type OnProgress,
} from "../imports/index.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { makeCommand, makeOwnCommand, type Noun, type Result, type Tools } from "./command.ts";
import { importColumns, importLines } from "./import-lines.ts";
import { done, wholeList } from "./lines.ts";
import { argument, option, UsageError } from "./option.ts";
import * as far from "./remote/import.ts";
import type { Remote } from "./admin-api.ts";

const takes = { import: argument.id<ImportId>() };
const roster = { file: argument.text() };
const faultsOption = { faults: option.count("How many faults of a broken file to print; 1000 if left out.") };

export const rosterImport: Noun = {
  verbs: {
    preview: makeCommand({
      summary: "Read a roster, list its faults, and show what it would change. Nothing changes yet.",
      takes: roster,
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
      run: (tools, { given, options: { school, mode, carryOver = [], schoolYear, faults } }) =>
        withImports(tools, async (db, onProgress) => {
          const wanted = {
            path: given.file,
            schoolId: school,
            carryOvers: readCarryOvers(carryOver),
            schoolYear,
            mode: mode && (mode.toUpperCase() as "BULK" | "DELTA"),
            holdShare: tools.config.importHoldShare,
            onProgress,
          };
          return showImport(db, await previewImport(db, wanted, tools.origin()), { faults, now: tools.clock() });
        }),
      remote: async (remote, { given, options: { school, mode, carryOver = [], schoolYear, faults } }) => {
        const wanted = { path: given.file, schoolId: school, carryOvers: readCarryOvers(carryOver), schoolYear };
        const inCapitals = mode && (mode.toUpperCase() as "BULK" | "DELTA");
        return showRemote(remote, await far.previewImport(remote, { ...wanted, mode: inCapitals }), faults);
      },
    }),
    apply: makeCommand({
      summary: "Apply an import as its preview showed, school by school, and notify the apps.",
      takes,
      run: (tools, { given }) =>
        withImports(tools, async (db, onProgress) => applied(db, tools, given.import, onProgress)),
      remote: async (remote, { given }) => showRemote(remote, await far.applyImport(remote, given.import, false)),
    }),
    confirm: makeCommand({
      summary: "Confirm what a held import removes, and apply it.",
      takes,
      run: (tools, { given }) =>
        withImports(tools, async (db, onProgress) => {
          await confirmImport(db, given.import, tools.origin());
          return applied(db, tools, given.import, onProgress);
        }),
      remote: async (remote, { given }) => showRemote(remote, await far.applyImport(remote, given.import, true)),
    }),
    cancel: makeCommand({
      summary: "End an import that is not wanted, and remove what was read of its file.",
      takes,
      run: (tools, { given }) =>
        withImports(tools, async (db) => {
          const { withPrismaTransaction } = await import("../platform/database/db.ts");
          await getImport(db, given.import);
          await withPrismaTransaction(db, (tx) => cancelImport(tx, given.import, tools.origin()));
          await removeStaged(db, given.import);
          return cancelled(given.import);
        }),
      remote: async (remote, { given }) => {
        await far.cancelImport(remote, given.import);
        return cancelled(given.import);
      },
    }),
    show: makeCommand({
      summary: "Show an import: its numbers, samples of what it would change now, or its faults.",
      takes,
      options: faultsOption,
      run: (tools, { given, options }) =>
        withImports(tools, async (db) =>
          showImport(db, await getImport(db, given.import), { faults: options.faults, now: tools.clock() }),
        ),
      remote: async (remote, { given, options }) =>
        showRemote(remote, await far.getImport(remote, given.import), options.faults),
    }),
    list: makeCommand({
      summary: "List imports, the latest first.",
      options: {
        school: option.school("Only those of this school."),
        limit: option.count("How many at most; 50 if left out."),
      },
      run: (tools, { options: { school, limit } }) =>
        withImports(tools, async (db) => showAll(await listImports(db, { schoolId: school, limit }))),
      remote: async (remote, { options: { school, limit = 50 } }) =>
        showAll(await far.listImports(remote, { schoolId: school, limit })),
    }),
    template: makeOwnCommand({
      summary:
        "Print a plain CSV file to fill in: `… import template > roster.csv`. Its columns are explained in src/imports/FORMATS.md.",
      own: async () => ({ lines: [plainTemplate().trimEnd()], isFile: true, data: { template: plainTemplate() } }),
    }),
  },
};

const cancelled = (id: ImportId): Result => done("Import cancelled.", { id, state: "CANCELLED" });

const showAll = (imports: readonly ImportRecord[]): Result =>
  wholeList("imports", imports, { columns: importColumns, id: ({ id }) => id });

const labels = { reading: "Reading", checking: "Checking", comparing: "Comparing", applying: "Applying" };

function withImports(
  { withDatabase, showProgress }: Tools,
  work: (db: PrismaDb, onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  return withDatabase(async ({ db }) => {
    const onProgress: OnProgress = ({ phase, done, total }) =>
      showProgress({ label: labels[phase], done, total, unit: phase === "reading" ? "bytes" : "schools" });
    return work(db, onProgress);
  });
}

async function applied(
  db: PrismaDb,
  { config, clock, origin }: Tools,
  id: ImportId,
  onProgress: OnProgress,
): Promise<Result> {
  const { giveUserNamesAtSchool: giveUserNames } = await import("../accounts/index.ts");
  const { importHoldShare: holdShare, restoreWindowDays } = config;
  const rules = { holdShare, restoreWindowDays, onProgress, giveUserNames };
  return showImport(db, await applyImport(db, id, rules, origin()), { now: clock() });
}

async function showImport(
  db: PrismaDb,
  record: ImportRecord,
  { faults: limit = 1000, now }: { faults?: number | undefined; now: Date },
): Promise<Result> {
  return show(record, await listImportFaults(db, record.id, { limit }), await sampleImport(db, record.id, now));
}

async function showRemote(remote: Remote, record: ImportRecord, limit = 1000): Promise<Result> {
  return show(record, await far.listFaults(remote, record.id, limit), await far.sampleImport(remote, record));
}

function show(
  record: ImportRecord,
  faults: readonly ImportFault[],
  samples: Awaited<ReturnType<typeof sampleImport>>,
): Result {
  const data = { ...record, faults, samples: Object.fromEntries(samples) };
  const isRefused = record.state === "BROKEN";
  return { lines: importLines(record, faults, samples), quiet: [record.id], data, isRefused };
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
