import { access } from "node:fs/promises";
import type { PersonId } from "../../directory/index.ts";
import { withTransaction, type OpenDb } from "../../platform/database/db.ts";
import { makeFind, sql } from "../../platform/database/sql.ts";
import { deriveKeys, unseal } from "../../platform/crypto/seal.ts";
import { AppError } from "../../platform/errors.ts";
import { foldText } from "../../platform/text/likeness.ts";
import type { Machine, Result } from "../command.ts";
import { counted, tableOf, timeOf, type Columns } from "../lines.ts";
import { UsageError } from "../option.ts";
import { findAppIds, searchFiles, type FileKind, type FileSearch } from "./files.ts";
import { foundTexts, makeFindings, type Finding } from "./findings.ts";
import { sealedColumns } from "../../../generated/tables/stored-data.ts";
import { makeMatcher } from "./matcher.ts";
import { searchDatabase, type DatabaseSearch } from "./tables.ts";
import { readTyped, type Values } from "./values.ts";

type ProofRequest = {
  personId: PersonId;
  ids: readonly string[];
  valuesFile: string | undefined;
  logs: readonly string[];
  dumps: readonly string[];
  backupDays: number | undefined;
  logDays: number | undefined;
};

/** Searches the database, logs and dumps for data of a person who was deleted for good. */
export function proveErased(machine: Machine, request: ProofRequest): Promise<Result> {
  const { personId, logs, dumps, backupDays, logDays } = request;
  return machine.withDatabase(async ({ db }) => {
    const dumpFiles = filesOf(dumps, "dump");
    const files = [...filesOf(logs, "log"), ...dumpFiles];
    await Promise.all(files.map(checkReadable));
    await checkDeleted(db, personId);
    const tombstone = await db.prisma.tombstone.findUnique({ where: { personId } });
    const typed = await readTyped(request.valuesFile, machine.ask);
    const appIds = await findAppIds(db.pool, { personId, dumps: dumpFiles, tell: machine.tell });
    const values: Values = { ids: [...new Set([personId, ...request.ids, ...appIds])], ...typed };
    const matcher = makeMatcher(values, await hashUserNames(db, values.userNames));

    const deletedAt = tombstone?.deletedAt ?? null;
    const facts = { now: machine.clock(), deletedAt, retention: machine.config.retention, backupDays, logDays };
    const findings = makeFindings(facts);
    const { encryptionKeys } = machine.config;
    const adminKeys = deriveKeys(encryptionKeys, "admin");
    const database = await withTransaction(db, (tx) =>
      searchDatabase(tx, {
        matcher,
        show: machine.showProgress,
        open: (of, purpose, value) => unseal(of.keys === "admin" ? adminKeys : encryptionKeys, purpose, value),
        onRow: (row) => findings.add(row, "database", "database"),
      }),
    );
    const searched = await searchFiles(files, {
      matcher,
      tell: machine.tell,
      onRow: (row, { path, kind }) => findings.add(row, path, kind),
    });
    for (const { path, changedAt } of searched) findings.noteChanged(path, changedAt);
    return report({ request, values, deletedAt, database, files: searched, findings: findings.end() });
  });
}

const filesOf = (paths: readonly string[], kind: FileKind) => paths.map((path) => ({ path, kind }));

async function checkReadable({ path }: { path: string }): Promise<void> {
  await access(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  });
}

/** Errors: conflict person_not_deleted. */
async function checkDeleted({ prisma }: OpenDb, id: PersonId): Promise<void> {
  const person = await prisma.person.findUnique({ where: { id }, select: { purgeAt: true } });
  if (person === null) return;
  const when =
    person.purgeAt === null ? "" : ` They are soft-deleted and can be restored until ${timeOf(person.purgeAt)!}.`;
  throw new AppError("conflict", "person_not_deleted", `This person has not been deleted for good.${when}`);
}

const hashUserName = makeFind<{ hash: Buffer }, { name: string }>(
  ({ name }) => sql`SELECT user_name_hash(${name}) AS hash`,
);

/** Hashes each user name, also without the number that generated user names end with. */
async function hashUserNames({ pool }: OpenDb, userNames: readonly string[]): Promise<Buffer[]> {
  const spellings = new Set(userNames.map(foldText).flatMap((name) => [name, name.replace(/\d+$/, "")]));
  const hashes = [...spellings].map((name) => hashUserName(pool, { name }));
  return (await Promise.all(hashes)).flatMap((rows) => rows.map(({ hash }) => hash));
}

type Report = {
  request: ProofRequest;
  values: Values;
  deletedAt: Date | null;
  database: DatabaseSearch;
  files: readonly FileSearch[];
  findings: readonly Finding[];
};

const listColumns = (areOpened: boolean) =>
  sealedColumns
    .filter(({ purpose }) => (purpose !== null) === areOpened)
    .map(({ column, holds }) => ({ column, holds }));
const [opened, closed] = [listColumns(true), listColumns(false)];

const columns: Columns<Finding> = {
  verdict: ({ verdict }) => (verdict === "unexpected" ? "UNEXPECTED" : verdict),
  in: ({ source }) => source,
  place: ({ place, lines }) => place ?? `line ${lines.join(", ")}`,
  what: ({ what }) => foundTexts[what],
  rows: ({ rows }) => String(rows),
  until: ({ until }) => timeOf(until)?.slice(0, 10) ?? null,
  why: ({ why }) => why,
};

function report({ request, values, deletedAt, database, files, findings }: Report): Result {
  const gaps = [
    ...files.flatMap(({ path, problem }) => (problem === null ? [] : [`${path}: ${problem}`])),
    ...database.tables.flatMap(({ kind, schema, name }) =>
      kind === "f" ? [`the foreign table ${schema}.${name}`] : [],
    ),
    ...database.unopened.map(
      ({ column, rows }) => `${counted(rows, "row")} of ${column}, which ENCRYPTION_KEYS do not open`,
    ),
    ...(database.largeObjects > 0 ? [counted(database.largeObjects, "large object")] : []),
  ];
  const unexpected = findings.filter(({ verdict }) => verdict === "unexpected");
  const isProven = deletedAt !== null && gaps.length === 0 && unexpected.length === 0;
  const counts = {
    ids: values.ids.length,
    firstNames: values.firstNames.length,
    lastNames: values.lastNames.length,
    userNames: values.userNames.length,
    others: values.others.length,
    tables: database.tables.length,
    columns: database.tables.reduce((sum, table) => sum + table.columns.length, 0),
    rows: database.rows,
  };
  return {
    table: tableOf(findings, columns),
    lines: [
      ...(findings.length > 0 ? [""] : []),
      ...deletionLines(deletedAt, request.backupDays),
      `Searched for ${describeValues(values)}.`,
      `Searched ${counted(counts.tables, "table")} with ${counted(counts.columns, "column")} and ${counted(counts.rows, "row")}, as they were at ${timeOf(database.at)!}.`,
      ...files.map(({ path, kind, lines }) => `Searched the ${kind} ${path}: ${counted(lines, "line")}.`),
      ...gaps.map((gap) => `NOT SEARCHED: ${gap}.`),
      "Decrypted and searched:",
      ...opened.map(({ column, holds }) => `- ${column}: ${holds}.`),
      "Not searched, because they are encrypted and hold nobody but the person of their row, with whom it is deleted:",
      ...closed.map(({ column, holds }) => `- ${column}: ${holds}.`),
      "Not searched: other hashes than those of user names, which are of random values or of values with a key, and are deleted with the person or within a day; what the files of PostgreSQL hold of deleted rows until it uses their space again; its write-ahead log.",
      conclusion(isProven, unexpected.length, gaps.length),
    ],
    quiet: unexpected.map(({ source, place, lines }) => `${source} ${place ?? `line ${lines.join(", ")}`}`),
    data: {
      personId: request.personId,
      deletedAt,
      isProven,
      searchedAt: database.at,
      searched: counts,
      files,
      findings,
      notSearched: gaps,
      decrypted: opened,
      encrypted: closed,
    },
    hasFailed: !isProven,
  };
}

function deletionLines(deletedAt: Date | null, backupDays: number | undefined): string[] {
  if (deletedAt === null)
    return [
      "There is no record that a person with this id was deleted here. Check the id; it is of no person here, or of one of a sandbox.",
    ];
  const at = timeOf(deletedAt)!;
  const until =
    backupDays === undefined
      ? "for as long as you keep them; --backup-days says how long that is"
      : `until ${new Date(deletedAt.getTime() + backupDays * 86_400_000).toISOString().slice(0, 10)}`;
  return [
    `The person was deleted for good at ${at}.`,
    "The audit log keeps what was done, without the id.",
    `Backups from before that time hold the person ${until}. They are searched only if they are given as --dump.`,
  ];
}

const kinds: readonly [key: keyof Values, one: string][] = [
  ["ids", "id"],
  ["firstNames", "first name"],
  ["lastNames", "last name"],
  ["userNames", "user name"],
  ["others", "other identifier"],
];

function describeValues(values: Values): string {
  const named = kinds.filter(([key]) => values[key].length > 0).map(([key, one]) => counted(values[key].length, one));
  const left = kinds.filter(([key]) => key !== "others" && values[key].length === 0).map(([, one]) => `no ${one}`);
  return `${named.join(", ")}${left.length === 0 ? "" : `; ${left.join(", ")} was given`}`;
}

function conclusion(isProven: boolean, unexpected: number, gaps: number): string {
  if (isProven) return "Nothing unexpected is left of the person.";
  if (unexpected > 0) return `${counted(unexpected, "place holds", "places hold")} what should not be there.`;
  return gaps > 0 ? "Nothing unexpected was found, but not everything was searched." : "Nothing is proven.";
}
