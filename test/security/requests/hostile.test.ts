import { connect } from "node:net";
import { expect, test } from "vitest";
import type { SchoolId } from "../../../src/directory/index.ts";
import { makeLog } from "../../../src/platform/log.ts";
import { makeStaff } from "../../support/admin.ts";
import { demoApp, demoLogin, idmScopes, startDemo } from "../../support/api.ts";
import { basic, getAppToken, getUserTokens } from "../../support/token.ts";
import { asked } from "../../support/walks.ts";
import { listPlaces } from "./operations.ts";
import { makeRandom, makeRequest, type Generated, type Kind } from "./make-request.ts";

const seed = asked.seed ?? 20_260_203;
const count = asked.runs ?? 1500;
const concurrency = 16;

const lines: string[] = [];
const log = makeLog({ level: "debug", format: "json", to: { write: (line: string) => void lines.push(line) } });
const service = await startDemo({ log });
const app = demoApp("demo-lernapp");
const school = "a0000000-0000-4000-8000-000000000001" as SchoolId;
const user = await getUserTokens(service, app, demoLogin(2), { scopes: ["openid", ...idmScopes] });
const staff = await makeStaff(service, "SUPPORT", { schoolIds: [school] });
const credentials = {
  app: await getAppToken(service, app, idmScopes),
  user: user.access_token,
  staff: await getAppToken(service, staff.app, ["admin:read", "admin:write"]),
  basic: basic(app)["authorization"]!,
};
const secrets = [
  ...Object.values(credentials).map((value) => value.replace("Basic ", "")),
  ...[app.clientSecret!, staff.app.clientSecret!, demoLogin(2).password, user.id_token!],
];

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
  const [random, places] = [makeRandom(seed), await listPlaces()];
  const faults: string[] = [];
  const sent: Record<Kind, number> = { valid: 0, nearly: 0, hostile: 0, raw: 0 };
  let left = count;
  const sender = async () => {
    while (left-- > 0) {
      const request = makeRequest(random, places, credentials);
      sent[request.kind]++;
      const answer = await send(request);
      const fault = answer === "" && !request.isCut ? "no answer" : faultOf(answer);
      if (fault !== null)
        faults.push(`${fault}: ${answer.slice(-400)} to ${request.bytes.toString("latin1").slice(0, 700)}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  const written = lines.join("\n");
  expect(faults.slice(0, 10)).toEqual([]);
  expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
  expect(Object.values(sent).reduce((sum, number) => sum + number)).toBe(count);
  expect(Math.min(...Object.values(sent))).toBeGreaterThan(count / 20);
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  expect(await getAppToken(service, app, idmScopes)).toBeTypeOf("string");
});
