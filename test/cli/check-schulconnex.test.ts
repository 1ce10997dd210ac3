import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectations } from "../../clients/tools/src/check-schulconnex/expectations.ts";
import standard from "../../clients/tools/src/check-schulconnex/standard.json" with { type: "json" };
import { codesOf } from "../../src/schulconnex/codes.ts";
import type { Verdict } from "../../clients/tools/src/check-schulconnex/findings.ts";
import { examine, type CheckSchulconnexSettings } from "../../clients/tools/src/check-schulconnex/index.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { demoApp, demoLogin, schulconnex, startDemo } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { getUserTokens, issueAppToken, type TestApp } from "../support/token.ts";
import { plantFaults, type Planted } from "./check-schulconnex/faults.ts";
import { startFaultyProvider } from "./check-schulconnex/proxy.ts";
import { runHere } from "./program.ts";

const service = await startDemo();
const make = makeMakers(service.db);
const demo = demoApp("demo-lernapp");
const scope = "urn:schultor:idm:v1:people:read";
const { access_token: userToken } = await getUserTokens(service, demo, demoLogin(2), {
  scopes: ["openid", "people:read"],
});
const twoHoursAgo = () => new Date(service.clock().getTime() - 7_200_000);
const expiredToken = await issueAppToken({ db: service.db, clock: twoHoursAgo }, demo, ["people:read"]);

type Given = Partial<CheckSchulconnexSettings> & { app?: TestApp };

const examineAt = (origin: string, { app = demo, ...given }: Given = {}): Promise<Verdict[]> =>
  examine({
    address: `${origin}${schulconnex}`,
    version: "1.4",
    credentials: {
      tokenUrl: `${origin}/oauth2/token`,
      clientId: app.clientId,
      clientSecret: app.clientSecret!,
      scope,
      isPosted: false,
    },
    userToken,
    expiredToken,
    tell: () => undefined,
    ...given,
  });

const notPassed = (verdicts: readonly Verdict[]) => verdicts.filter(({ outcome }) => outcome !== "passed");
const idsOf = (verdicts: readonly Verdict[], wanted: Verdict["outcome"]) =>
  verdicts.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);

test("this service passes every check", async () => {
  expect(notPassed(await examineAt(service.url))).toEqual([]);
});

test.each([
  ["1.7", "V1_7", "SHARED"],
  ["1.8", "V1_8", "APP"],
] as const)("so it does for an app that is registered for %s and reads %s, %s ids", async (...registered) => {
  const [version, schulconnexSpelling, subjectType] = registered;
  const app = await make.app({ schulconnexSpelling, subjectType });
  const [one, two] = [await make.school(), await make.school()];
  const groups = [await make.group({ school: one }), await make.group({ school: two, type: "SONSTIG" })];
  for (const [n, school] of [one, two].entries()) await make.grant({ app: app.clientId, school, groups: [groups[n]!] });
  await make.person({ schools: [one, two], groups, role: "TEACHER" });
  for (let n = 0; n < 10; n++) await make.person({ school: one, groups: [groups[0]!] });
  await make.person({ school: two, groups: [groups[1]!], status: "SOFT_DELETED" });
  const verdicts = await examineAt(service.url, { app, version, userToken: undefined });
  expect(notPassed(verdicts).map(({ id, outcome }) => `${id}: ${outcome}`)).toEqual([
    "token-kind: not checked",
    "person-record: not checked",
    "person-same: not checked",
  ]);
});

const people = {
  first: "c0000000-0000-4000-8000-000000000001",
  other: "c0000000-0000-4000-8000-000000000005",
  name: "Beispiel",
};
const faults = plantFaults(people);

/** Providers with several faults, of which each is found by other checks. */
function packFaults(): (readonly [faults: string, planted: readonly Planted[]])[] {
  const providers: [string, Planted][][] = [];
  for (const [fault, planted] of Object.entries(faults)) {
    const isFree = (others: [string, Planted][]) =>
      others.every(([, other]) => !other.ids.some((id) => planted.ids.includes(id)));
    const provider = planted.isAlone
      ? undefined
      : providers.find((others) => !others.some(([, other]) => other.isAlone) && isFree(others));
    if (provider === undefined) providers.push([[fault, planted]]);
    else provider.push([fault, planted]);
  }
  return providers.map((packed) => {
    const [[name]] = packed as [[string, Planted]];
    return [packed.length === 1 ? name : `${name}, and ${packed.length - 1} more`, packed.map(([, one]) => one)];
  });
}

test.each(packFaults())("a provider is told what it does wrong: %s", async (_, planted) => {
  const verdicts = await examineAt(await startFaultyProvider(service.url, planted));
  expect(idsOf(verdicts, "differs").toSorted()).toEqual(planted.flatMap(({ ids }) => ids).toSorted());
});

const addressOf = (origin: string): string[] => ["check-schulconnex", `${origin}${schulconnex}`, "--standard", "1.4"];
const credentialsAt = (origin: string): string[] => [
  ...["--client-id", demo.clientId, "--token-url", `${origin}/oauth2/token`, "--scope", scope],
];

test("the command prints what was sent, what came and which sentence it differs from, and ends with 0 or 1", async () => {
  const run = runHere({ SCHULTOR_CLIENT_SECRET: demo.clientSecret! });
  const origin = await startFaultyProvider(service.url, [faults["has subcode 00 for a filter given twice"]!]);
  const asked = [...addressOf(origin), ...credentialsAt(origin), "--docs", "https://id.example/docs/"];
  const { code, out } = await run(asked);
  expect(code).toBe(1);
  expect(out).toMatch(/^passed {7}2\.1 token-issued$/m);
  expect(out).toMatch(
    /^differs {6}5\.9 filter-twice\n {4}sent: GET personen-info\?pid=[0-9a-f]{8}…&pid=[0-9a-f]{8}…\n {4}came: 400, subcode 00\n {4}expected: 400, subcode 17\n {4}5\.9: A filter that is given twice is 400 with subcode 17\.$/m,
  );
  expect(out).toContain("not checked  8.1 person-record: Give --user-token-file to check it.");
  expect(out).toContain(
    "1 differs, 0 not offered, 4 not checked. What is expected: https://id.example/docs/check-schulconnex",
  );
  expect(await run([...asked, "--quiet"])).toMatchObject({ code: 1, out: "filter-twice\n" });
  const good = await run([...addressOf(service.url), ...credentialsAt(service.url), "--json"]);
  expect(good.code).toBe(0);
  expect(JSON.parse(good.out)).toMatchObject({ ok: true });
});

test("tokens are read from files, in place of credentials too", async () => {
  const folder = makeDataDir();
  const fileOf = (name: string, token: string): string => {
    writeFileSync(join(folder, name), `${token}\n`);
    return join(folder, name);
  };
  const token = await issueAppToken(service, demo, ["people:read"]);
  const { code, out } = await runHere({})([
    ...[
      ...addressOf(service.url),
      "--token-file",
      fileOf("app", token),
      "--user-token-file",
      fileOf("user", userToken),
    ],
    ...["--expired-token-file", fileOf("expired", expiredToken)],
  ]);
  expect([code, out]).toEqual([0, expect.stringContaining("40 passed, 0 differs, 0 not offered, 3 not checked.")]);
  expect(out).toContain("not checked  2.7 token-in-query: A token was given in place of credentials.");
  const empty = await runHere({})([...addressOf(service.url), "--token-file", fileOf("empty", "")]);
  expect(empty).toMatchObject({ code: 2, err: expect.stringContaining("does not hold a token.") as string });
});

test.each<[string[], string]>([
  [["http://id.example/schulconnex"], "must begin with https"],
  [["https://id.example/schulconnex", "--client-id", "x"], "Give --client-id and --token-url, or --token-file."],
  [["https://id.example/schulconnex", "--standard", "2.0"], "is not one of 1.4, 1.5, 1.6, 1.7, 1.8."],
  [["https://id.example", "--client-id", "x", "--token-url", "http://id.example/token"], "must begin with https"],
])("%j is wrong usage", async (args, message) => {
  const { code, err } = await runHere({})(["check-schulconnex", ...args]);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test("every code that this service knows is known to the checks", () => {
  for (const list of ["Rolle", "Organisationstyp", "Gruppentyp", "Gruppenrolle"] as const) {
    const known = Object.values(standard.codes[list]).join(" ").toLowerCase().split(" ");
    expect(known, list).toEqual(expect.arrayContaining(codesOf(list, "V1_8").map(({ code }) => code.toLowerCase())));
  }
});

test("each expectation is found by a fault", () => {
  const found = new Set(Object.values(faults).flatMap(({ ids }) => ids));
  expect(expectations.map(({ id }) => id).filter((id) => !found.has(id))).toEqual(["in-time"]);
});
