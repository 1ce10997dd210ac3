// @module-tag slow
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { openDatabaseServer, reachDatabase, startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { findUnfit } from "../../src/platform/postgres/reach.ts";
import { readConfig } from "../../src/config/index.ts";
import { explainFailure } from "../../src/failure.ts";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { runHere } from "../cli/program.ts";
import { emptyDatabase } from "../support/database.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { onServer, withDatabase } from "../support/test-server.ts";

const options = { say: () => undefined, patienceSeconds: 20 };

/** Answers the first message of every connection with these bytes. */
async function fakeServer(answer: Buffer, query = ""): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `postgresql://schultor:geheim@127.0.0.1:${(server.address() as AddressInfo).port}/schultor${query}`;
}

function errorMessage(code: string, message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

test("a server that is ready is taken as it is", async () => {
  const url = await emptyDatabase();
  const server = await openDatabaseServer({
    databaseUrl: url,
    databaseReplicaUrl: undefined,
    dataDir: "/nowhere",
    say: options.say,
  });
  expect(server).toMatchObject({ url, folder: null });
  await server.stop();
});

test("a server that takes fewer connections than the service may open is told, one that takes as many is not", async () => {
  const url = await emptyDatabase();
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  await reachDatabase(url, { ...options, say, connections: 20 });
  expect(said).toEqual([]);
  await reachDatabase(url, { ...options, say, connections: 100_000 });
  expect(said).toEqual([
    expect.stringMatching(/may open 100000 connections.* gives this role \d+\. .*DATABASE_POOL_SIZE/),
  ]);
});

test("a server that starts later than we do is waited for", async () => {
  const dataDir = makeDataDir();
  const first = await startEmbeddedPostgres({ dataDir, say: options.say });
  await first.stop();
  const reached = reachDatabase(first.url, { ...options, patienceSeconds: 60 });
  await sleep(700);
  const second = await startEmbeddedPostgres({ dataDir, say: options.say });
  await reached;
  await second.stop();
  removeDataDir(dataDir);
});

test("a server that never answers is given up after a bounded time, without its password in the message", async () => {
  const error = await reachDatabase("postgresql://schultor:geheim@127.0.0.1:1/schultor", {
    ...options,
    patienceSeconds: 1,
  }).catch(String);
  expect(error).toContain("PostgreSQL at 127.0.0.1:1/schultor did not answer for 1 s");
  expect(error).not.toContain("geheim");
});

test("a server that is still starting is waited for", async () => {
  const url = await fakeServer(errorMessage("57P03", "the database system is starting up"));
  await expect(reachDatabase(url, { ...options, patienceSeconds: 1 })).rejects.toThrow(
    "did not answer for 1 s: the database system is starting up",
  );
});

test("a replica that is away is told, and not waited for", async () => {
  const url = await emptyDatabase();
  const said: string[] = [];
  const away = "postgresql://schultor:geheim@127.0.0.1:1/schultor";
  const given = {
    databaseUrl: url,
    databaseReplicaUrl: away,
    dataDir: "/nowhere",
    say: (line: string) => void said.push(line),
  };
  await (await openDatabaseServer(given)).stop();
  expect(said.join("\n")).toMatch(/127\.0\.0\.1:1\/schultor did not answer.*The primary is read until it does\./);
  expect(said.join("\n")).not.toContain("geheim");
});

test("a wrong password is told at once", async () => {
  const url = await fakeServer(errorMessage("28P01", 'password authentication failed for user "schultor"'));
  const told = await reachDatabase(url, options).catch(String);
  expect(told).toMatch(
    /refuses the connection: password authentication failed.* Check user and password in DATABASE_URL/,
  );
  expect(told).not.toContain("geheim");
});

test("a database that does not exist is told at once", async () => {
  await expect(reachDatabase(withDatabase(inject("databaseServer").url, "no_such_database"), options)).rejects.toThrow(
    /"no_such_database" does not exist/,
  );
});

test("a database in another encoding than UTF-8 is refused", async () => {
  const { url } = inject("databaseServer");
  await onServer(
    url,
    "CREATE DATABASE schultor_test_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'",
  );
  onTestFinished(() => onServer(url, "DROP DATABASE schultor_test_ascii WITH (FORCE)"));
  await expect(reachDatabase(withDatabase(url, "schultor_test_ascii"), options)).rejects.toThrow(
    "its database is encoded in SQL_ASCII. Make one with ENCODING 'UTF8'",
  );
});

test("what a role may not do at the start is one sentence with what to do, from the service and the command line", async () => {
  const owner = await emptyDatabase();
  const name = new URL(owner).pathname.slice(1);
  const role = `role_${name.slice(-12)}`;
  const url = (settings: string) => {
    const changed = new URL(owner);
    changed.searchParams.set("options", settings);
    return changed.href;
  };
  await onServer(owner, `CREATE ROLE ${role}`);
  onTestFinished(() => onServer(owner, `DROP OWNED BY ${role}; DROP ROLE ${role}`));
  const start = async (databaseUrl: string) => {
    try {
      const server = { databaseUrl, dataDir: "/nowhere", connections: 20, say: options.say };
      await applyMigrations((await openDatabaseServer(server)).url, options);
      return "started";
    } catch (error) {
      return String(explainFailure(error, readConfig({}))).replace(/ at \S+/, "");
    }
  };
  const readOnly = url("-c default_transaction_read_only=on");
  const { code, err } = await runHere({ DATABASE_URL: readOnly })(["migrate"]);
  const told = [await start(url(`-c role=${role}`)), await start(readOnly), `${code} ${err.trim().split("\n").at(-1)}`];
  await onServer(owner, `ALTER DATABASE ${name} CONNECTION LIMIT 1`);
  told.push(await start(owner), await start(await fakeServer(Buffer.from("N"), "?sslmode=require")));
  await onServer(owner, `ALTER DATABASE ${name} CONNECTION LIMIT -1; GRANT CREATE ON SCHEMA public TO ${role}`);
  told.push(await start(url(`-c role=${role}`)));
  expect(told).toMatchInlineSnapshot(`
    [
      "PostgreSQL refuses: permission denied for schema public. The role in DATABASE_URL must own the database and its tables: ALTER DATABASE <name> OWNER TO <role>.",
      "PostgreSQL refuses: cannot execute CREATE TABLE in a read-only transaction. The service must write. DATABASE_URL must name the primary, without default_transaction_read_only for this role or database.",
      "1 cannot execute CREATE TABLE in a read-only transaction. The service must write. DATABASE_URL must name the primary, without default_transaction_read_only for this role or database.",
      "PostgreSQL gives this role 1 of the 15 connections that a process needs. Raise max_connections, or CONNECTION LIMIT of the role or database.",
      "PostgreSQL refuses the connection: The server does not support SSL connections. Turn on ssl there, or leave out sslmode in DATABASE_URL.",
      "The migration 0036_people_search failed, and nothing of it was kept: permission denied to create extension "pg_trgm". The role in DATABASE_URL must own the database and its tables: ALTER DATABASE <name> OWNER TO <role>. What runs of the version before goes on. Then run \`schultor migrate\` again.",
    ]
  `);
});

test("an error that is not the database's is not told as one", () => {
  expect(explainFailure(new TypeError("x is not a function"), readConfig({}))).toBeNull();
});

test("a server older than 15 is refused, and a standby unless it is the replica", () => {
  expect(findUnfit({ version: 14, encoding: "UTF8", standby: false }, false)).toBe(
    "it is version 14, and 15 or later is needed.",
  );
  expect(findUnfit({ version: 15, encoding: "UTF8", standby: true }, false)).toContain(
    "DATABASE_URL must name the primary",
  );
  expect(findUnfit({ version: 15, encoding: "UTF8", standby: true }, true)).toBeNull();
});
