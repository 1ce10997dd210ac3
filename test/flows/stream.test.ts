// @module-tag slow
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { idm, makeReader, type Reader } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { startMain } from "../support/program.ts";
import { startService, type TestService } from "../support/service.ts";
import { getAppToken, type TestApp } from "../support/token.ts";

/** The list has some 30 MB, more than the process has room for beside the service. */
const [many, heapMb] = [4000, 110];
let service: TestService;
let app: TestApp;
let token: string;
let read: Reader;
let paths: { short: string; middle: string; long: string };

beforeAll(async () => {
  service = await startService();
  const make = makeMakers(service.db);
  app = await make.app();
  const makeSchool = async (count: number, groupsEach: number) => {
    const school = await make.school();
    const groups = await Promise.all(
      Array.from({ length: 30 }, (_, n) => make.group({ school, name: `${String(n)} ${"long name ".repeat(19)}` })),
    );
    // Before there are people whom the app would have to be told of.
    await make.grant({ app: app.clientId, school, groups });
    await make.people({ school, count, groups, groupsEach });
    return `${idm}/schools/${school}/people`;
  };
  paths = { short: await makeSchool(50, 3), middle: await makeSchool(2500, 1), long: await makeSchool(many, 30) };
  await service.db.pool.query("ANALYZE");
  token = await getAppToken(service, app, ["people:read"]);
  read = makeReader(service, token);
});

/** Sends a request and leaves the body where it is. */
async function open(path: string, method = "GET", by = { url: service.url, token }): Promise<IncomingMessage> {
  const sent = request(by.url + path, { method, headers: { authorization: `Bearer ${by.token}` }, agent: false });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  sent.on("error", () => undefined);
  return response;
}

const connections = () => ({ idle: service.shares.reads.pool.idleCount, all: service.shares.reads.pool.totalCount });
const busy = () => connections().all - connections().idle;

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await sleep(20);
  }
}

/** Reads a body piece by piece and keeps only its length and its ends. */
async function drain(response: IncomingMessage) {
  let [length, first, last] = [0, "", ""];
  for await (const piece of response as AsyncIterable<Buffer>) {
    if (length === 0) first = piece.toString("utf8", 0, 2);
    length += piece.length;
    last = (last + piece.toString("utf8", Math.max(0, piece.length - 2))).slice(-2);
  }
  return { length, ends: [first, last] };
}

test("a list of 30 MB is read by a process that has no room for it", async () => {
  const env = { ROLE: "web", LOG_LEVEL: "warn", NODE_OPTIONS: `--max-old-space-size=${heapMb}` };
  const { url } = await startMain({ DATABASE_URL: service.db.url, ...env });
  // Its clock is not that of the tests, so it needs a token of its own.
  const call = { url, token: await getAppToken({ url }, app, ["people:read"]) };
  const response = await open(paths.long, "GET", call);
  const { length, ends } = await drain(response);
  expect([ends, response.headers["transfer-encoding"]]).toEqual([["[{", "}]"], "chunked"]);
  expect(length).toBeGreaterThan(27_500_000);
});

test("a long list is the same whole as in pages, and has nobody twice", async () => {
  type Item = { id: string };
  const whole = (await read(paths.middle)).body as Item[];
  const paged: string[] = [];
  let next: string | undefined = `${paths.middle}?limit=1000`;
  for (let page = 0; next !== undefined && page < 3; page++) {
    const { body, headers } = await read(next);
    paged.push(...(body as Item[]).map(({ id }) => id));
    next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  expect(new Set(whole.map(({ id }) => id)).size).toBe(2500);
  expect(paged).toEqual(whole.map(({ id }) => id));
});

test("a long list has a strong ETag that HEAD tells too: 304 while nothing changed, another one after a change", async () => {
  const head = await open(paths.long, "HEAD");
  const etag = head.headers.etag!;
  expect(await read(paths.long, { "if-none-match": etag })).toMatchObject({ status: 304, body: null });
  const school = paths.long.split("/").at(-2);
  await service.db.pool.query(
    "UPDATE person SET first_call = 'Neu' WHERE id = (SELECT person_id FROM affiliation WHERE school_id = $1 LIMIT 1)",
    [school],
  );
  const changed = await open(paths.long, "HEAD");
  expect(changed.headers.etag).not.toBe(etag);
});

test("a caller who goes away gives the connection free, early or late", async () => {
  for (const afterBytes of [0, 1_000_000]) {
    await until(() => busy() === 0);
    const sent = request(service.url + paths.long, { headers: { authorization: `Bearer ${token}` }, agent: false });
    sent.on("error", () => undefined);
    sent.end();
    if (afterBytes === 0) await until(() => busy() > 0);
    else {
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.on("error", () => undefined);
      let got = 0;
      for await (const piece of response as AsyncIterable<Buffer>) if ((got += piece.length) > afterBytes) break;
    }
    sent.destroy();
    await until(() => busy() === 0);
  }
  expect((await read(paths.short)).status).toBe(200);
});

test("a list that breaks off on our side does not look whole", async () => {
  const response = await open(paths.long);
  let ended = "";
  // Listens before that: an error without a listener is not emitted again.
  response.on("end", () => (ended = "end")).on("error", () => (ended = "error"));
  // Most of the list waits until somebody reads its beginning.
  await service.db.pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()",
  );
  response.resume();
  await until(() => ended !== "");
  expect(ended).toBe("error");
  await until(() => busy() === 0);
  // Until every pool has noticed that its connections are gone, a read may be answered 503.
  await expect.poll(async () => (await read(paths.short)).status).toBe(200);
});
