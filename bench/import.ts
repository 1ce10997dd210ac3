/**
 * How long a roster takes from the file to the directory, compared with COPY of the very rows that it made into the
 * same tables, with their indexes and constraints. Both sides begin with the same schools and one app that syncs all
 * of them.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { ZipFile } from "yazl";
import { withTransaction, type Db } from "../src/platform/database/db.ts";
import { makeMakers } from "../test/support/make.ts";
import { openBenchDatabase } from "./database.ts";
import { resetStatistics, statistics } from "./statistics.ts";

type Took = { previewMs: number; applyMs: number; memoryMb: number; people: number };

const people = Number(process.env["BENCH_PEOPLE"] ?? 100_000);
const shapes = (process.env["BENCH_SCHOOLS"] ?? "100,1").split(",").map(Number);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const tables = ["person", "affiliation", '"group"', "membership"];

const folder = await mkdtemp(join(tmpdir(), "schultor-bench-import-"));
try {
  for (const schools of shapes) await compareShape(schools);
} finally {
  await rm(folder, { recursive: true });
}

async function compareShape(schools: number): Promise<void> {
  const database = await openBenchDatabase();
  const { db } = database;
  try {
    const roster = await writeRoster(schools);
    const make = makeMakers(db);
    const app = await make.app();
    for (let n = 0; n < schools; n++)
      await make.grant({ app: app.clientId, school: await make.school({ officialId: `DE-XX-${n}` }) });
    console.log(
      `${people} people in ${3 * people} memberships, ${schools} schools; ${((await stat(roster)).size / 1e6).toFixed(0)} MB zipped, statistics ${statistics}`,
    );
    console.log(
      "| Round | Preview | Import | COPY | Ratio, whole | Ratio, import alone | Memory |\n|---|---|---|---|---|---|---|",
    );
    for (let round = 0; round <= rounds; round++) {
      await empty(db);
      await resetStatistics(db);
      const { previewMs, applyMs, memoryMb, people: made } = await runImport(roster, database.url);
      if (made !== people) throw new Error(`${made} people were made instead of ${people}`);
      await dump(db);
      await empty(db);
      await resetStatistics(db);
      const copyMs = await copyBack(db);
      const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
      const ratio = (ms: number) => (ms / copyMs).toFixed(2);
      const cells = [
        seconds(previewMs),
        seconds(applyMs),
        seconds(copyMs),
        ratio(previewMs + applyMs),
        ratio(applyMs),
        `${memoryMb.toFixed(0)} MB`,
      ];
      console.log(`| ${round === 0 ? "warm-up" : round} | ${cells.join(" | ")} |`);
    }
  } finally {
    await database.close();
  }
}

async function writeRoster(schools: number): Promise<string> {
  const groupsPerSchool = Math.ceil(people / schools / 25);
  const path = join(folder, "roster.zip");
  const zip = new ZipFile();
  const add = (name: string, lines: () => Generator<string>) => {
    const stream = new PassThrough();
    zip.addReadStream(stream, name);
    return pipeline(batched(lines()), stream);
  };
  const done = pipeline(zip.outputStream, createWriteStream(path));
  const files = [
    add("orgs.csv", function* () {
      yield "sourcedId,type,identifier";
      for (let n = 0; n < schools; n++) yield `org-${n},school,DE-XX-${n}`;
    }),
    add("users.csv", function* () {
      yield "sourcedId,orgSourcedIds,role,givenName,familyName";
      for (let n = 0; n < people; n++)
        yield `source-${n},org-${n % schools},${n % 12 === 0 ? "teacher" : "student"},First Änne ${n % 997},Müller-${n % 4999}`;
    }),
    add("classes.csv", function* () {
      yield "sourcedId,title,classType,schoolSourcedId";
      for (let n = 0; n < schools * groupsPerSchool; n++)
        yield `class-${n},Group ${n},${n % 3 === 0 ? "homeroom" : "scheduled"},org-${n % schools}`;
    }),
    add("enrollments.csv", function* () {
      yield "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role";
      for (let n = 0; n < 3 * people; n++) {
        const [person, step] = [Math.floor(n / 3), n % 3];
        const school = person % schools;
        const group = school + schools * ((Math.floor(person / schools) + step) % groupsPerSchool);
        yield `e-${n},class-${group},org-${school},source-${person},${person % 12 === 0 ? "teacher" : "student"}`;
      }
    }),
  ];
  zip.end();
  await Promise.all([...files, done]);
  return path;
}

function* batched(lines: Generator<string>): Generator<string> {
  let batch = "";
  for (const line of lines) {
    batch += `${line}\n`;
    if (batch.length > 65_536) {
      yield batch;
      batch = "";
    }
  }
  yield batch;
}

async function runImport(roster: string, url: string): Promise<Took> {
  const child = fork(fileURLToPath(new URL("./subjects/import.ts", import.meta.url)), {
    env: { ...process.env, DATABASE_URL: url, BENCH_ROSTER: roster },
  });
  const ended = once(child, "exit");
  const [took] = (await Promise.race([once(child, "message"), ended.then(() => [undefined])])) as [Took | undefined];
  await ended;
  if (took === undefined) throw new Error("the import failed");
  return took;
}

async function empty(db: Db): Promise<void> {
  await db.pool.query(
    `TRUNCATE ${tables.join(", ")}, app_event, import, import_school, import_error, staged_person, staged_role, staged_group, staged_membership CASCADE`,
  );
  await db.pool.query("CHECKPOINT");
}

function fileOf(table: string): string {
  return join(folder, table.replaceAll('"', ""));
}

async function dump(db: Db): Promise<void> {
  await withTransaction(db, async (tx) => {
    for (const table of tables)
      await pipeline(tx.query(copyTo(`COPY ${table} TO STDOUT`)), createWriteStream(fileOf(table)));
  });
}

async function copyBack(db: Db): Promise<number> {
  const start = performance.now();
  await withTransaction(db, async (tx) => {
    await tx.query("SET LOCAL statement_timeout = 0");
    for (const table of tables)
      await pipeline(createReadStream(fileOf(table)), tx.query(copyFrom(`COPY ${table} FROM STDIN`)));
  });
  return performance.now() - start;
}
