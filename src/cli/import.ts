import { chooseScope, columnUses, holdReasons, plainTemplate } from "../imports/index.ts";
import { omitUndefined, type Schemas } from "./admin-api.ts";
import { makeApiCommand, makeOwnCommand, type OptionsOf, type Result, type Service, type Verbs } from "./command.ts";
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
const separators = ["SEMICOLON", "COMMA", "TAB"] as const;
const modes = ["BULK", "DELTA"] as const;
const peopleNames = ["ALL", "STUDENTS", "TEACHERS"] as const;
const faultsOption = { faults: option.count("How many faults of a broken file to print; 1000 if left out.") };

const columnOptions = {
  column: option.texts("What a column is read as; `-` ignores it.", "3=last_name"),
  role: option.lowerCase(["STUDENT", "TEACHER", "OTHER"] as const, "The role of everybody, if no column has it."),
  class: option.text("The class of everybody, if no column has it.", "5a"),
  mode: option.lowerCase(modes, "bulk: people who are not in the file leave; delta: they stay."),
  people: option.lowerCase(peopleNames, "Whom the file lists; everybody of another role stays."),
  sheet: option.text("Look at another sheet of the workbook instead.", "Tabelle2"),
  encoding: option.oneOf(encodings, "Look at the file again with this character encoding."),
  separator: option.lowerCase(separators, "Look at the file again with this separator of fields."),
  idsFromName: option.flag("Make ids of name and date of birth, for a file without numbers."),
  ...faultsOption,
};

export const verbs: Verbs = {
  preview: makeApiCommand({
    summary: "Read a roster, list its faults, and show what it would change. Nothing changes yet.",
    args: { file: argument.text() },
    options: {
      school: option.school("The school it is for. Plain CSV needs it; other formats then must name no other."),
      mode: option.lowerCase(
        modes,
        "bulk: people who are not in it leave; delta: it names changes only. A OneRoster manifest says which.",
      ),
      people: option.lowerCase(
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
    run: async (service, { args: { file }, options: { faults, carryOver = [], schoolYear, ...options } }) => {
      const record = await calls.previewImport(service, file, {
        school: options.school,
        mode: options.mode,
        people: options.people,
        "carry-over": readCarryOvers(carryOver),
        "school-year": schoolYear,
        "choose-columns": options.chooseColumns || undefined,
      });
      return show(service, record, faults);
    },
  }),
  columns: makeApiCommand({
    summary:
      "Read a file with its columns as they are shown, or as the options say. The school's next such file is read alike.",
    args,
    options: columnOptions,
    run: async (service, { args: { importId: id }, options }) => {
      const body = changeColumns(await calls.getColumns(service, id), options);
      return show(service, await calls.mapColumns(service, id, body), options.faults);
    },
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
  template: makeOwnCommand({
    summary:
      "Print a plain CSV file to fill in: `… import template > roster.csv`. Its columns are explained in src/imports/FORMATS.md.",
    run: async () => ({ lines: [plainTemplate().trimEnd()], isFile: true, data: { template: plainTemplate() } }),
  }),
};

const printImport = (record: Schemas["Import"], { faults }: { faults?: number }, service: Service) =>
  show(service, record, faults);

export const extensions: Extensions = {
  show: { options: faultsOption, print: printImport },
  apply: { send: (service, { path }) => calls.applyImport(service, path["importId"]!), print: printImport },
  confirm: {
    options: {
      hold: option.texts(
        "A reason and its number, as `import show` prints them; not needed for leavers and ended groups alone.",
        "names_changed=110",
      ),
    },
    send: (service, { path }, { hold = [] }) =>
      calls.applyImport(service, path["importId"]!, { holds: readHolds(hold as string[]) }),
    print: printImport,
  },
  compare: {
    send: (service, { path, query }) =>
      calls.compareImport(service, path["importId"]!, query["school"] as string | undefined),
    print: printImport,
  },
  "leave-out": { print: printImport },
  mappings: { columns: mappingColumns },
  people: { columns: personColumns },
  groups: { columns: changedGroupColumns },
};

const warningsShown = 100;

async function show(service: Service, record: Schemas["Import"], limit = 1000): Promise<Result> {
  if (record.state === "UNMAPPED") {
    const columns = await calls.getColumns(service, record.id);
    const lines = [...importLines(record, [], new Map(), []), ...columnLines(record, columns)];
    return { lines, quiet: [record.id], data: { ...record, columns }, isRefused: true };
  }
  const { id, state, warningCount } = record;
  const faults = state === "BROKEN" ? await calls.listFaults(service, id, limit) : [];
  const samples = await calls.sampleImport(service, record);
  // Warnings are read from the rows of the file, which are deleted later.
  const warnings = await calls.listWarnings(service, id, warningCount === 0 ? 0 : warningsShown);
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

/** Errors: UsageError for a column or a use that does not exist. */
function changeColumns(
  { columns, role, className, idFromName, mode, people }: Schemas["ImportColumns"],
  options: OptionsOf<typeof columnOptions>,
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
  const { sheet, encoding, separator } = options;
  return {
    uses,
    role: uses.includes("ROLE") ? "COLUMN" : (options.role ?? role),
    className: options.class ?? className,
    idFromName: options.idsFromName || idFromName,
    ...chooseScope({ mode: options.mode, people: options.people }, { mode, people }),
    ...omitUndefined({ sheet, encoding, separator }),
  };
}

/** Reads `old=new`, in lines; undefined if there is none. Errors: UsageError. */
function readCarryOvers(texts: readonly string[]): string | undefined {
  const targets = new Set<string>();
  const lines = texts.map((text) => {
    const [previous, next, more] = text.split("=").map((word) => word.trim());
    if (!previous || !next || more !== undefined)
      throw new UsageError(`--carry-over: '${text}' is not of the form old=new.`);
    if (targets.has(next)) throw new UsageError(`--carry-over: two groups are carried over to '${next}'.`);
    targets.add(next);
    return `${previous}=${next}`;
  });
  return lines.length === 0 ? undefined : lines.join("\n");
}
