import { finished } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { from as copyFrom } from "pg-copy-streams";
import type { Prisma } from "../../../generated/prisma/client.ts";
import { makePersonSortKey, makeSortKey } from "../../directory/index.ts";
import type { PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import type { PrismaDb, Db } from "../../platform/database/db.ts";
import { withInterruptibleTransaction, type Interrupt } from "../../platform/database/interrupt.ts";
import { lostByte } from "../read/text.ts";
import type { Subject } from "./format.ts";
import { columnNames, makeRun, render, sql, table, run, statement } from "../../platform/database/sql.ts";
import type { NewRow, Columns, Parameters, Queryable, Sql, Table } from "../../platform/database/sql.ts";
import type { FaultPosition } from "../read/table.ts";
import { workInBatches } from "../../platform/jobs/batches.ts";

type StagedPerson = {
  sourceId: string;
  /** The first is the home school; empty if roles.csv has them, or if they could not be read. */
  schools: readonly SchoolId[];
  role: PersonRole | null;
  name: PersonName | null;
  username?: string | null;
  /** The row without the columns that are not read, if rows of the file can be left out. */
  fields?: readonly string[];
  /** What this record leaves open although the file covers it; PERSON for a row that describes no person. */
  silentAbout?: readonly (Subject | "PERSON")[];
  /** The schools of which the record does not say in which groups the person is. */
  silentSchools?: ReadonlySet<SchoolId>;
  isDeleted: boolean;
};
type PositionColumn = "importId" | "row" | "line" | "column" | "personColumn" | "groupColumn";
/** The role SKIPPED: a parent or guardian, or somebody at no school. */
type StagedRole = Omit<Prisma.StagedRoleModel, PositionColumn>;
export type StagedGroup = Omit<Prisma.StagedGroupModel, PositionColumn | "sortKey" | "name"> & { name: string };
type StagedMembership = Omit<Prisma.StagedMembershipModel, PositionColumn>;

type RecordPosition = { line: number; column: number; record?: number };

export type Staging = {
  person(at: RecordPosition, person: StagedPerson): void;
  role(at: RecordPosition, role: StagedRole): void;
  group(at: RecordPosition, group: StagedGroup): void;
  membership(at: RecordPosition & { groupColumn: number }, membership: StagedMembership): void;
  /** Stores the first `maxFaults`; after that no rows are stored, because the file is broken. */
  fault(place: FaultPosition, code: string, message: string): void;
  note(code: string): void;
  /** To be called for each record: flushes if the buffer is full, and now and then gives others their turn. */
  endRecord(): Promise<void>;
  flush(): Promise<void>;
  readonly faults: number;
  readonly notes: Record<string, number>;
};

const fullBytes = 1_000_000;

/** This many records take about 10 ms. */
const recordsPerTurn = 250;

export const maxFaults = 10_000;

type Tables = "stagedPerson" | "stagedRole" | "stagedGroup" | "stagedMembership" | "importError";

/** All columns of a staged row; a new column of the schema does not compile until it is added here. */
type Row<Name extends Tables> = {
  readonly [Column in Exclude<keyof NewRow<Name>, "importId" | "row">]: Value;
};

const copyText = (name: Tables, fields: readonly string[]): string =>
  render(sql`COPY ${table(name)} (${columnNames(name, ...(["importId", "row", ...fields] as never[]))}) FROM STDIN`)
    .text;

/** Buffers rows and writes them by COPY, a megabyte per transaction, so that reading holds no connection. */
export function makeStaging(db: PrismaDb, importId: string, interrupt?: Interrupt): Staging {
  const gathered = new Map<Tables, { columns: string[]; copy: string; lines: string }>();
  const notes: Record<string, number> = {};
  let row = 0;
  let ended = 0;
  let faults = 0;
  let size = 0;
  const add = <Name extends Tables>(name: Name, values: Row<Name>) => {
    if (faults > maxFaults) return;
    let rows = gathered.get(name);
    if (rows === undefined) {
      const columns = Object.keys(values);
      gathered.set(name, (rows = { columns, copy: copyText(name, columns), lines: "" }));
    }
    const cells = rows.columns.map((column) => encode((values as Record<string, Value>)[column]));
    const line = `${importId}\t${++row}\t${cells.join("\t")}\n`;
    rows.lines += line;
    size += line.length;
  };

  const flush = async () => {
    if (size === 0) return;
    await withInterruptibleTransaction(db, interrupt, async (tx) => {
      for (const rows of gathered.values()) {
        if (rows.lines === "") continue;
        const copy = tx.query(copyFrom(rows.copy));
        copy.end(rows.lines);
        rows.lines = "";
        await finished(copy);
      }
    });
    size = 0;
  };

  return {
    person({ line, column, record }, person) {
      const { sourceId, schools, role, name, username = null, isDeleted, fields, silentAbout = [] } = person;
      const [homeSchoolId = null] = schools;
      const names = { firstFull: name?.firstFull, firstCall: name?.firstCall, last: name?.last };
      // A NUL is no character of JSON in PostgreSQL.
      const asFile =
        fields === undefined
          ? null
          : JSON.stringify(fields).replaceAll("\\u0000", "\ufffd").replaceAll(lostByte, "\ufffd");
      const rest = {
        homeSchoolId,
        role,
        ...names,
        sortKey: makePersonSortKey(name),
        username,
        fields: asFile,
        isDeleted,
      };
      for (const schoolId of schools.length === 0 ? [null] : schools)
        add("stagedPerson", {
          line,
          column,
          record,
          sourceId,
          schoolId,
          ...rest,
          silentAbout: toArray(person.silentSchools?.has(schoolId!) ? [...silentAbout, "MEMBERSHIP"] : silentAbout),
        });
    },
    role: ({ line, column }, role) => add("stagedRole", { line, column, ...role }),
    group: ({ line, column }, { mayMean, ...group }) =>
      add("stagedGroup", { line, column, ...group, sortKey: makeSortKey(group.name), mayMean: toArray(mayMean) }),
    membership: ({ line, column: personColumn, groupColumn }, membership) =>
      add("stagedMembership", { line, personColumn, groupColumn, ...membership }),
    fault({ file, line, column, record, field }, code, message) {
      faults += 1;
      add("importError", { file, line, column, record, field, code, message, lineText: null });
    },
    note(code) {
      notes[code] = (notes[code] ?? 0) + 1;
    },
    async endRecord() {
      if (++ended % recordsPerTurn === 0) await setImmediate();
      if (size > fullBytes) await flush();
    },
    flush,
    get faults() {
      return faults;
    },
    notes,
  };
}

type Value = string | number | boolean | null | undefined;

const toArray = (words: readonly string[]): string => `{${words.join(",")}}`;

const escapes: Record<string, string> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function encode(value: Value): string {
  if (value === null || value === undefined) return "\\N";
  if (typeof value !== "string") return String(value);
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (sign) => escapes[sign]!) : value;
}

/** SQL: the staged row is a person, not a sum or a footer. */
export const isPerson = ({ silentAbout }: Columns<"silentAbout">) => sql`NOT 'PERSON' = ANY (${silentAbout})`;

export const stagedTables = (["stagedPerson", "stagedRole", "stagedGroup", "stagedMembership"] as const).map((name) =>
  table(name),
);

/** The rows of imports, by their aliases in statements. */
export const staged = {
  p: table("stagedPerson", "p"),
  r: table("stagedRole", "r"),
  g: table("stagedGroup", "g"),
  m: table("stagedMembership", "m"),
  e: table("importError", "e"),
  f: table("importFaultyRow", "f"),
};

/** Makes a function that deletes rows of an import, and returns how many. */
export const makeDeletion = <Values extends { importId: string }>(
  from: Table<"importId">,
  where: (values: Parameters<Values>) => Sql,
) => makeRun<Values>()`DELETE FROM ${from} WHERE ${from.importId} = ${"importId"} AND ${where}`;

const deletions = stagedTables.map(
  (rows) =>
    statement<{ importId: string; batch: number }>()`DELETE FROM ${rows} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${rows} WHERE ${rows.importId} = ${"importId"} LIMIT ${"batch"}))`,
);

export async function removeStaged(db: Pick<Db, "pool">, importId: string, signal = never): Promise<void> {
  for (const deleteRows of deletions)
    await workInBatches(signal, (batch) => run(db.pool, deleteRows, { importId, batch }));
}

const never = new AbortController().signal;

/** Outside a transaction, so that it blocks no other import. */
export async function analyzeStaged(db: Queryable): Promise<void> {
  await db.query("ANALYZE staged_person, staged_role, staged_group, staged_membership");
}
