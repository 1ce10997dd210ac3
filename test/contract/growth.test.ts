// @module-tag slow
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import pg from "pg";
import { sweepBatch } from "../../src/platform/jobs/batches.ts";
import { testDatabase } from "../support/database.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { oldRows } from "./old-rows.ts";

const db = await testDatabase();
const growth = readFileSync("prisma/GROWTH.md", "utf8");

type Line = { tables: string[]; cells: string[] };

const [described, removal] = growth.split("\n## What removes the rows\n") as [string, string];

const lines: Line[] = described
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .map((cells) => ({ tables: [...cells[0]!.matchAll(/`([a-z_]+)`/g)].map(([, table]) => table!), cells }));

test("every table of the database has a line that says who makes it grow, until when, and what bounds it", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition AND relname <> '_prisma_migrations'`,
  );
  const named = new Set(lines.flatMap(({ tables }) => tables));
  expect([...named].sort()).toEqual(rows.map(({ name }) => name).sort());
  for (const { cells } of lines)
    expect(
      cells.filter((cell) => cell !== ""),
      cells[0],
    ).toHaveLength(5);
});

test("every kind of artifact that is stored has a line", () => {
  const kinds = lines
    .filter(({ tables }) => tables.includes("oidc_artifact"))
    .flatMap(({ cells }) => [...cells[0]!.matchAll(/\b[A-Z]\w+/g)].map(([kind]) => kind));
  expect(kinds.sort()).toEqual([
    "AccessToken",
    "AuthorizationCode",
    "ClientCredentials",
    "Interaction",
    "RefreshToken",
    "Session",
  ]);
});

const sweeps = removal
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => [...cell.matchAll(/`([A-Za-z_.-]+)`/g)].map(([, name]) => name!)))
  .map(([, job, , tables]) => ({ job: job![0]!, tables: tables! }));

test("every table whose rows are kept for a time has a job that removes them", () => {
  const keptForATime = lines
    .filter(({ cells }) => /\b(second|minute|hour|day)s?\b|`[A-Z_]+`/.test(cells[3]!))
    .flatMap(({ tables }) => tables);
  const swept = new Set(sweeps.flatMap(({ tables }) => tables));
  const missing = keptForATime.filter((name) => !swept.has(name) && !removedElsewhere.includes(name));
  expect(missing).toEqual([]);
});

/** Tables whose rows go one by one, or by what is done with them. */
const removedElsewhere = ["person", "credential_batch_person", "sandbox", "sandbox_step"].concat(
  ...["webhook_endpoint", "webhook_secret", "logout_notice"],
);

test("each job that removes rows removes those that are old, and no statement of it more than a batch", async () => {
  const clock = makeTestClock("2026-02-03T08:00:00Z");
  const service = await startService({ db, clock });
  const send = pg.Client.prototype.query;
  const largest = { text: "", rows: 0 };
  const note = ({ rowCount, command, rows }: Partial<pg.QueryResult<{ gone?: number }>>, text: unknown) => {
    const met = command === "DELETE" || command === "UPDATE" ? (rowCount ?? 0) : (rows?.[0]?.gone ?? 0);
    if (met > largest.rows) Object.assign(largest, { text: JSON.stringify(text), rows: met });
  };
  // A pool asks its clients with a callback, a transaction for a promise.
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const answer = args.at(-1);
    if (typeof answer === "function")
      args[args.length - 1] = (error: unknown, result?: pg.QueryResult) => {
        note(result ?? {}, args[0]);
        (answer as (...given: unknown[]) => void)(error, result);
      };
    const sent = Reflect.apply(send, this, args) as unknown;
    if (sent instanceof Promise)
      void sent.then(
        (result: pg.QueryResult) => note(result, args[0]),
        () => undefined,
      );
    return sent as never;
  } as typeof send;
  try {
    for (const { job, tables } of sweeps) {
      const found = service.jobs.find(({ name }) => name === job);
      expect(found, job).toBeDefined();
      for (const table of tables) {
        if (removedElsewhere.includes(table)) continue;
        const rows = oldRows[table];
        expect(rows, `${table} has no old rows in old-rows.ts`).toBeDefined();
        await db.pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${rows!.insert}; COMMIT`);
        expect((await db.pool.query(`SELECT FROM ${table} WHERE ${rows!.areOld}`)).rowCount).toBeGreaterThan(
          sweepBatch,
        );
        largest.rows = 0;
        await found!.run(new AbortController().signal);
        expect((await db.pool.query(`SELECT FROM ${table} WHERE ${rows!.areOld}`)).rowCount, `${job}: ${table}`).toBe(
          0,
        );
        expect(largest.rows, largest.text).toBeLessThanOrEqual(sweepBatch);
      }
    }
  } finally {
    pg.Client.prototype.query = send;
  }
});
