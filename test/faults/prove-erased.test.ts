// @module-tag slow
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { changeDirectory, makePurgeJob } from "../../src/access/index.ts";
import { forgetPerson } from "../../src/accounts/index.ts";
import type { FileSearch } from "../../src/cli/erasure/files.ts";
import type { Finding } from "../../src/cli/erasure/findings.ts";
import { sealedColumns } from "../../generated/tables/stored-data.ts";
import { leftovers } from "../../src/cli/erasure/leftovers.ts";
import { findTables } from "../../src/cli/erasure/tables.ts";
import { softDeletePerson, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeOperator, runHere } from "../cli/program.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { isLeftOut } from "../support/programs.ts";
import { installedServers } from "../support/servers.ts";
import { fillTablesOfDeleted, fillTablesOfPeople } from "../support/people-everywhere.ts";
import { findTraces, listTablesOfPeople } from "../support/traces.ts";

const db = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), "prove-erased-"));
atFileEnd(() => rmSync(folder, { recursive: true }));
const run = runHere({ DATABASE_URL: db.url });
const { refusal } = makeOperator(run);

const dayMs = 86_400_000;
const now = new Date();
const before = new Date(now.getTime() - 31 * dayMs);
const make = makeMakers(db, before);
const name = { firstFull: "Jörg Ada", firstCall: "Jörg", last: "Weißmüller" };
const username = "joerg.weissmueller7";
const values = join(folder, "values.txt");
writeFileSync(values, `first: Jörg Ada\nlast: Weißmüller\nusername: ${username}\nother: SRC-4711\n`);

type Proof = {
  isProven: boolean;
  deletedAt: string | null;
  findings: Finding[];
  files: FileSearch[];
  notSearched: string[];
};

async function prove(id: string, ...options: string[]): Promise<Proof & { code: number | null; out: string }> {
  const { code, out, err } = await run(["person", "prove-erased", id, "--values", values, ...options, "--json"]);
  expect(err.replace(/^Searching .*\n/gm, "")).toBe("");
  return { ...(JSON.parse(out) as Proof), code, out };
}

const show = ({ source, place, what, rows, verdict }: Finding) =>
  `${verdict} ${source === "database" ? "" : `${source.slice(folder.length + 1)} `}${place ?? "line"} ${what} ${rows}`;
const unexpectedOf = ({ findings }: Proof) => findings.filter(({ verdict }) => verdict === "unexpected").map(show);

let school: SchoolId;
let erased: PersonId;
/** By which an app with ids of its own knew the person. */
let appId: string;

beforeAll(async () => {
  school = await make.school();
  const { clientId: app } = await make.app({ confirmsErasures: true });
  const group = await make.group({ school });
  await make.grant({ app, school, groups: [group] });
  const { clientId: pairwise } = await make.app({ subjectType: "APP", confirmsErasures: true });
  await make.grant({ app: pairwise, school, groups: [group] });
  erased = await make.person({ school, groups: [group], name, sourceSystemIdentifier: "SRC-4711" });
  appId = (await db.prisma.pairwiseId.findFirstOrThrow({ where: { recordId: erased } })).id;
  await make.person({ school, groups: [group], name: { firstFull: "Ada", firstCall: "Ada", last: "Lang" } });
  await fillTablesOfPeople(db, [erased], { school, app, at: before });
  const actorId = `person:${erased}`;
  const asStaff = { id: makeUuid(before), createdAt: before };
  await db.prisma.import.create({
    data: { ...asStaff, format: "PLAIN", mode: "BULK", state: "APPLIED", fileName: "a.csv", actorId },
  });
  const wanted = { schoolId: school, newPasswords: true, withQr: false, onlyMissing: true };
  await db.prisma.credentialBatch.create({
    data: { ...asStaff, ...wanted, caller: actorId, expiresAt: now },
  });
  await db.prisma.credential.update({ where: { personId: erased }, data: { username } });
  await changeDirectory(db, { at: before }, (change) =>
    softDeletePerson(change, { personId: erased, restoreWindowDays: 30 }),
  );
  await fillTablesOfDeleted(db, [erased], { school, app, at: before });
  const tables = (await listTablesOfPeople(db)).filter((table) => table !== "tombstone");
  expect(Object.keys(await findTraces(db, [erased]))).toEqual(expect.arrayContaining(tables));
});

test("somebody who can still be restored is refused, and nobody is asked for names", async () => {
  expect(await refusal("person", "prove-erased", erased)).toMatchObject({
    exitCode: 3,
    code: "person_not_deleted",
    error: expect.stringContaining("can be restored until"),
  });
});

test("after the purge, nothing unexpected is left, and each remainder says why and until when", async () => {
  await makePurgeJob({ db, clock: () => now, forget: forgetPerson }).run(new AbortController().signal);
  await db.pool.query("ANALYZE");
  const proof = await prove(erased);
  expect([proof.code, proof.isProven, proof.deletedAt]).toEqual([0, true, now.toISOString()]);
  expect(proof.findings.map(show)).toEqual([
    ...["affiliation.sort_key", "person.first_full", "person.first_call", "person.sort_key"].map(
      (place) => `shared ${place} firstName 1`,
    ),
    "expected app_event.subject_id id 6",
    "expected app_event.app_subject_id id 3",
    "expected erasure.subject_id id 2",
    "expected tombstone.person_id id 1",
    "expected user_name.hash userNameHash 1",
    "expected pg_stats of app_event.subject_id id 1",
    "expected pg_stats of app_event.app_subject_id id 1",
    "expected pg_stats of user_name.hash userNameHash 1",
    "expected pg_stats of erasure.subject_id id 1",
  ]);
  const { why, until } = proof.findings.find(({ place }) => place === "app_event.subject_id")!;
  expect([why, until]).toEqual([
    expect.stringContaining("deleted"),
    new Date(now.getTime() + 35 * dayMs).toISOString(),
  ]);
  const hash = proof.findings.find(({ place }) => place === "user_name.hash")!;
  const [{ released }] = (
    await db.pool.query("SELECT released_on::text AS released FROM user_name WHERE person_id IS NULL")
  ).rows as [{ released: string }];
  expect(hash.until).toBe(new Date(Date.parse(released) + 366 * dayMs).toISOString());
  const erasure = proof.findings.find(({ place }) => place === "erasure.subject_id")!;
  expect([erasure.why, erasure.until]).toEqual([
    expect.stringContaining("must erase"),
    new Date(now.getTime() + 365 * dayMs).toISOString(),
  ]);
  const { rows: actors } = await db.pool.query("SELECT actor_id FROM import WHERE actor_id IS NOT NULL");
  expect(actors, "an actor without rights").toEqual([{ actor_id: "person:00000000-0000-0000-0000-000000000000" }]);
  expect(proof.findings[0]!.why).toBe("1 other person has this first name");

  const { code, out } = await run(["person", "prove-erased", erased, "--values", values, "--backup-days", "30"]);
  const end = new Date(now.getTime() + 30 * dayMs).toISOString().slice(0, 10);
  for (const text of [
    "Nothing unexpected is left of the person.",
    `Backups from before that time hold the person until ${end}.`,
    "2 first names, 1 last name, 1 user name, 1 other identifier.",
    "credential_batch.encrypted",
  ])
    expect(out).toContain(text);
  expect(code).toBe(0);
});

test("an app's own id of the person is searched for too, from the change feed, or else from a dump", async () => {
  const letter = { schoolId: school, text: `Siehe ${appId}` };
  await db.prisma.parentLetter.create({ data: letter });
  expect(unexpectedOf(await prove(erased))).toEqual(["unexpected parent_letter.text id 1"]);
  const events = await db.prisma.appEvent.findMany({ where: { subjectId: erased } });
  await db.prisma.appEvent.deleteMany({ where: { subjectId: erased } });
  expect(unexpectedOf(await prove(erased))).toEqual([]);
  const dump = join(folder, "with-ids.sql");
  const pair = `${erased}\t${erased}\t${makeUuid(now)}\t${appId}\n`;
  writeFileSync(dump, dumpOf({ "pairwise_id (person_id, record_id, sector, id)": pair }));
  expect(unexpectedOf(await prove(erased, "--dump", dump))).toContain("unexpected parent_letter.text id 1");
  await db.prisma.appEvent.createMany({ data: events });
  await db.prisma.parentLetter.deleteMany();
});

test("the id that an app was to have after a move is searched for too", async () => {
  const { id } = await db.prisma.appEvent.findFirstOrThrow({ where: { subjectId: erased } });
  const nextSubjectId = randomUUID();
  await db.prisma.appEvent.update({ where: { id }, data: { nextSubjectId } });
  await db.prisma.parentLetter.create({ data: { schoolId: school, text: `Siehe ${nextSubjectId}` } });
  expect(unexpectedOf(await prove(erased))).toEqual(["unexpected parent_letter.text id 1"]);
  await db.prisma.parentLetter.deleteMany();
  await db.prisma.appEvent.update({ where: { id }, data: { nextSubjectId: null } });
});

/** Statements that leave something of the person in a place, and the finding of each. */
const planted: readonly [finding: string, statement: string, values: unknown[]][] = [
  ["parent_letter.text name 1", "INSERT INTO parent_letter VALUES ($1, $2)", [() => school, "Für Joerg WEISSMUELLER"]],
  [
    "audit.person_id id 1",
    "INSERT INTO audit (id, at, action, person_id) VALUES ($1, $2, 'signed_in', $3)",
    [makeUuid(now), now, () => erased],
  ],
  [
    "import.notes id 1",
    "INSERT INTO import (id, format, mode, state, file_name, created_at, notes) VALUES ($1, 'PLAIN', 'BULK', 'APPLIED', 'a', $2, $3)",
    [makeUuid(now), now, () => JSON.stringify({ left: [{ of: erased.toUpperCase() }] })],
  ],
  [
    "import.file_name userName 1",
    "INSERT INTO import (id, format, mode, state, file_name, created_at) VALUES ($1, 'PLAIN', 'BULK', 'APPLIED', $2, $3)",
    [makeUuid(now), `of ${username}.csv`, now],
  ],
  [
    "idempotency_key.named_ids id 1",
    "INSERT INTO idempotency_key VALUES ('a', 'b', '', 200, '', $1, $2)",
    [now, () => [makeUuid(now), erased]],
  ],
  [
    "sign_on_step.reason lastName 1",
    "INSERT INTO sign_on_step (id, client_id, request_id, at, attempt, step, outcome, reason) SELECT $1, client_id, 'a', $2, 'a', 'login', 'refused', $3 FROM app LIMIT 1",
    [makeUuid(now), now, "Frau Weißmüller hat angerufen"],
  ],
  [
    "card_settings.networks other 1",
    "INSERT INTO card_settings (school_id, enabled, networks, grades, weekdays, second_step, print_second_step, updated_at) VALUES ($1, false, $2, '{}', '{}', 'NONE', false, $3)",
    [() => school, ["src-4711"], now],
  ],
  [
    "school_logo.bytes lastName 1",
    "INSERT INTO school_logo VALUES ($1, 'image/png', $2, $3)",
    [() => school, "0".repeat(32), Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from("Weißmüller", "latin1")])],
  ],
  [
    "app_logo.bytes id 1",
    "INSERT INTO app_logo SELECT client_id, 'image/png', repeat('0', 32), $1 FROM app LIMIT 1",
    [() => Buffer.concat([Buffer.from([0]), Buffer.from(erased.replaceAll("-", ""), "hex")])],
  ],
  ["left_behind.Old Names name 1", "INSERT INTO elsewhere.left_behind VALUES ($1)", [["Weißmüller, Jörg"]]],
];

test("what is planted in a column of any type and schema is found, and nothing of it is printed", async () => {
  await db.pool.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.left_behind ("Old Names" text[])');
  for (const [, statement, given] of planted)
    await db.pool.query(
      statement,
      given.map((value) => (typeof value === "function" ? (value as () => unknown)() : value)),
    );
  const proof = await prove(erased);
  expect([proof.code, proof.isProven]).toEqual([1, false]);
  expect(unexpectedOf(proof).toSorted()).toEqual(planted.map(([finding]) => `unexpected ${finding}`).toSorted());
  const { out } = await run(["person", "prove-erased", erased, "--values", values]);
  // The digits alone may be in an id.
  for (const text of [out, proof.out]) expect(text).not.toMatch(/wei(ß|ss)m|joerg|jörg|src-4711/i);
  expect(out).toMatch(/^UNEXPECTED +database +parent_letter\.text +first and last name +1 +nothing should hold it$/m);
  expect(out).toContain("10 places hold what should not be there.");
  for (const table of ["parent_letter", "audit", "import", "idempotency_key", "sign_on_step", "card_settings"])
    await db.pool.query(`DELETE FROM ${table}`);
  await db.pool.query("DELETE FROM school_logo; DELETE FROM app_logo; DROP SCHEMA elsewhere CASCADE");
  expect((await prove(erased)).code).toBe(0);
});

test("names in log files are found, also in packed ones and in folders; ids are expected while logs are kept", async () => {
  const logs = join(folder, "logs");
  mkdirSync(join(logs, "old"), { recursive: true });
  const line = (text: string) => `{"level":"info","time":"2026-11-01T00:00:00.000Z","msg":"${text}"}\n`;
  const many = line("nothing").repeat(20_000);
  writeFileSync(join(logs, "a.log"), `${many}${line("GET /people/" + erased)}${many}`);
  writeFileSync(join(logs, "b.log.1.gz"), gzipSync(`${many}${line("search=Wei%C3%9Fm%C3%BCller&first=j%C3%B6rg")}`));
  writeFileSync(join(logs, "old", "c.log.zst"), zstdCompressSync(line("Wei\\u00dfm\\u00fcller")));
  const token = Buffer.from(JSON.stringify({ iss: "https://a.example", sub: erased })).toString("base64url");
  writeFileSync(join(logs, "d.log"), line(`Bearer eyJhbGciOiJSUzI1NiJ9.${token}.c2ln`));
  writeFileSync(join(logs, "e.log"), "x".repeat(9_000_000) + username + "x".repeat(10));
  writeFileSync(join(logs, "f.log"), "y".repeat(5_000_000) + ` ${username} ` + "y".repeat(5_000_000));

  const lately = await prove(erased, "--log", logs, "--log-days", "7");
  expect(unexpectedOf(lately)).toEqual([
    "unexpected logs/b.log.1.gz line name 1",
    "unexpected logs/f.log line userName 1",
    "unexpected logs/old/c.log.zst line lastName 1",
  ]);
  const byId = lately.findings.filter(({ source, what }) => source !== "database" && what === "id");
  expect(byId.map(show)).toEqual(["expected logs/a.log line id 1", "expected logs/d.log line id 1"]);
  expect([byId[0]!.lines, lately.files[0]!.lines]).toEqual([[20_001], 40_001]);
  expect(unexpectedOf(await prove(erased, "--log", join(logs, "a.log")))).toEqual(["unexpected logs/a.log line id 1"]);
});

test("a log that cannot be read to its end is named, and nothing is proven", async () => {
  const [torn, journal] = [join(folder, "torn.gz"), join(folder, "system.journal")];
  writeFileSync(torn, gzipSync("a line\n".repeat(10_000)).subarray(0, 60));
  writeFileSync(journal, "LPKSHHRH...");
  const proof = await prove(erased, "--log", torn, "--log", journal);
  expect([proof.code, proof.isProven, unexpectedOf(proof)]).toEqual([1, false, []]);
  expect(proof.notSearched).toEqual([expect.stringContaining("torn.gz: "), expect.stringContaining("journalctl -u")]);
  const missing = await run(["person", "prove-erased", erased, "--values", values, "--log", join(folder, "none.log")]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("none.log cannot be read")]);
});

/** A dump in plain SQL, of tables with their rows. */
const dumpOf = (tables: Readonly<Record<string, string>>): string =>
  Object.entries(tables)
    .map(([table, rows]) => `--\n-- Data of ${table}\n--\n\nCOPY public.${table} FROM stdin;\n${rows}\\.\n\n`)
    .join("");

test("a dump from before the deletion may hold the person while backups are kept; one from after it may not", async () => {
  const [old, recent] = [join(folder, "old.sql"), join(folder, "recent.sql.gz")];
  const person = `${erased}\tJörg Ada\tJörg\tWeißmüller\n`;
  const tombstones = `${erased}\t2026-11-01 00:00:00+00\n`;
  writeFileSync(
    old,
    dumpOf({
      "person (id, first_full, first_call, last)": person,
      "parent_letter (school_id, text)": "1\tWeißmüller\n",
    }),
  );
  const letters = { "parent_letter (school_id, text)": "1\tLiebe Frau\\nWeissmüller\n" };
  writeFileSync(recent, gzipSync(dumpOf({ "tombstone (person_id, deleted_at)": tombstones, ...letters })));
  const given = ["--dump", old, "--dump", recent];
  const ofDumps = (proof: Proof) => proof.findings.filter(({ source }) => source !== "database").map(show);
  expect(ofDumps(await prove(erased, ...given, "--backup-days", "30"))).toEqual([
    "unexpected recent.sql.gz parent_letter.text lastName 1",
    ...["id id", "first_full name", "first_call name", "last name"].map((at) => `expected old.sql person.${at} 1`),
    "expected old.sql parent_letter.text lastName 1",
    "expected recent.sql.gz tombstone.person_id id 1",
  ]);
  const unsaid = await prove(erased, ...given);
  expect(unexpectedOf(unsaid).filter((line) => line.includes("old.sql"))).toHaveLength(5);
});

const [server] = installedServers();
const leftOut = isLeftOut(
  "`backup` makes a dump that is searched",
  server === undefined ? "no server has pg_dump" : null,
);

test.skipIf(leftOut)("what `backup` makes of a server's database is searched", async () => {
  const dataDir = makeDataDir();
  const { url, stop } = await startEmbeddedPostgres({
    dataDir,
    say: () => undefined,
    settings: { fsync: "off" },
    binariesFolder: server!.binariesFolder,
  });
  atFileEnd(async () => {
    await stop();
    removeDataDir(dataDir);
  });
  await applyMigrations(url, { say: () => undefined });
  const elsewhere = openDatabase({ url });
  const there = makeMakers(elsewhere, before);
  await there.person({ school: await there.school(), id: erased, name });
  await elsewhere.close();
  const file = join(folder, "backup.dump");
  expect((await runHere({ DATABASE_URL: url })(["backup", file])).code).toBe(0);
  const proof = await prove(erased, "--dump", file, "--backup-days", "1");
  const ofDump = proof.findings.filter(({ source }) => source === file);
  expect([proof.code, proof.notSearched]).toEqual([0, []]);
  expect(ofDump.map(show)).toEqual(
    expect.arrayContaining(["id id", "last name", "sort_key name"].map((at) => `expected backup.dump person.${at} 1`)),
  );
  expect(unexpectedOf(await prove(erased, "--dump", file))).toHaveLength(ofDump.length);
});

test("a person whose name another person has is not said to be left; further ids are searched for too", async () => {
  await make.person({ school, name });
  const other = makeUuid(now);
  await db.prisma.parentLetter.create({ data: { schoolId: school, text: `Jörg Weißmüller, ${other}` } });
  expect(unexpectedOf(await prove(erased))).toEqual([]);
  const proof = await prove(erased, "--id", other);
  expect(unexpectedOf(proof)).toEqual(["unexpected parent_letter.text id 1"]);
  expect(proof.findings.map(show)).toContain("shared parent_letter.text name 1");
  await db.prisma.parentLetter.deleteMany();
});

test("a last name in the name of a school is not said to be left, nor in the audit of that school", async () => {
  const lone = join(folder, "lone.txt");
  writeFileSync(lone, "last: Sonnental\n");
  await make.school({ name: "Sonnental-Schule" });
  const proveLone = async () => (await run(["person", "prove-erased", erased, "--values", lone, "--json"])).out;
  const record = (action: string) =>
    db.prisma.audit.create({ data: { id: makeUuid(now), at: now, action, after: { name: "Sonnental" } } });
  await record("school_created");
  const proof = JSON.parse(await proveLone()) as Proof;
  expect([proof.isProven, proof.findings.map(show)]).toEqual([
    true,
    expect.arrayContaining(["shared school.name lastName 1", "shared audit.after lastName 1"]),
  ]);
  await record("person_updated");
  expect(unexpectedOf(JSON.parse(await proveLone()) as Proof)).toEqual(["unexpected audit.after lastName 1"]);
  await db.prisma.audit.deleteMany();
});

test("an id of nobody proves nothing", async () => {
  const { code, isProven, deletedAt } = await prove(makeUuid(now));
  expect([code, isProven, deletedAt]).toEqual([1, false, null]);
});

test("names are asked for at a terminal, and never taken from the command line", async () => {
  const { out, err } = await runHere(
    { DATABASE_URL: db.url },
    "Weißmüller, Weismüller",
  )(["person", "prove-erased", erased]);
  expect(err).toContain("Last name");
  expect(out).toContain("2 first names, 2 last names, 2 user names, 2 other identifiers");
  const unasked = await run(["person", "prove-erased", erased]);
  expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining("--values /dev/stdin")]);
  writeFileSync(join(folder, "wrong.txt"), "first: Ada\nsurname: Lang\n");
  const wrong = await run(["person", "prove-erased", erased, "--values", join(folder, "wrong.txt")]);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/^Line 2 of --values begins with none of first:/)]);
  expect(wrong.err).not.toContain("Lang");
});

/** Hashes and keys: a value can only be compared with them if their key and what was hashed are known. */
const hashColumns: readonly string[] = [
  ...["app.secret_hash", "app.old_secret_hash", "idempotency_key.request_hash", "login_card.token_hash"],
  ...["login_card.second_step_hash", "oidc_artifact.id_hash", "rate_limit.key", "recovery_code.hash"],
  ...["second_factor.public_key", "sign_in_brake.key", "sign_in_place.place", "user_name.hash", "user_name_key.key"],
  ...["user_name_number.hash", "wrong_password.key", "roster_connection.digest"],
  ...["class_list.code_hash", "picture_code.hash"],
  ...["upstream_refusal.subject_hash", "upstream_round_trip.browser_hash", "upstream_round_trip.state_hash"],
  ...["upstream_set_up_link.browser_hash", "upstream_set_up_link.token_hash"],
];

/** The other binary columns, which are searched as text and for ids. */
const readableColumns: readonly string[] = [
  ...["agreement.pdf", "app_logo.bytes", "import_piece.bytes", "school_logo.bytes", "webhook_attempt.answer"],
];

test("every binary column is known as text, as encrypted or as a hash, and every table of a remainder exists", async () => {
  const tables = await findTables(db.pool, {});
  const known = [...sealedColumns.map(({ column }) => column), ...hashColumns, ...readableColumns];
  const binary = tables.flatMap(({ whole, binary: columns }) => columns.map((column) => `${whole}.${column}`));
  expect(known.toSorted()).toEqual([...new Set(binary)].toSorted());
  const named = leftovers.flatMap(({ tables: names, columns = [] }) =>
    names.flatMap((table) => (columns.length === 0 ? [table] : columns.map((column) => `${table}.${column}`))),
  );
  const existing = tables.flatMap(({ whole, columns }) => [whole, ...columns.map((column) => `${whole}.${column}`)]);
  // A remainder that lists several tables lists columns of some of them.
  expect(named.filter((place) => !existing.includes(place))).toEqual([]);
});
