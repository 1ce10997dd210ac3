import { chooseScope, columnUses, holdReasons, plainTemplate } from "../imports/index.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, makeOwnCommand, type Verbs, type Result, type Service } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import * as calls from "./import-calls.ts";
import {
  changedGroupColumns,
  columnLines,
  importLines,
  leftOutCsv,
  mappingColumns,
  personColumns,
  undoLines,
} from "./import-lines.ts";
import { argsNamed, argument, option, UsageError } from "./option.ts";

const args = argsNamed("importId");
const encodings = ["utf-8", "windows-1252", "iso-8859-15", "macintosh", "ibm850"] as const;
const separators = ["semicolon", "comma", "tab"] as const;
const peopleNames = ["all", "students", "teachers"] as const;
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
      people: option.oneOf(
        peopleNames,
        "students, teachers: the file lists all of them and nobody else; everybody of another role stays.",
      ),
      carryOver: option.texts("A group that keeps its id under a new source id.", "old=new"),
      schoolYear: option.text(
        "The year of the file: classes that move up in it are carried over, or those of --carry-over.",
        "2026/27",
      ),
      chooseColumns: option.flag("Show the columns of the file and wait, even if they are known."),
      ...faultsOption,
    },
    run: async (
      service,
      { args: { file }, options: { school, mode, people, carryOver = [], schoolYear, chooseColumns, faults } },
    ) => {
      const record = await calls.previewImport(service, {
        path: file,
        schoolId: school,
        carryOvers: readCarryOvers(carryOver),
        schoolYear,
        choosesColumns: chooseColumns || undefined,
        ...readScope({ mode, people }),
      });
      return show(service, record, faults);
    },
  }),
  columns: makeApiCommand({
    summary:
      "Read a file with its columns as they are shown, or as the options say. The school's next such file is read alike.",
    args,
    options: {
      column: option.texts("What a column is read as; `-` ignores it.", "3=last_name"),
      role: option.oneOf(["student", "teacher", "other"] as const, "The role of everybody, if no column has it."),
      class: option.text("The class of everybody, if no column has it.", "5a"),
      mode: option.oneOf(["bulk", "delta"] as const, "bulk: people who are not in the file leave; delta: they stay."),
      people: option.oneOf(peopleNames, "Whom the file lists; everybody of another role stays."),
      sheet: option.text("Look at another sheet of the workbook instead.", "Tabelle2"),
      encoding: option.oneOf(encodings, "Look at the file again with this character encoding."),
      separator: option.oneOf(separators, "Look at the file again with this separator of fields."),
      idsFromName: option.flag("Make ids of name and date of birth, for a file without numbers."),
      ...faultsOption,
    },
    run: async (service, { args: { importId: id }, options }) => {
      const body = changeColumns(await calls.getColumns(service, id), options);
      return show(service, await calls.mapColumns(service, id, body), options.faults);
    },
  }),
  compare: makeApiCommand({
    summary: "Compare a waiting import with the schools as they are now, and show its new numbers.",
    args,
    options: { school: option.school("Only with this school.") },
    run: async (service, { args: { importId: id }, options: { school } }) =>
      show(service, await calls.compareImport(service, id, school)),
  }),
  apply: makeApiCommand({
    summary: "Apply an import as its preview showed, school by school, and notify the apps.",
    args,
    run: async (service, { args: { importId: id } }) => show(service, await calls.applyImport(service, id)),
  }),
  confirm: makeApiCommand({
    summary: "Confirm what is unusual about a held import, and apply it.",
    args,
    options: {
      hold: option.texts(
        "A reason and its number, as `import show` prints them; not needed for leavers and ended groups alone.",
        "names_changed=110",
      ),
    },
    run: async (service, { args: { importId: id }, options: { hold = [] } }) =>
      show(service, await calls.applyImport(service, id, { holds: readHolds(hold) })),
  }),
  "leave-out": makeApiCommand({
    summary:
      "Go on without the faulty rows of a broken file; nobody whose row is left out leaves. Then show the import.",
    args,
    run: async (service, { args: { importId: id } }) => show(service, await calls.leaveOutRows(service, id)),
  }),
  "left-out": makeApiCommand({
    summary:
      "Print the faulty rows with their reasons as CSV: `… import left-out ID > rows.csv`. Corrected, the file is an addition.",
    args,
    run: async (service, { args: { importId: id } }) => {
      const rows = await calls.listFaultyRows(service, id);
      return { lines: [leftOutCsv(rows).trimEnd()], isFile: true, data: { rows } };
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
  template: makeOwnCommand({
    summary:
      "Print a plain CSV file to fill in: `… import template > roster.csv`. Its columns are explained in src/imports/FORMATS.md.",
    run: async () => ({ lines: [plainTemplate().trimEnd()], isFile: true, data: { template: plainTemplate() } }),
  }),
};

export const extensions: Extensions = {
  mappings: { columns: mappingColumns },
  people: { columns: personColumns },
  groups: { columns: changedGroupColumns },
};

async function show(service: Service, record: Schemas["Import"], maxFaults = 1000): Promise<Result> {
  if (record.state === "UNMAPPED") {
    const columns = await calls.getColumns(service, record.id);
    const lines = [...importLines(record, [], new Map(), []), ...columnLines(record, columns)];
    return { lines, quiet: [record.id], data: { ...record, columns }, isRefused: true };
  }
  const faults = record.state === "BROKEN" ? await calls.listFaults(service, record.id, maxFaults) : [];
  const samples = await calls.sampleImport(service, record);
  const warnings = await calls.listWarnings(service, record);
  return {
    lines: importLines(record, faults, samples, warnings),
    quiet: [record.id],
    data: { ...record, faults, warnings, samples: Object.fromEntries(samples) },
    isRefused: record.state === "BROKEN",
  };
}

/** Reads `reason=number`. Errors: UsageError. */
function readHolds(texts: readonly string[]): Schemas["ImportHoldCount"][] {
  return texts.map((text) => {
    const [, word = "", number] = /^([a-z_]+)=(\d{1,9})$/i.exec(text.trim()) ?? [];
    const reason = holdReasons.find((one) => one === word.toUpperCase());
    if (reason === undefined)
      throw new UsageError(
        `--hold: '${text}' is not of the form reason=number, with one of ${holdReasons.join(", ").toLowerCase()}.`,
      );
    return { reason, count: Number(number) };
  });
}

type ScopeOptions = { mode?: string | undefined; people?: string | undefined };

const readScope = ({ mode, people }: ScopeOptions) => ({
  mode: mode?.toUpperCase() as Schemas["ImportMode"] | undefined,
  people: people?.toUpperCase() as Schemas["ImportPeople"] | undefined,
});

type ColumnOptions = ScopeOptions & {
  column?: readonly string[] | undefined;
  role?: string | undefined;
  class?: string | undefined;
  sheet?: string | undefined;
  encoding?: string | undefined;
  separator?: string | undefined;
  idsFromName: boolean;
};

/** Errors: UsageError for a column or a use that does not exist. */
function changeColumns(
  { columns, role, className, idFromName, mode, people }: Schemas["ImportColumns"],
  options: ColumnOptions,
): Schemas["ImportColumnsInput"] {
  const uses = columns.map(({ use }) => use);
  for (const text of options.column ?? []) {
    const [, number, use] = /^(\d+)=([a-z_]+|-)$/i.exec(text) ?? [];
    if (use === undefined || columns[Number(number) - 1] === undefined)
      throw new UsageError(`--column: '${text}' is not of the form number=use, with the number of a column.`);
    const known = columnUses.find((one) => one === use.toUpperCase());
    if (known === undefined && use !== "-")
      throw new UsageError(`--column: '${use}' is none of ${columnUses.join(", ").toLowerCase()}, or -.`);
    uses[Number(number) - 1] = known ?? "IGNORED";
  }
  return {
    uses,
    role: uses.includes("ROLE") ? "COLUMN" : ((options.role?.toUpperCase() as Schemas["RoleOfAll"]) ?? role),
    className: options.class ?? className,
    idFromName: options.idsFromName || idFromName,
    ...chooseScope(readScope(options), { mode, people }),
    ...(options.sheet !== undefined && { sheet: options.sheet }),
    ...(options.encoding !== undefined && { encoding: options.encoding as Schemas["TextEncoding"] }),
    ...(options.separator !== undefined && { separator: options.separator.toUpperCase() as Schemas["FieldSeparator"] }),
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
