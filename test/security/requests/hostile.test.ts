import { connect } from "node:net";
import { expect, test } from "vitest";
import type { SchoolId } from "../../../src/directory/index.ts";
import { makeLog } from "../../../src/platform/log.ts";
import { registerEndpoint } from "../../../src/webhooks/index.ts";
import { makeStaff } from "../../support/admin.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { basic, getAppToken, getUserTokens } from "../../support/token.ts";
import { asked } from "../../support/walks.ts";
import { keys } from "../../support/webhooks.ts";
import { listPlaces, type Caller, type Ids, type Place } from "./operations.ts";
import { makeRandom, makeRequest, type Credentials, type Generated, type Kind } from "./make-request.ts";

const seed = asked.seed ?? 20_260_203;
const count = asked.runs ?? 1500;
const concurrency = 16;

const lines: string[] = [];
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

/** What the service answers until it closes the connection. */
function send({ bytes, pieces, isCut }: Generated): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ port: Number(new URL(service.url).port), host: "127.0.0.1" });
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    socket.on("error", () => undefined).on("close", () => resolve(answer));
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

const statement = String.raw`\b(?:SELECT|INSERT|UPDATE|DELETE)\b [^\n]{1,80}\b(?:FROM|INTO|SET|WHERE)\b`;
const inside = new RegExp(
  String.raw`\bat [^\n]{1,200}\.(?:ts|js):\d+|node_modules|${statement}|prisma|ECONNREFUSED`,
  "i",
);

function faultOf(answer: string): string | null {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
  if (status >= 500 && status !== 501) return `status ${status}`;
  const leaked = secrets.some((secret) => answer.includes(secret)) || answer.includes(process.cwd());
  if (leaked) return "a secret or a path of the machine";
  return status >= 400 && inside.test(answer) ? "the inside of the service" : null;
}

test("no generated request, however hostile, gets a failure or the inside of the service, and it stays ready", async () => {
  const [random, places] = [makeRandom(seed), await listAllPlaces()];
  const faults: string[] = [];
  const served = new Set<Caller>();
  const sent: Record<Kind, number> = { valid: 0, nearly: 0, hostile: 0, raw: 0 };
  let left = count;
  const sender = async () => {
    while (left-- > 0) {
      const request = makeRequest(random, places, credentials);
      sent[request.kind]++;
      const answer = await send(request);
      if (request.caller !== null && answer.startsWith("HTTP/1.1 2")) served.add(request.caller);
      const fault = answer === "" && !request.isCut ? "no answer" : faultOf(answer);
      if (fault !== null)
        faults.push(`${fault}: ${answer.slice(-400)} to ${request.bytes.toString("latin1").slice(0, 700)}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  const written = lines.join("\n");
  expect(faults.slice(0, 10)).toEqual([]);
  expect(lines.filter((line) => line.includes('"level":"error"')).slice(0, 10)).toEqual([]);
  expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
  expect([...served].sort()).toEqual(Object.keys(credentials).sort());
  expect(Object.values(sent).reduce((sum, number) => sum + number)).toBe(count);
  expect(Math.min(...Object.values(sent))).toBeGreaterThan(count / 20);
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  expect(await getAppToken(service, app, idmScopes)).toBeTypeOf("string");
});
