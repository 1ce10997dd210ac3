import type { ServerOptions } from "node:http";
import { makeApp } from "../../src/app.ts";
import type { App } from "../../src/app.ts";
import { readConfig, settlePort } from "../../src/config/index.ts";
import type { Clock } from "../../src/platform/clock.ts";
import type { Log } from "../../src/platform/telemetry/log.ts";
import { openServer } from "../../src/platform/server/server.ts";
import { openShares, poolsOf, type DatabaseShares } from "../../src/platform/database/shares.ts";
import type { Exchange } from "../exchanges/check.ts";
import { observe } from "../exchanges/observe.ts";
import { isWatched, watchExchanges } from "../exchanges/watch.ts";
import { testDatabase } from "./database.ts";
import type { TestDatabase } from "./database.ts";
import { atFileEnd, empty } from "./file-end.ts";
import { openKeptPrisma } from "./kept-prisma.ts";
import { refuseSecondConnections } from "./one-connection.ts";
import { failureLog } from "./service-failures.ts";

export type TestClock = Clock & { set(to: Date | string): void; forwardSeconds(seconds: number): void };

export type TestService = {
  url: string;
  /** Connections of the test itself. */
  db: TestDatabase;
  shares: DatabaseShares;
  clock: TestClock;
  jobs: App["jobs"];
  /** Runs a job to its end. */
  runJob(name: string): Promise<unknown>;
  endWaits: App["endWaits"];
  openRosterDrop: App["openRosterDrop"];
  close(): Promise<void>;
};

type Wishes = {
  /** Configuration on top of the tests' own, as in the environment. */
  env?: Record<string, string>;
  /** A database made before, so that several services share one. */
  db?: TestDatabase;
  clock?: TestClock;
  log?: Log;
  /** Is told of each exchange. */
  tell?: (exchange: Exchange) => void;
  /** Of the HTTP server, where its own would end what a test holds open. */
  limits?: ServerOptions;
};

/** Stands still until it is told to move. */
export function makeTestClock(start: Date | string = "2026-02-03T08:00:00Z"): TestClock {
  let now = new Date(start);
  return Object.assign(() => new Date(now), {
    set: (to: Date | string) => void (now = new Date(to)),
    forwardSeconds: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
  });
}

/** Goes on as the machine's does: for tests in which others judge tokens and signatures by the real time. */
export function makeRunningClock(): TestClock {
  let aheadMs = 0;
  return Object.assign(() => new Date(Date.now() + aheadMs), {
    set: (to: Date | string) => void (aheadMs = new Date(to).getTime() - Date.now()),
    forwardSeconds: (seconds: number) => void (aheadMs += seconds * 1000),
  });
}

/**
 * The whole service on a free port of the loopback address, with a database of its own; ends with the test file. Jobs
 * run when a test runs them. Where tests are callers of the APIs, each exchange is held against the contract.
 */
export async function startService(wishes: Wishes = {}): Promise<TestService> {
  const db = wishes.db ?? (await testDatabase());
  const clock = wishes.clock ?? makeTestClock();
  const given = readConfig({ NODE_ENV: "test", PORT: "0", DEMO_WORLD: "false", ...wishes.env });
  // Idle connections stay open: on a busy machine a test might reuse one just as the server closes it.
  const limits = { keepAliveTimeout: 0, ...wishes.limits };
  const server = await openServer({ host: "localhost", port: given.port, limits });
  const config = settlePort(given, server.port);
  const { databaseReplicaUrl: replicaUrl, databaseReplicaMaxAgeSeconds: replicaMaxAgeSeconds } = config;
  const { databasePoolSize: poolSize, role, importConnectionsFor: importsAtOnce } = config;
  const shares = openShares({
    url: db.url,
    replicaUrl,
    replicaMaxAgeSeconds,
    poolSize,
    role,
    importsAtOnce,
    openPrisma: openKeptPrisma,
  });
  Object.values(poolsOf(shares)).forEach(refuseSecondConnections);
  const app = await makeApp(config, {
    clock,
    log: wishes.log ?? failureLog,
    shares,
    isStopping: server.isStopping,
    // Also on a busy machine, an answer has what was asked for.
    importWaitMs: 600_000,
  });
  const tell = wishes.tell ?? (isWatched() ? watchExchanges() : null);
  server.serve(tell ? observe(app.handler, tell) : app.handler);
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    app.endWaits();
    await server.stop(5);
    await app.close();
    await shares.close();
  };
  const url = `http://localhost:${server.port}`;
  const { jobs, endWaits, openRosterDrop } = app;
  const runJob = (name: string) => jobs.find((job) => job.name === name)!.run(new AbortController().signal);
  const service: TestService = { url, db, shares, clock, jobs, runJob, endWaits, openRosterDrop, close };
  atFileEnd(async () => {
    await close();
    empty(service);
  });
  return service;
}
