/**
 * How much of a bare server's speed the IDM API keeps, with token check and validation on.
 * Both sides send the same statement to the same database and answer the same bytes.
 */
import express from "express";
import type pg from "pg";
import { makeIdmRouter } from "../src/idm/index.ts";
import { readConfig } from "../src/config/index.ts";
import type { PrismaDb } from "../src/platform/database/db.ts";
import { loadDocument, makeReading } from "../src/platform/http/index.ts";
import { silentLog } from "../src/platform/telemetry/log.ts";
import { makeMakers } from "../test/support/make.ts";
import { getAppToken, type TestApp } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, measureUrls, report, reportHead, startSubject, type Subject } from "./harness.ts";

type World = { app: TestApp; user: string; people: string; roster: string };
type Statement = { name: string; text: string; values: unknown[] };

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 5), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const readScopes = ["schools:read", "groups:read", "people:read", "users:read"] as const;
const database = await openBenchDatabase();
const subjects: Subject[] = [];
try {
  const world = await makeWorld(database.db);
  const statements = await recordStatements(database.db, world);
  const environment = { DATABASE_URL: database.url, LOG_LEVEL: "warn", BENCH_STATEMENTS: JSON.stringify(statements) };
  const ours = await startSubject("service", "./subjects/service.ts", environment);
  const base = await startSubject("bare", "./subjects/bare-pg.ts", environment);
  subjects.push(ours, base);
  const headers = { authorization: `Bearer ${await getAppToken(ours, world.app, readScopes)}` };
  await refuseDifference(ours.url, base.url, Object.keys(statements), headers);

  console.log(reportHead);
  for (const [title, path, target] of [
    ["GET /users/:id, 16 connections", world.user, 0.9],
    ["GET /schools/:id/people, 1,000 people in 3 groups each, 16 connections", world.people, 0.9],
    ["GET /schools/:id/roster of the same school, 16 connections", world.roster, 0.75],
  ] as const) {
    const measure = (subject: Subject) => () =>
      measureUrls(subject.url, { paths: [path], headers, connections: 16, seconds });
    const sides = { ours: measure(ours), base: measure(base), rounds, subjects: { ours, base }, db: database.db };
    console.log(report(await compare(title, target, sides)));
  }
} finally {
  for (const subject of subjects) await subject.stop();
  await database.close();
}

async function makeWorld(db: PrismaDb): Promise<World> {
  const make = makeMakers(db);
  const app = await make.app({ redirectUris: ["https://app.example/callback"] });
  const [school, other] = [await make.school(), await make.school()];
  for (const [where, count] of [
    [school, 1000],
    [other, 20_000],
  ] as const) {
    const groups = await Promise.all(Array.from({ length: 40 }, () => make.group({ school: where })));
    await make.people({ school: where, count, groups, groupsEach: 3 });
    await make.grant({ app: app.clientId, school: where, groups });
  }
  await db.pool.query("VACUUM ANALYZE");
  const { rows } = await db.pool.query<{ id: string }>("SELECT id FROM person WHERE home_school_id = $1 LIMIT 1", [
    school,
  ]);
  const path = `/idm/ep/v1/schools/${school}`;
  return { app, user: `/idm/ep/v1/users/${rows[0]!.id}`, people: `${path}/people`, roster: `${path}/roster` };
}

/**
 * The statements that the service itself sends for these addresses; a record's for itself alone, without the company
 * of others.
 */
async function recordStatements(
  db: PrismaDb,
  { app, user, people, roster }: World,
): Promise<Record<string, Statement>> {
  const scopes = new Set(readScopes);
  let last: Statement | undefined;
  const client = {
    query: (statement: Statement) => ((last = statement), db.pool.query(statement)),
    release: () => undefined,
  };
  const pool = { options: {}, connect: async () => client } as unknown as pg.Pool;
  const router = makeIdmRouter({
    reading: makeReading({ pool, canceller: pool, isReplica: false }, readConfig({}).lists),
    changes: { pool, prisma: db.prisma },
    clock: () => new Date(),
    restoreWindowDays: 30,
    makePseudonym: () => "Kiesel Otter",
    checkToken: async () => ({
      kind: "valid",
      token: {
        clientId: app.clientId,
        personId: null,
        hasSecondFactor: false,
        namesRead: "all",
        ids: "shared",
        scopes,
      },
    }),
    document: await loadDocument("idm", "bench"),
    cursorKeys: [],
    log: silentLog,
    issuerUrl: "http://localhost",
    checkAnswers: false,
  });
  const server = express().use(router).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address() as { port: number };
  const statements: Record<string, Statement> = {};
  for (const path of [user, people, roster]) {
    await fetch(`http://127.0.0.1:${String(address.port)}${path}`, { headers: { authorization: "Bearer any" } });
    const { name, text, values } = last!;
    const alone = /LEFT JOIN LATERAL \((.*) OFFSET 0\) AS found ON true/s.exec(text)?.[1];
    statements[path] =
      alone === undefined
        ? { name, text, values }
        : {
            name,
            text: alone.replaceAll("asked.client", "$1::text").replaceAll("asked.id", "$2::uuid"),
            values: values.map((all) => (all as unknown[])[0]),
          };
  }
  server.close();
  return statements;
}

async function refuseDifference(
  ours: string,
  base: string,
  paths: string[],
  headers: Record<string, string>,
): Promise<void> {
  for (const path of paths) {
    const [left, right] = await Promise.all(
      [ours, base].map(async (url) => (await fetch(url + path, { headers })).text()),
    );
    if (left !== right) throw new Error(`the two sides answer different bytes for ${path}`);
  }
}
