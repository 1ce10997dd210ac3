// @module-tag model
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { SchoolId } from "../../../src/directory/index.ts";
import { makeLog } from "../../../src/platform/telemetry/log.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import { makeStaff } from "../../support/admin.ts";
import { demoApp, demoLogin, idm, idmScopes, startDemo } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { basic, getAppToken, getUserTokens } from "../../support/token.ts";
import { asked, walks, walkTimeoutMs } from "../../support/walks.ts";
import { keys } from "../../support/webhooks.ts";
import { listPlaces, type Caller, type Ids, type Place } from "./operations.ts";
import {
  makeRandom,
  makeRequest,
  makeValidRequest,
  type Credentials,
  type Generated,
  type Kind,
  type Random,
} from "./make-request.ts";
import { expectReady } from "../../support/ready.ts";

const seed = asked.seed ?? 20_260_205;
const count = walks(400, 80).numRuns!;
const concurrency = 16;

let lines: string[] = [];
const log = makeLog({ level: "debug", format: "json", to: { write: (line: string) => void lines.push(line) } });
const service = await startDemo({ log });
const app = demoApp("demo-lernapp");
const school = "a0000000-0000-4000-8000-000000000001" as SchoolId;
const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", ...idmScopes] });
const [support, operator] = [
  await makeStaff(service, "SUPPORT", { schoolIds: [school] }),
  await makeStaff(service, "OPERATOR"),
];
const tokens = {
  app: await getAppToken(service, app, idmScopes),
  user: user.access_token,
  support: await getAppToken(service, support.app, ["admin:read", "admin:write"]),
  operator: await getAppToken(service, operator.app, ["admin:read", "admin:write"]),
};
const credentials = {
  ...Object.fromEntries(Object.entries(tokens).map(([caller, token]) => [caller, `Bearer ${token}`])),
  client: basic(app)["authorization"]!,
} as Credentials;
const secrets = [
  ...[...Object.values(tokens), credentials.client.replace("Basic ", "")],
  ...[app, support.app, operator.app].map(({ clientSecret }) => clientSecret!),
  ...[demoLogin(2).password, user.id_token!],
];

/** What the operator may change and delete: nothing that the other callers need. */
async function makeTargets(): Promise<Ids> {
  const make = makeMakers(service.db);
  const schools = await make.school();
  const groups = await make.group({ school: schools });
  const people = await make.person({ school: schools, groups: [groups] });
  const { clientId } = await make.app();
  await make.grant({ app: clientId, school: schools, groups: [groups] });
  // It has an address, so that nobody waits for its deliveries.
  const { id } = await registerEndpoint(
    service.db,
    { clientId, url: "http://127.0.0.1:4999/hook", eventTypes: ["person"] },
    { origin: { at: service.clock(), actorId: "test" }, keys, policy: { allowPrivateAddresses: true } },
  );
  const ofApp = { apps: clientId, grants: clientId, catalogue: clientId, consents: clientId };
  return { schools, groups, people, members: people, ...ofApp, "webhook-endpoints": id };
}

async function listAllPlaces(): Promise<Place[]> {
  const ofOperator = (await listPlaces(await makeTargets())).filter(({ document }) => document === "admin");
  return [...(await listPlaces()), ...ofOperator.map((place) => ({ ...place, caller: "operator" as const }))];
}

type Reply = { answer: string; error: string | null };

/** What the service answers until it closes the connection, and with which error that ended, if with one. */
function send({ bytes, pieces, isCut }: Pick<Generated, "bytes" | "pieces" | "isCut">): Promise<Reply> {
  return new Promise((resolve) => {
    let answer = "";
    let error: string | null = null;
    const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => (error = code ?? null));
    socket.on("close", () => resolve({ answer, error }));
    const size = Math.ceil(bytes.length / pieces) || 1;
    const writeFrom = (from: number): void => {
      if (socket.destroyed) return;
      if (from + size >= bytes.length)
        return void (isCut ? socket.end(bytes.subarray(from)) : socket.write(bytes.subarray(from)));
      socket.write(bytes.subarray(from, from + size));
      setImmediate(() => writeFrom(from + size));
    };
    socket.once("connect", () => writeFrom(0)).setTimeout(30_000, () => socket.destroy());
  });
}

/**
 * Whether no answer at all is right. A server that refuses a request before it has read the body may close at once, and
 * a client that still sends then loses the answer with the connection. The same head without its body shows whether it
 * was refused.
 *
 * Source: RFC 9112 section 9.6.
 */
async function isRefusedUnread({ bytes }: Generated, { error }: Reply): Promise<boolean> {
  const end = bytes.indexOf("\r\n\r\n") + 4;
  if ((error !== "ECONNRESET" && error !== "EPIPE") || end === bytes.length) return false;
  const { answer } = await send({ bytes: bytes.subarray(0, end), pieces: 1, isCut: false });
  return /^HTTP\/1\.1 4\d\d [^]*\r\nconnection: close\r\n/i.test(answer);
}

const statement = String.raw`\b(?:SELECT|INSERT|UPDATE|DELETE)\b [^\n]{1,80}\b(?:FROM|INTO|SET|WHERE)\b`;
const inside = new RegExp(
  String.raw`\bat [^\n]{1,200}\.(?:ts|js):\d+|node_modules|${statement}|prisma|ECONNREFUSED`,
  "i",
);

/** Only Schulconnex has operations that are not offered. */
/** Their standards have endpoints that are not offered. */
const asksForStandard = ({ bytes }: Generated) =>
  /^\S+ \/(idm\/schulconnex|ims\/oneroster)\//i.test(bytes.toString("latin1", 0, 100));

function faultOf(request: Generated, answer: string): string | null {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
  if (status >= 500 && !(status === 501 && asksForStandard(request))) return `status ${status}`;
  const leaked = secrets.some((secret) => answer.includes(secret)) || answer.includes(process.cwd());
  if (leaked) return "a secret or a path of the machine";
  return status >= 400 && inside.test(answer) ? "the inside of the service" : null;
}

/** What of the lines since the last time must not be in a log. */
function takeFaultyLines(): string[] {
  const faulty = lines.filter(
    (line) => line.includes('"level":"error"') || secrets.some((secret) => line.includes(secret)),
  );
  lines = [];
  return faulty;
}

/** Units: megabytes, of what is in use after a collection. */
function measureHeap(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1e6;
}

/** The middle of 200 reads one after another. Units: milliseconds. */
async function measureRead(): Promise<number> {
  const took: number[] = [];
  for (let read = 0; read < 200; read++) {
    const startedAt = performance.now();
    const answer = await fetch(`${service.url}${idm}/schools`, { headers: { authorization: credentials.app } });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    took.push(performance.now() - startedAt);
  }
  return took.toSorted((one, other) => one - other)[100]!;
}

type Walk = {
  random: Random;
  places: Place[];
  faults: string[];
  faultyLines: string[];
  served: Set<Caller>;
  sent: Record<Kind, number>;
  statuses: Map<string, number>;
};

async function tryRequest(walk: Walk, request: Generated): Promise<void> {
  walk.sent[request.kind]++;
  const reply = await send(request);
  const { answer } = reply;
  if (request.caller !== null && answer.startsWith("HTTP/1.1 2")) walk.served.add(request.caller);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? "no answer";
  walk.statuses.set(status, (walk.statuses.get(status) ?? 0) + 1);
  const isLost = answer === "" && !request.isCut && !(await isRefusedUnread(request, reply));
  const fault = isLost ? `no answer, ${reply.error}` : faultOf(request, answer);
  if (fault !== null)
    walk.faults.push(`${fault}: ${answer.slice(-400)} to ${request.bytes.toString("latin1").slice(0, 700)}`);
  if (lines.length > 1000) walk.faultyLines.push(...takeFaultyLines());
}

/** Sends some of the requests, several at a time. */
async function walkOn(walk: Walk, some: number): Promise<void> {
  let left = some;
  const sender = async () => {
    while (left-- > 0) await tryRequest(walk, makeRequest(walk.random, walk.places, credentials));
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
}

test(
  "no generated request, however hostile, gets a failure or the inside of the service, and it stays ready",
  { timeout: walkTimeoutMs },
  async () => {
    const walk: Walk = {
      random: makeRandom(seed),
      places: await listAllPlaces(),
      faults: [],
      faultyLines: [],
      served: new Set<Caller>(),
      statuses: new Map<string, number>(),
      sent: { valid: 0, nearly: 0, hostile: 0, raw: 0 },
    };
    const quarter = Math.floor(count / 4);
    const isReported = asked.runs !== undefined;
    const readBefore = isReported ? await measureRead() : 0;
    await walkOn(walk, quarter);
    // Of a few requests it says nothing, and a collection takes long.
    const isLong = count >= 800;
    const heapBefore = isLong ? measureHeap() : 0;
    const startedAt = performance.now();
    await walkOn(walk, count - quarter);
    const seconds = (performance.now() - startedAt) / 1000;
    const heapAfter = isLong ? measureHeap() : 0;
    const readAfter = isReported ? await measureRead() : 0;
    walk.faultyLines.push(...takeFaultyLines());
    if (isReported) {
      const statuses = [...walk.statuses].toSorted().map(([status, number]) => `${status}: ${number}`);
      process.stdout.write(
        `${count} requests, seed ${seed}: ${JSON.stringify(walk.sent)}\nanswers ${statuses.join(", ")}\n` +
          `${Math.round((count - quarter) / seconds)} requests/s; heap after a quarter ${heapBefore.toFixed(0)} MB, at the end ${heapAfter.toFixed(0)} MB; ` +
          `a read took ${readBefore.toFixed(2)} ms before, ${readAfter.toFixed(2)} ms after\n`,
      );
    }
    expect(walk.faults.slice(0, 10)).toEqual([]);
    expect(walk.faultyLines.slice(0, 10)).toEqual([]);
    expect(Object.values(walk.sent).reduce((sum, number) => sum + number)).toBe(count);
    expect(Math.min(...Object.values(walk.sent))).toBeGreaterThan(count / 20);
    // Of a caller with few operations, none of the random requests may be one that is served.
    for (const place of walk.places)
      if (!walk.served.has(place.caller)) await tryRequest(walk, makeValidRequest(walk.random, place, credentials));
    expect([...walk.served].sort()).toEqual(Object.keys(credentials).sort());
    expect(heapAfter).toBeLessThan(heapBefore + 100);
    await expectReady(service.url);
    expect(await getAppToken(service, app, idmScopes)).toBeTypeOf("string");
  },
);
