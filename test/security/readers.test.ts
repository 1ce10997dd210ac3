// @module-tag slow
import { connect, type Socket } from "node:net";
import type pg from "pg";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { GroupId } from "../../src/directory/index.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { leastPoolSize } from "../../src/platform/database/share-sizes.ts";
import { idm, schulconnex } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { expectReady } from "../support/ready.ts";
import { startService, type TestService } from "../support/service.ts";
import { basic, getAppToken, getUserTokens, giveLogin, type Login, type TestApp } from "../support/token.ts";
import { waitWithoutEnd } from "../support/waiting.ts";

const listsPerApp = 8;
// The least pool: two lists are read at the same time, one of each app.
const env = {
  DATABASE_POOL_SIZE: String(leastPoolSize),
  LISTS_PER_APP: String(listsPerApp),
  LIST_STALL_SECONDS: "3",
  LIST_WAIT_SECONDS: "60",
};
// Some 20 MB, more than the buffers between two sockets hold.
const many = 2500;
const lines: string[] = [];
const log = makeLog({ level: "info", format: "json", to: { write: (line: string) => void lines.push(line) } });
let service: TestService;
let app: TestApp;
let tokens: { greedy: string; other: string };
let login: Login;
let paths: { long: string; short: string };

beforeAll(async () => {
  service = await startService({ env, log });
  waitWithoutEnd(service.shares.reads.pool);
  const make = makeMakers(service.db);
  const [greedy, other] = [await make.app(), await make.app()];
  app = other;
  const makeSchool = async (count: number) => {
    const school = await make.school();
    const { rows } = await service.db.pool.query<{ id: GroupId }>(
      `INSERT INTO "group" (id, school_id, name, sort_key, type, created_at, updated_at)
       SELECT gen_random_uuid(), $1, n || repeat(' long name', 18), n, 'KLASSE', now(), now() FROM generate_series(1, 30) n RETURNING id`,
      [school],
    );
    const groups = rows.map(({ id }) => id);
    // Before there are people whom the apps would have to be told of.
    for (const { clientId } of [greedy, other]) await make.grant({ app: clientId, school, groups });
    const [person] = await make.people({ school, count, groups });
    return { person: person!, path: `${idm}/schools/${school}/people` };
  };
  const [long, short] = [await makeSchool(many), await makeSchool(20)];
  await service.db.pool.query("ANALYZE");
  paths = { long: long.path, short: short.path };
  login = await giveLogin(service.db, short.person);
  tokens = {
    greedy: await getAppToken(service, greedy, ["people:read"]),
    other: await getAppToken(service, other, ["people:read"]),
  };
});

const read = (path: string, token: string) =>
  fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });

/** Sends a request and reads nothing. */
function open(path: string, token: string): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

const signInAsUsual = () => getUserTokens(service, app, login);

const eventually = <T>(observe: () => T) => expect.poll(observe);

const busyReaders = () => service.shares.reads.pool.totalCount - service.shares.reads.pool.idleCount;

async function countRunning(): Promise<number> {
  const { rows } = await service.db.pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()",
  );
  return rows[0]!.count;
}

/**
 * Lets statements that need a table wait until it is released: if not said otherwise, the groups which schools sync.
 */
async function holdLists(table = "synced_group"): Promise<() => Promise<void>> {
  const client = await service.db.pool.connect();
  await client.query(
    `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
  );
  // Ends the lock too where the test failed before.
  onTestFinished(() => client.release(true));
  return () => client.query("ROLLBACK").then(() => undefined);
}

/** The statements that wait for a lock, each by its process and start. */
async function listHeld(): Promise<string[]> {
  const { rows } = await service.db.pool.query<{ statement: string }>(
    `SELECT pid || ' ' || query_start AS statement FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ statement }) => statement);
}

test("300 readers who leave at once keep nobody from signing in, and nothing runs for them any more", async () => {
  await signInAsUsual();
  // Lists read it, and nobody who signs in.
  const release = await holdLists("view_version");
  const sockets = Array.from({ length: 300 }, (_, n) =>
    open(n % 2 ? paths.long : `${schulconnex}/personen-info`, tokens.greedy),
  );
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  await eventually(async () => (await listHeld()).length).toBe(1);
  const held = await listHeld();
  await signInAsUsual();
  // Who signs in waits for no reader: the same statement is still held.
  expect(await listHeld()).toEqual(held);
  sockets.forEach((socket) => socket.destroy());
  await signInAsUsual();
  await eventually(countRunning).toBe(0);
  await eventually(busyReaders).toBe(0);
  await release();
  expect((await read(paths.short, tokens.greedy)).status).toBe(200);
});

test("the statement of a caller who leaves is cancelled at the server, and its connection is used again", async () => {
  await read(paths.short, tokens.greedy);
  const opened = service.shares.reads.pool.totalCount;
  const release = await holdLists();
  const sockets = [`${idm}/schools`, paths.long, `${schulconnex}/personen-info`, `${paths.short}?limit=3`].map((path) =>
    open(path, tokens.other),
  );
  const record = open(`${idm}/people/${login.username.slice(5)}`, tokens.other);
  await eventually(countRunning).toBe(2);
  for (const socket of [...sockets, record]) socket.destroy();
  await eventually(countRunning).toBe(0);
  await eventually(busyReaders).toBe(0);
  await release();
  expect(service.shares.reads.pool.totalCount).toBeGreaterThanOrEqual(opened);
  expect((await read(paths.short, tokens.other)).status).toBe(200);
});

test("an app that asks for more lists at once than it may gets 429 for what is too much; another app still gets in", async () => {
  const release = await holdLists();
  const greedy = Array.from({ length: 20 }, () => read(paths.short, tokens.greedy));
  const refused: Response[] = [];
  for (const answer of greedy) void answer.then((response) => void (response.status === 429 && refused.push(response)));
  await eventually(() => refused.length).toBe(20 - listsPerApp);
  expect(refused[0]!.headers.get("retry-after")).toBe("5");
  expect(await refused[0]!.json()).toMatchObject({ status: 429, code: "too_many_requests" });
  const inGerman = await read(`${schulconnex}/personen-info`, tokens.greedy);
  expect([inGerman.status, inGerman.headers.get("retry-after"), await inGerman.json()]).toMatchObject([
    429,
    "5",
    { code: "429", subcode: "00" },
  ]);
  await eventually(countRunning).toBe(1);
  const other = read(paths.short, tokens.other);
  await eventually(countRunning).toBe(2);
  await release();
  expect((await other).status).toBe(200);
  const statuses = (await Promise.all(greedy)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(listsPerApp);
});

test("slow readers are cut off, do not look whole, and keep no other app from its lists", async () => {
  const cut = () =>
    lines.filter((line) => line.includes('"cut":true') && line.includes('"operation":"listSchoolPeople"')).length;
  const before = cut();
  // Few, because they are read in turns, and the last one waits a minute at most.
  const slow = Array.from({ length: 3 }, () => open(paths.long, tokens.greedy));
  const ends = slow.map((socket) => {
    const state = { tail: "", closed: false };
    const keep = (piece: Buffer | null) => void (state.tail = piece?.toString("latin1").slice(-100) ?? state.tail);
    socket.pause();
    const sip = setInterval(() => keep(socket.read(2048) as Buffer | null), 400);
    socket.on("close", () => (state.closed = true));
    const readRest = () => {
      clearInterval(sip);
      socket.on("data", keep).resume();
    };
    return { state, readRest };
  });
  await eventually(busyReaders).toBe(1);
  const whole = await read(paths.long, tokens.other);
  expect(((await whole.json()) as unknown[]).length).toBe(many);
  await eventually(() => cut() - before).toBe(3);
  ends.forEach(({ readRest }) => readRest());
  await eventually(() => ends.filter(({ state }) => state.closed).length).toBe(3);
  // Where it is cut is left to chance; only a whole list ends with the last chunk.
  for (const { state } of ends) expect(state.tail).not.toMatch(/\r\n0\r\n\r\n$/);
  await eventually(busyReaders).toBe(0);
  expect((await read(paths.short, tokens.greedy)).status).toBe(200);
});

test("a list that is taken steadily but longer than it may is cut off", async () => {
  const own = await startService({
    db: service.db,
    env: { ...env, LIST_STALL_SECONDS: "60", LIST_TOTAL_SECONDS: "4" },
  });
  const readSlowly = async () => {
    const response = await fetch(own.url + paths.long, { headers: { authorization: `Bearer ${tokens.other}` } });
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if ((await reader.read()).done) return "whole";
    }
  };
  await expect(readSlowly()).rejects.toThrow(/terminated|fetch failed/);
  await eventually(() => own.shares.reads.pool.totalCount - own.shares.reads.pool.idleCount).toBe(0);
});

test("what did not change is told without reading the list", async () => {
  const first = await read(paths.long, tokens.other);
  await first.text();
  const etag = first.headers.get("etag")!;
  const release = await holdLists();
  const ask = (method: string, tag: string) =>
    fetch(service.url + paths.long, {
      method,
      headers: { authorization: `Bearer ${tokens.other}`, "if-none-match": tag },
    });
  expect((await ask("GET", etag)).status).toBe(304);
  const head = await ask("HEAD", '"another"');
  expect([head.status, head.headers.get("etag")]).toEqual([200, etag]);
  await release();
});

async function takeAll(pool: pg.Pool): Promise<() => void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max! }, () => pool.connect()));
  return () => clients.forEach((client) => client.release());
}

const works = {
  health: () => expectReady(service.url),
  token: () => getAppToken(service, app, []),
  signIn: signInAsUsual,
  list: async () => expect((await read(paths.short, tokens.other)).status).toBe(200),
  changes: async () => expect((await read(`${idm}/changes`, tokens.other)).status).toBe(200),
};

test.each([
  ["checks", ["token", "signIn"]],
  ["signOn", ["health", "token", "list", "changes"]],
  ["tokens", ["health", "list", "changes"]],
  ["firstSignIns", ["health", "token", "signIn", "list", "changes"]],
  ["reads", ["health", "token", "signIn"]],
  ["changes", ["health", "token", "signIn", "list"]],
  ["jobs", ["health", "token", "signIn", "list", "changes"]],
] as const)("while every connection of %s is in use, %j go on", async (share, others) => {
  await signInAsUsual();
  const release = await takeAll(service.shares[share].pool);
  try {
    for (const work of others) await works[work]();
  } finally {
    release();
  }
});

test("who waits too long for a connection is told to try again later", async () => {
  const releases = await Promise.all(
    (["signOn", "tokens", "reads"] as const).map((share) => takeAll(service.shares[share].pool)),
  );
  try {
    const [page, token, list] = await Promise.all([
      fetch(`${service.url}/oauth2/auth?client_id=${app.clientId}`),
      fetch(`${service.url}/oauth2/token`, {
        method: "POST",
        headers: basic(app),
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      }),
      read(paths.short, tokens.other),
    ]);
    expect([page, token, list].map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
      [503, "5"],
      [400, "5"],
      [503, "5"],
    ]);
    expect(await token.json()).toMatchObject({ error: "server_error" });
  } finally {
    releases.forEach((release) => release());
  }
});

test("with the least pool everything works that a process does", async () => {
  for (const work of Object.values(works)) await work();
  for (const { name } of service.jobs) await service.runJob(name);
  await expect(
    startService({ db: service.db, env: { DATABASE_POOL_SIZE: String(leastPoolSize - 1) } }),
  ).rejects.toThrow(`Write a whole number from ${leastPoolSize} to 1000.`);
});
