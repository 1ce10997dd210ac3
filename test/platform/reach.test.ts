// @module-tag slow
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { openDatabaseServer, reachDatabase, startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { findUnfit } from "../../src/platform/postgres/reach.ts";
import { emptyDatabase } from "../support/database.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { onServer, withDatabase } from "../support/test-server.ts";

const options = { say: () => undefined, patienceSeconds: 20 };

/** Answers the first message of every connection with these bytes. */
async function fakeServer(answer: Buffer): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `postgresql://schultor:geheim@127.0.0.1:${(server.address() as AddressInfo).port}/schultor`;
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
  await reachDatabase(url, { ...options, say, connections: 1 });
  expect(said).toEqual([]);
  await reachDatabase(url, { ...options, say, connections: 100_000 });
  expect(said).toEqual([expect.stringMatching(/may open 100000 connections.* takes \d+ of all.* DATABASE_POOL_SIZE/)]);
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
  expect(told).toMatch(/refuses the connection: password authentication failed.* Check DATABASE_URL/);
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

test("a server older than 15 is refused, and a standby unless it is the replica", () => {
  expect(findUnfit({ version: 14, encoding: "UTF8", standby: false }, false)).toBe(
    "it is version 14, and 15 or later is needed.",
  );
  expect(findUnfit({ version: 15, encoding: "UTF8", standby: true }, false)).toContain(
    "DATABASE_URL must name the primary",
  );
  expect(findUnfit({ version: 15, encoding: "UTF8", standby: true }, true)).toBeNull();
});
