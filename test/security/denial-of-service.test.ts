// @module-tag slow
import { connect, type Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { leastPoolSize } from "../../src/platform/database/share-sizes.ts";
import { poolsOf } from "../../src/platform/database/shares.ts";
import { admin, makeStaff } from "../support/admin.ts";
import { demoApp, demoLogin, idm, idmScopes, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import { inBatches } from "../support/in-batches.ts";
import { expectReady } from "../support/ready.ts";
import { startReceiver } from "../support/receiver.ts";
import { getAppToken, getUserTokens } from "../support/token.ts";
import { startWebhooks } from "../support/webhooks.ts";
import { listPlaces, type Place } from "./requests/operations.ts";

// What a caller sends to keep the service from others, each beside a client that behaves and must be answered.
// test/security/README.md lists what other files try.
const service = await startDemo({
  env: { DATABASE_POOL_SIZE: String(leastPoolSize) },
  // A busy machine may take longer for what is asked beside connections that are held.
  limits: { headersTimeout: 600_000, requestTimeout: 600_000, keepAliveTimeout: 600_000 },
});
const port = Number(new URL(service.url).port);
const app = demoApp("demo-lernapp");
const operator = await makeStaff(service, "OPERATOR");
const tokens = {
  app: await getAppToken(service, app, idmScopes),
  operator: await getAppToken(service, operator.app, ["admin:read", "admin:write"]),
};
const places = await listPlaces();

/** What a client that behaves asks for: readiness, a page, a token, a list, the staff's list, a whole sign-on. */
async function behave(): Promise<void> {
  const read = async (path: string, token = "") =>
    (await fetch(service.url + path, { headers: token === "" ? {} : { authorization: `Bearer ${token}` } })).status;
  await expectReady(service.url);
  expect(await read("/sign-in")).toBe(200);
  expect(await read(`${idm}/schools`, await getAppToken(service, app, idmScopes))).toBe(200);
  expect(await read(`${admin}/schools`, tokens.operator)).toBe(200);
  expect((await getUserTokens(service, app, demoLogin(2))).access_token).toBeTypeOf("string");
}

/** Does the work while a client that behaves asks for everything twice. */
async function besides<T>(work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.all([work(), behave().then(behave)]);
  return done;
}

const connectionsInUse = () =>
  Object.values(poolsOf(service.shares)).reduce((sum, { totalCount, idleCount }) => sum + totalCount - idleCount, 0);

/** Opens connections, from as many addresses, and sends the same beginning on each. */
async function hold(beginning: string, { connections = 100, addresses = 1 } = {}): Promise<Socket[]> {
  const sockets = Array.from({ length: connections }, (_, index) =>
    connect({ port, host: "127.0.0.1", localAddress: `127.0.1.${1 + (index % addresses)}` }),
  );
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  const sent = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        socket.once("error", reject).once("connect", () => socket.write(beginning, () => resolve()));
      }),
  );
  await Promise.all(sent);
  return sockets;
}

const head = (line: string, ...headers: string[]) => `${[`${line} HTTP/1.1`, "Host: x", ...headers].join("\r\n")}\r\n`;
const ofOperator = `Authorization: Bearer ${tokens.operator}`;
const form = "Content-Type: application/x-www-form-urlencoded";
const beginnings: [name: string, text: string][] = [
  ["that send nothing", ""],
  ["with half a request line", "GET /idm/e"],
  ["with half of their headers", head("GET /health/live", "X-Long: a")],
  ["with half a form for a token", `${head("POST /oauth2/token", form, "Content-Length: 500")}\r\ngrant_type=`],
  ["with half a form to sign in", `${head("POST /sign-in", form, "Content-Length: 500")}\r\nusername=`],
  ["with half an authorization request", `${head("POST /oauth2/auth", form, "Content-Length: 500")}\r\nclient_id=`],
  [
    "with half a record of the staff",
    `${head(`POST ${admin}/schools`, ofOperator, "Content-Type: application/json", "Transfer-Encoding: chunked")}\r\n5\r\n{"a":\r\n`,
  ],
  [
    "with half a file",
    `${head(`POST ${admin}/imports?format=csv`, ofOperator, "Content-Type: application/octet-stream", "Content-Length: 60000000")}\r\nid;`,
  ],
  ["that were answered and stay", `${head("GET /health/live")}\r\n`],
];

test("hundreds of connections, from one address and from a hundred, keep nobody from anything", async () => {
  const held = await Promise.all([
    ...beginnings.map(([, text]) => hold(text)),
    hold(head("GET /health/live", "X-Long: a"), { addresses: 100 }),
  ]);
  await behave();
  await expect.poll(connectionsInUse).toBe(0);
  const closed = held.map((sockets) => sockets.filter(({ destroyed }) => destroyed).length);
  expect(closed).toEqual(held.map(() => 0));
});

test("500 connections that come and go at once leave nothing behind", async () => {
  await besides(async () => {
    const sockets = await hold(head("GET /health/live"), { connections: 500 });
    sockets.forEach((socket) => socket.resetAndDestroy());
  });
  await expect.poll(connectionsInUse).toBe(0);
});

type Sent = { headers?: Record<string, string>; body: string | Buffer };

async function send(place: Place, { headers = {}, body }: Sent): Promise<number> {
  const response = await fetch(service.url + place.path, {
    method: place.method,
    redirect: "manual",
    headers: {
      authorization: `Bearer ${place.document === "admin" ? tokens.operator : tokens.app}`,
      "content-type": place.body!.type,
      "if-match": "*",
      ...headers,
    },
    body: body as string,
  });
  await response.arrayBuffer();
  return response.status;
}

const jsonPlaces = (place: Place) => place.body!.type === "application/json";
const withBody = places.filter(({ body, statuses }) => body !== null && !statuses.includes(501));
const isRefusal = (status: number) => status >= 400 && status < 500;
type Outcome = { wrong: string[]; byPlace: Map<string, number[]> };

/** Each operation that takes a body, with each of the bodies; the answers that are not refusals, and all statuses. */
async function sendToAll(makeBodies: (place: Place) => Sent[]): Promise<Outcome> {
  const [wrong, byPlace] = [[] as string[], new Map<string, number[]>()];
  const tryOn = async (place: Place) => {
    for (const [index, sent] of makeBodies(place).entries()) {
      const status = await send(place, sent);
      byPlace.set(place.id, [...(byPlace.get(place.id) ?? []), status]);
      if (!isRefusal(status)) wrong.push(`${place.document} ${place.id} ${index}: ${status}`);
    }
  };
  await inBatches(withBody, tryOn, 4);
  return { wrong, byPlace };
}

test("a compressed body counts with what it unpacks to, wherever a body is taken", async () => {
  const plain = Buffer.alloc(1_000_000, " ");
  const packed = { gzip: gzipSync(plain), br: brotliCompressSync(plain) };
  const { wrong, byPlace } = await besides(() =>
    sendToAll(() =>
      Object.entries(packed).map(([encoding, body]) => ({ headers: { "content-encoding": encoding }, body })),
    ),
  );
  expect(wrong).toEqual([]);
  const ofJson = withBody.filter((place) => place.document === "admin" && jsonPlaces(place));
  expect(ofJson.filter(({ id }) => byPlace.get(id)!.some((status) => status !== 413)).map(({ id }) => id)).toEqual([]);
});

const deep = (open: string, close: string, times: number) => `${open.repeat(times)}1${close.repeat(times)}`;
const deepBody = deep("[", "]", 120_000);
const deepProperty = deep("[", "]", 20_000);

test("JSON that is nested 120,000 deep, or 20,000 in a property, is refused", async () => {
  const { wrong, byPlace } = await besides(() =>
    sendToAll((place) => {
      if (!jsonPlaces(place)) return [];
      const example = JSON.parse(place.body!.text) as object;
      const names = Array.isArray(example) ? [] : Object.keys(example).slice(0, 1);
      const inProperty = names.map((name) =>
        JSON.stringify({ ...example, [name]: "deep" }).replace('"deep"', () => deepProperty),
      );
      return [deepBody, ...inProperty].map((body) => ({ body }));
    }),
  );
  expect(wrong).toEqual([]);
  expect(byPlace.size).toBeGreaterThan(20);
});

type Leaf = { value: unknown; put(value: unknown): unknown };

/** The values of an example that are no object, each with the example that has another in its place. */
function listLeaves(value: unknown): Leaf[] {
  if (typeof value !== "object" || value === null) return [{ value, put: (other) => other }];
  const copyWith = (name: string, other: unknown) =>
    Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
  return Object.entries(value).flatMap(([name, part]) =>
    listLeaves(part).map((leaf) => ({ ...leaf, put: (other) => copyWith(name, leaf.put(other)) })),
  );
}

// Times that look like those of the contract and are none, or that no column takes.
const oddTimes = ["2026-19-39T29:69:69Z", "2026-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"];
const isTime = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value);
const ids = /(?<=\/)([0-9a-f-]{36}|demo-lernapp)/g;

test("what PostgreSQL cannot store is refused in any body, and is no failure in any path or query", async () => {
  const { wrong } = await sendToAll((place) => {
    if (!jsonPlaces(place)) return [];
    const leaves = listLeaves(JSON.parse(place.body!.text));
    const time = leaves.find(({ value }) => isTime(value));
    const number = leaves.find(({ value }) => typeof value === "number");
    const texts = leaves.filter(({ value }) => typeof value === "string");
    return [
      ...[texts.at(0)?.put("a\0b"), texts.at(-1)?.put("a\ud800b"), ...oddTimes.map((odd) => time?.put(odd))],
      number?.put(9_007_199_254_740_993),
    ]
      .filter((body) => body !== undefined)
      .map((body) => ({ body: JSON.stringify(body) }));
  });
  expect(wrong).toEqual([]);
  const failed: string[] = [];
  const ask = async (place: Place, path: string) => {
    const { method, body } = place;
    const authorization = `Bearer ${place.document === "admin" ? tokens.operator : tokens.app}`;
    const headers = { authorization, ...(body !== null && { "content-type": body.type }) };
    const answer = await fetch(service.url + path, { method, headers, body: body?.text ?? null, redirect: "manual" });
    await answer.arrayBuffer();
    if (answer.status >= 500 && answer.status !== 501) failed.push(`${method} ${path.slice(0, 200)}: ${answer.status}`);
  };
  await inBatches(places, async (place) => {
    if (place.path.search(ids) !== -1) await ask(place, place.path.replaceAll(ids, "a%00b"));
    if (place.method !== "GET") return;
    // Numbers, ids and truth values are those of test/security/every-operation.test.ts.
    const texts = place.query.filter(([, example]) => isTime(example) || /^[a-z]/i.test(example));
    for (const [name, example] of texts)
      for (const value of isTime(example) ? oddTimes.map(encodeURIComponent) : ["a%00b"])
        await ask(place, `${place.path}?${name}=${value}`);
  });
  expect(failed).toEqual([]);
});

const names = Array.from({ length: 9_000 }, (_, index) => index);
/** Names that are numbers have a hash of their own in V8; the others share a beginning. */
const manyKeys = {
  numbers: names.map((index) => String(index * 16_777_216)),
  texts: names.map((index) => `a${index.toString(36)}`),
};

test("very many names in JSON, a form, a query or cookies are refused or passed over", async () => {
  const answers = await besides(async () => {
    const { wrong } = await sendToAll((place) =>
      Object.values(manyKeys).map((keys) => ({
        body: jsonPlaces(place)
          ? `{${keys.map((key) => `"${key}":1`).join(",")}}` // prettier-ignore
          : keys.map((key) => `${key}=1`).join("&"),
      })),
    );
    const statuses: number[] = [];
    for (const keys of Object.values(manyKeys)) {
      const fields = keys.slice(0, 1000).map((key) => `${key}=1`);
      const [cookie, query] = ["; ", "&"].map((between) => fields.join(between).slice(0, 14_000)) as [string, string];
      for (const path of ["/oauth2/auth", "/sign-in", "/oauth2/sessions/logout", `${idm}/schools`, "/"]) {
        statuses.push((await fetch(`${service.url}${path}?${query}`, { redirect: "manual" })).status);
        statuses.push((await fetch(service.url + path, { headers: { cookie }, redirect: "manual" })).status);
      }
    }
    return { wrong, statuses };
  });
  expect(answers.wrong).toEqual([]);
  expect(answers.statuses.filter((status) => status >= 500)).toEqual([]);
});

test("headers of more than 16 kB are refused before anything reads them, on every path", async () => {
  const statuses = await besides(() =>
    Promise.all(
      ["/", "/sign-in", "/oauth2/auth", "/oauth2/token", `${idm}/schools`, `${admin}/schools`].flatMap((path) =>
        [{ cookie: `_session=${"a".repeat(17_000)}` }, { "x-long": "b".repeat(17_000) }].map(
          async (headers) => (await fetch(service.url + path, { headers })).status,
        ),
      ),
    ),
  );
  expect(new Set(statuses)).toEqual(new Set([431]));
});

test("60 strangers who try passwords at once are all answered, and so is who signs in beside them", async () => {
  const statuses = await besides(() =>
    Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const browser = makeBrowser(service.url);
        const page = await browser.open("/sign-in");
        const fields = { username: `stranger-${index}`, password: "x".repeat(100) };
        return (await browser.submit(page, "/sign-in", fields)).status;
      }),
    ),
  );
  expect(statuses.filter((status) => status >= 500 && status !== 503)).toEqual([]);
  expect(statuses.filter((status) => status < 400)).toEqual([]);
});

test("more webhook endpoints that never answer than are called at once keep no other endpoint from its events", async () => {
  const hooks = await startWebhooks({ settings: { concurrency: 4, timeoutMs: 200 } });
  const receiver = await startReceiver((call, response) =>
    call.path === "/hang" ? null : response.writeHead(204).end(),
  );
  const [hostile, other] = [await hooks.app(), await hooks.app()];
  for (let made = 0; made < 10; made++) await hooks.endpoint({ clientId: hostile, url: `${receiver.url}/hang` });
  await hooks.endpoint({ clientId: other, url: `${receiver.url}/well` });
  await hooks.tell(...Array.from({ length: 3 }, () => ({ clientId: hostile })), { clientId: other });
  const countAt = (at: string) => receiver.received.filter(({ path }) => path === at).length;
  // On a busy machine the other endpoint may be late too, and is then tried again.
  const tryAgain = async () => {
    await hooks.settle();
    hooks.clock.forwardSeconds(10);
    return countAt("/well");
  };
  await expect.poll(tryAgain).toBeGreaterThan(0);
  expect(countAt("/hang")).toBeGreaterThanOrEqual(4);
});
