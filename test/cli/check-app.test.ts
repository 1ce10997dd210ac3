import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { createLocalJWKSet, exportJWK, generateKeyPair } from "jose";
import { expect, test } from "vitest";
import type { Authentication } from "../../clients/tools/src/check-app/authentication.ts";
import { checks, type CheckId, type Outcome, type Verdict } from "../../clients/tools/src/check-app/checks.ts";
import { checkErasures, makeErasureApi } from "../../clients/tools/src/check-app/erasures.ts";
import { makeIssuerKeys, startIssuer } from "../../clients/tools/src/check-app/issuer.ts";
import { checkOneRoster, waitForReading } from "../../clients/tools/src/check-app/oneroster.ts";
import { makeJUnitReport, makeReport } from "../../clients/tools/src/check-app/report.ts";
import { commands, runCommandLine } from "../../src/cli/index.ts";
import { folders, makeRosterApi } from "../../clients/tools/src/check-app/roster-api.ts";
import type { Version } from "../../clients/tools/src/check-app/roster-records.ts";
import { checkSignOn } from "../../clients/tools/src/check-app/sign-on.ts";
import { checkWebhook } from "../../clients/tools/src/check-app/webhook.ts";
import { readRemoteSettings } from "../../src/config/remote.ts";
import { contents } from "../../src/publish/contents.ts";
import { startPartnerApp } from "../../demo/partner-app.ts";
import demo from "../../demo/demo.json" with { type: "json" };
import { findBundle } from "../contract/bundles.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import { startApp, type Fault, type Settings } from "./check-app/app.ts";
import { makeRosterApp, rosterFaults, type RosterFault } from "./check-app/roster-app.ts";
import { makeScreen, runHere } from "./program.ts";
import { makeCheck } from "../support/schema-check.ts";
import { serve } from "../support/serve.ts";

const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
const newSecret = "whsec_YW5vdGhlciBleGFtcGxlLCBuZXZlciB1c2UgaXQhISE=";
const [clientId, clientSecret] = ["check app", "a secret/with+signs%"];
const quiet = () => undefined;

type Method = NonNullable<Settings["authMethod"]>;
/** `registered` is the way of the registration, if it is not the one of the app. */
type Given = Partial<Omit<Settings, "faults">> & { sessionPath?: string; registered?: Method };

const issuerKeys = makeIssuerKeys();
const own = await generateKeyPair("ES256", { extractable: true });
const keys = [await exportJWK((await generateKeyPair("ES256")).publicKey), await exportJWK(own.publicKey)];

function authenticationOf(method: Method): Authentication {
  if (method === "none") return { method };
  return method === "private_key_jwt" ? { method, keys: createLocalJWKSet({ keys }) } : { method, clientSecret };
}

async function signOnOf(
  faults: readonly Fault[],
  { sessionPath, registered, ...given }: Given = {},
): Promise<Verdict[]> {
  const issuer = await startIssuer({ port: 0, clientId, keys: issuerKeys });
  atFileEnd(() => issuer.close());
  const settings = {
    issuer: issuer.url,
    clientId,
    clientSecret,
    privateKey: own.privateKey,
    secrets: [],
    showsName: true,
    verifies: "ep" as const,
    ...given,
  };
  const { url } = await startApp({ ...settings, faults: new Set(faults) });
  return checkSignOn(
    {
      issuer,
      loginUrl: `${url}/login?from=tile`,
      redirectUri: `${url}/callback`,
      clientId,
      authentication: authenticationOf(registered ?? given.authMethod ?? "client_secret_basic"),
      sessionUrl: sessionPath === undefined ? undefined : `${url}${sessionPath}`,
    },
    quiet,
  );
}

async function webhookOf(faults: readonly Fault[], verifies: Settings["verifies"]): Promise<Verdict[]> {
  const { url } = await startApp({
    issuer: "http://127.0.0.1:9",
    clientId,
    clientSecret,
    secrets: [newSecret, secret],
    showsName: true,
    verifies,
    faults: new Set(faults),
  });
  const patience = faults.includes("never answers") ? { patienceMs: 50 } : {};
  return checkWebhook({ url: `${url}/hook`, secret, newSecret, ...patience });
}

const notPassed = (verdicts: readonly Verdict[]): [CheckId, Outcome][] =>
  verdicts.filter(({ outcome }) => outcome !== "passed").map(({ id, outcome }) => [id, outcome]);

test.each<[claim: string, given: Given]>([
  ["names the person at the end", {}],
  ["names nobody there, and sends its secret in the body", { showsName: false, authMethod: "client_secret_post" }],
  [
    "names nobody, has a page for people who are signed in, and signs with its own key",
    { showsName: false, sessionPath: "/home", authMethod: "private_key_jwt" },
  ],
  ["names the person on such a page, and has no secret", { sessionPath: "/home", authMethod: "none" }],
  ["reads the response from a form", { readsForm: true }],
])("an app that does everything as described and %s passes every check of the sign-on", async (_, given) => {
  expect(notPassed(await signOnOf([], given))).toEqual([]);
});

test("an app that asks for a form is told if its cookie stays away from it", async () => {
  const verdicts = await signOnOf(["keeps its cookie from other sites"], { readsForm: true });
  expect(verdicts.find(({ id }) => id === "sign-in")).toMatchObject({
    outcome: "failed",
    detail: expect.stringContaining("without the cookies that are SameSite=Lax or Strict") as string,
  });
  expect(notPassed(await signOnOf(["keeps its cookie from other sites"]))).toEqual([]);
});

test.each(["ep", "standard"] as const)(
  "a receiver that verifies %s passes every check of webhooks",
  async (verifies) => {
    expect(notPassed(await webhookOf([], verifies))).toEqual([]);
  },
);

/** A fault, and the checks that it fails; of `warnings` it gets a warning. */
type Planted = [Fault, CheckId, ...others: CheckId[]];
const warnings: readonly Fault[] = ["no PKCE", "ignores iss"];

/** Apps that do several things wrong, each for another check. Where nobody gets in, no forgery is tried. */
const signOnApps: readonly (readonly Planted[])[] = [
  [["answers the Login URL itself", "login-url"]],
  [["needs another click", "login-url"]],
  [
    ["drops the hint", "login-hint"],
    ["asks for an ID token", "authorization-request"],
    ["adds a slash", "redirect-uri"],
    ["fixed state", "state-random"],
    ["fixed nonce", "nonce-random"],
    ["no PKCE", "pkce"],
    ["secret in two places", "client-authentication"],
    ["fails at the end", "sign-in"],
  ],
  [
    ["encodes the hint twice", "login-hint"],
    ["names another client", "authorization-request"],
    ["exchanges with another redirect URI", "redirect-uri"],
    ["short state", "state-random"],
    ["short nonce", "nonce-random"],
    ["plain PKCE", "pkce"],
    ["wrong secret", "client-authentication"],
    ["forgets the session", "sign-in"],
  ],
  [
    ["leaves out openid", "authorization-request"],
    ["fixed PKCE", "pkce"],
    ["unencoded secret", "client-authentication"],
    ["fails at the end", "sign-in"],
  ],
  [
    ["wrong verifier", "pkce"],
    ["compares the token type", "token-type-case"],
    ["ignores the state", "state-wrong"],
    ["ignores the nonce", "nonce-wrong"],
    ["ignores the signature", "id-token-signature"],
    ["takes no signature for one", "id-token-alg-none"],
    ["ignores the audience", "id-token-audience"],
    ["ignores the issuer", "id-token-issuer"],
    ["ignores the end of tokens", "id-token-expired"],
    ["ignores iss", "iss-parameter"],
  ],
  [
    ["no verifier", "pkce"],
    ["ignores a missing state", "state-wrong"],
    ["ignores a missing nonce", "nonce-wrong"],
  ],
  [["no state", "state-random", "state-wrong"]],
  [
    ["keeps the state for all", "state-other-browser"],
    ["no nonce", "nonce-random", "nonce-wrong"],
  ],
];

const webhookFaults: readonly [Settings["verifies"], ...Planted][] = [
  ["ep", "takes no event", "webhook-signed"],
  ["ep", "never answers", "webhook-signed"],
  ["ep", "redirects events", "webhook-signed"],
  ["ep", "writes the JSON again", "webhook-raw-body", "webhook-body-changed"],
  ["standard", "trims the body", "webhook-body-changed", "webhook-raw-body"],
  [
    ...(["ep", "ignores webhook signatures", "webhook-signature-wrong"] as const),
    ...(["webhook-body-changed", "webhook-signature-missing", "webhook-timestamp-old"] as const),
  ],
  [
    ...(["ep", "looks whether the signature is there", "webhook-signature-wrong"] as const),
    ...(["webhook-body-changed", "webhook-timestamp-old"] as const),
  ],
  ["standard", "takes unsigned", "webhook-signature-missing"],
  ["standard", "ignores the time", "webhook-timestamp-old"],
  ["ep", "ignores the time", "webhook-timestamp-old"],
  ["ep", "refuses what it has", "webhook-duplicate"],
  ["ep", "refuses gaps", "webhook-order"],
  ["ep", "refuses unknown types", "webhook-unknown-event"],
  ["ep", "refuses unknown actions", "webhook-unknown-event"],
  ["ep", "refuses unknown properties", "webhook-unknown-property"],
  ["standard", "reads the first signature", "webhook-several-signatures"],
  ["ep", "forgets the new secret", "webhook-rotated-secret"],
];

/** Expects that what was not passed, beside what could not be tried, are the checks of the faults. */
function expectFaults(verdicts: readonly Verdict[], planted: readonly Planted[]): void {
  const outcomes = planted.flatMap(([fault, ...ids]) =>
    ids.map((id): [CheckId, Outcome] => [id, warnings.includes(fault) ? "warning" : "failed"]),
  );
  const found = verdicts.filter(({ outcome }) => /failed|warning/.test(outcome));
  expect(new Map(notPassed(found))).toEqual(new Map(outcomes));
  for (const { detail } of found) expect(detail).toMatch(/\.$/);
}

test("an app with faults fails the checks of these faults, and no other", async () => {
  for (const planted of signOnApps) expectFaults(await signOnOf(planted.map(([fault]) => fault)), planted);
});

const judged: readonly Fault[] = ["ignores the state", "keeps the state for all", "ignores the nonce", "ignores iss"];

test("with a page that names nobody, an app that ignores what comes back fails too", async () => {
  for (const app of signOnApps) {
    const planted = app.filter(([fault]) => judged.includes(fault));
    if (planted.length === 0) continue;
    const faults = planted.map(([fault]) => fault);
    expectFaults(await signOnOf(faults, { showsName: false, sessionPath: "/home" }), planted);
  }
});

/** The verdict on an app that also fails at the end, so that no forgery is tried. */
async function authenticationOfApp(faults: readonly Fault[], given: Given): Promise<string> {
  const verdicts = await signOnOf([...faults, "fails at the end"], given);
  expectFaults(verdicts, [["fails at the end", "sign-in", "client-authentication"]]);
  return verdicts.find(({ id }) => id === "client-authentication")!.detail!;
}

test("an app that sends another authentication than it is registered for learns what to change", async () => {
  for (const [sent, registered] of [
    ["client_secret_basic", "client_secret_post"],
    ["client_secret_post", "private_key_jwt"],
    ["private_key_jwt", "none"],
    ["none", "client_secret_basic"],
  ] as const) {
    const detail = await authenticationOfApp([], { authMethod: sent, registered });
    expect(detail).toContain(`authenticated with ${sent} and is registered for ${registered}: send `);
    expect(detail).toContain(`give --auth-method ${sent}.`);
  }
});

test.each<[Fault, Method, seen: string]>([
  ["wrong secret", "client_secret_post", "client_secret in the body was not the secret."],
  ["wrong client_id in the body", "client_secret_post", "client_id in the body was other."],
  ["wrong client_id in the body", "none", "client_id in the body was other."],
  ["secret in two places", "private_key_jwt", "in several ways at once, client_secret_post and private_key_jwt"],
  ["no assertion type", "private_key_jwt", "client_assertion_type was missing"],
  ["signs with a key of its own", "private_key_jwt", "the private key of a key that is registered"],
  ["names nobody in the assertion", "private_key_jwt", "iss was other, sub was other"],
  ["sends it to another", "private_key_jwt", "aud was https://issuer.example.org, and not the issuer, http://"],
  ["assertion without an end", "private_key_jwt", "exp was missing"],
  ["assertion for a day", "private_key_jwt", "exp was more than an hour ahead"],
  ["assertion without an id", "private_key_jwt", "There was no jti"],
  ["repeats the id", "private_key_jwt", "Two token requests had the same jti"],
])("an app that %s with %s fails client-authentication", async (fault, authMethod, seen) => {
  expect(await authenticationOfApp([fault], { authMethod })).toContain(seen);
});

test.each(webhookFaults)("a receiver of %s that %s fails %s", async (verifies, ...planted) => {
  expectFaults(await webhookOf([planted[0]], verifies), [planted]);
});

const erasureFaults = [
  ["confirms nothing", "erasure-confirmed", "Nothing came to POST /idm/ep/v1/erasures/"],
  ["answers the event with an error", "erasure-confirmed", "The answer was 500."],
  ["sends no token", "erasure-confirmed", "GET /idm/ep/v1/erasures was sent without a token"],
  ["confirms the id of the person", "erasure-confirmed", "the personId of an erasure in place of its id"],
  ["confirms an unknown id", "erasure-confirmed", "There is no such erasure"],
  ["uses another method", "erasure-confirmed", "PUT /idm/ep/v1/erasures/"],
  ["keeps without a reason", "erasure-confirmed", "reason was none of"],
  ["gives up", "erasure-repeated", "The confirmation got 503 with Retry-After, and was not repeated"],
] as const;

/** An app that reads what it must erase at each event, and confirms it. */
async function erasuresOf(fault?: (typeof erasureFaults)[number][0]): Promise<Verdict[]> {
  const api = makeErasureApi();
  const issuer = await startIssuer({ port: 0, clientId, answerApi: api.answer, keys: issuerKeys });
  const tried = new Set<string>();
  const confirmAll = async () => {
    const authorization = fault === "sends no token" ? "" : "Bearer token";
    const headers = { authorization, "content-type": "application/json" };
    const list = await fetch(`${issuer.url}/idm/ep/v1/erasures`, { headers });
    if (list.status !== 200) return;
    const open = (await list.json()) as { id: string; personId: string }[];
    for (const { id, personId } of open.filter((one) => fault !== "gives up" || !tried.has(one.id))) {
      tried.add(id);
      const body = JSON.stringify({ outcome: fault === "keeps without a reason" ? "kept" : "erased" });
      const unknown = fault === "confirms an unknown id" ? randomUUID() : id;
      const named = fault === "confirms the id of the person" ? personId : unknown;
      const method = fault === "uses another method" ? "PUT" : "POST";
      await fetch(`${issuer.url}/idm/ep/v1/erasures/${named}`, { method, headers, body });
    }
  };
  // Answers when all is done, so that nothing depends on the patience.
  const answer = async (res: ServerResponse) => {
    const isBroken = fault === "answers the event with an error";
    if (fault !== "confirms nothing" && !isBroken) await confirmAll();
    res.writeHead(isBroken ? 500 : 204).end();
  };
  const url = await serve((_, res) => void answer(res));
  const verdicts = await checkErasures({ api, webhook: { url, secret, newSecret: undefined }, patienceMs: 100 });
  await issuer.close();
  return verdicts;
}

test.each(erasureFaults)(
  "an app that %s where it must erase fails %s, and reads what came",
  async (fault, id, seen) => {
    const failure = (await erasuresOf(fault)).find(({ outcome }) => outcome === "failed");
    expect(failure).toMatchObject({ id, detail: expect.stringContaining(seen) });
  },
);

test("an app that confirms what it must erase passes, also if the service was busy", async () => {
  expect(notPassed(await erasuresOf())).toEqual([]);
});

async function startRoster() {
  const api = makeRosterApi();
  const answerApi = (...of: Parameters<typeof api.answer>) => Promise.resolve(api.answer(...of));
  const issuer = await startIssuer({ port: 0, clientId, answerApi, noteToken: api.noteToken, keys: issuerKeys });
  atFileEnd(() => issuer.close());
  return { api, issuer };
}

/** Lets an app read the roster each time when the check says so. */
async function oneRosterOf(makeReader: (issuer: string) => () => Promise<void>): Promise<Verdict[]> {
  const { api, issuer } = await startRoster();
  const readOnce = makeReader(issuer.url);
  return checkOneRoster({
    api,
    clientId,
    issuer,
    authentication: authenticationOf("client_secret_basic"),
    async waitForReading() {
      await readOnce();
      return waitForReading(api, { patienceMs: 0, quietMs: 0 });
    },
    tell: quiet,
  });
}

const readRoster =
  (version: Version, fault?: RosterFault) =>
  (issuer: string): (() => Promise<void>) =>
    makeRosterApp({ issuer, clientId, clientSecret, version, fault });

test.each(rosterFaults)("an app that reads OneRoster and %s fails %s, and reads what came", async (fault, id, seen) => {
  for (const version of ["v1p1", "v1p2"] as const) {
    const failures = (await oneRosterOf(readRoster(version, fault))).filter(({ outcome }) => outcome === "failed");
    expect(failures).toEqual([{ id, outcome: "failed", detail: expect.stringContaining(seen) as string }]);
  }
});

test("an app that reads the whole roster, and then its changes, passes", async () => {
  expect(notPassed(await oneRosterOf(readRoster("v1p1")))).toEqual([]);
  expect(notPassed(await oneRosterOf(readRoster("v1p2")))).toEqual([]);
});

/** Gets addresses one after the other, with a token of the app. */
async function getRoster(issuer: string, addresses: readonly string[]) {
  const body = new URLSearchParams({ grant_type: "client_credentials" });
  const headers = { Authorization: `Basic ${Buffer.from("check+app:a+secret%2Fwith%2Bsigns%25").toString("base64")}` };
  const token = (await (await fetch(`${issuer}/oauth2/token`, { method: "POST", headers, body })).json()) as object;
  const authorization = `Bearer ${(token as { access_token: string }).access_token}`;
  const bodies: Record<string, { sourcedId: string }[]>[] = [];
  for (const address of addresses) {
    const response = await fetch(issuer + address, { headers: { authorization } });
    bodies.push((await response.json()) as (typeof bodies)[number]);
  }
  return bodies;
}

test("what an app did not try is skipped: pages, a busy page, a second reading", async () => {
  let count = 0;
  const verdicts = await oneRosterOf((issuer) => async () => {
    if (count++ === 0) await getRoster(issuer, [`${folders.v1p2}/orgs`, `${folders.v1p2}/orgs/none`]);
  });
  expect(verdicts.map(({ outcome, detail }) => [outcome, detail])).toEqual([
    ["passed", null],
    ["passed", null],
    ["skipped", "The app read one page only."],
    ["skipped", "Each list that was read fits on a page."],
    ["skipped", "The app did not read a second time."],
  ]);
});

test("an app learns of a deletion from whole lists of those who are active", async () => {
  const pupils = `${folders.v1p2}/students?filter=status='active'&limit=100`;
  const addresses = [`${folders.v1p2}/users?limit=1`, pupils, pupils, `${pupils}&offset=100`];
  expect(notPassed(await oneRosterOf((issuer) => async () => void (await getRoster(issuer, addresses))))).toEqual([]);
});

/** The second page gets 503. */
const twoPages = [`${folders.v1p1}/users`, `${folders.v1p1}/users`];

test("the roster of the check filters as the service does", async () => {
  const { issuer } = await startRoster();
  const counts: readonly [string, number][] = [
    ["status='active' AND role='teacher'", 1],
    ["role!='student' OR identifier='check-7'", 2],
    ["role='teacher' OR identifier~'CHECK-1' AND givenName='ada 10'", 2],
    ["givenName='o''clock'", 0],
    ["orgs.sourcedId='a0000000-0000-4000-8000-000000000001'", 201],
    ["dateLastModified>='2020-01-01'", 201],
    ["dateLastModified<'2020-01-01T00:00:00+01:00'", 0],
  ];
  const addresses = counts.map(([filter]) => `${folders.v1p1}/users?limit=300&filter=${encodeURIComponent(filter)}`);
  const found = (await getRoster(issuer.url, [...twoPages, ...addresses])).slice(2);
  expect(found.map(({ users }, at) => [counts[at]![0], users!.length])).toEqual(counts);
});

test("the roster of the check has every address of the contract, and returns what it describes", async () => {
  const { issuer } = await startRoster();
  await getRoster(issuer.url, twoPages);
  for (const name of ["oneroster", "oneroster-1.1"]) {
    const { document } = findBundle(name);
    const check = makeCheck(document);
    for (const [path, { get }] of Object.entries(document.paths)) {
      let address = path;
      for (const [placeholder, list] of path.matchAll(/(\w+)\/\{\w+\}/g)) {
        const [all] = await getRoster(issuer.url, [`${/^.*v1p[12]/.exec(path)![0]}/${list!}`]);
        address = address.replace(placeholder, `${list!}/${Object.values(all!)[0]![0]!.sourcedId}`);
      }
      const [body] = await getRoster(issuer.url, [address]);
      expect(check(get!.responses["200"]!.content!["application/json"]!.schema!, body), address).toBe("");
    }
  }
});

test("each check has an app that fails it", () => {
  const planted: CheckId[] = [
    ...signOnApps.flat().map(([, id]) => id),
    ...webhookFaults.map(([, , id]) => id),
    ...erasureFaults.map(([, id]) => id),
    ...rosterFaults.map(([, id]) => id),
  ];
  expect([...new Set(planted)].sort()).toEqual(Object.keys(checks).sort());
});

test("where nobody can tell who is signed in, the check says so and tries no forgery", async () => {
  const verdicts = await signOnOf([], { showsName: false, sessionPath: "/welcome" });
  const signIn = verdicts.find(({ id }) => id === "sign-in")!;
  expect(signIn).toMatchObject({ outcome: "failed", detail: expect.stringContaining("shows the same to somebody") });
  expect(verdicts.find(({ id }) => id === "nonce-wrong")!.outcome).toBe("skipped");
});

test("an app that breaks off without an answer has refused nothing", async () => {
  const verdicts = await signOnOf(["breaks off at another nonce"]);
  const { outcome, detail } = verdicts.find(({ id }) => id === "nonce-wrong")!;
  expect([outcome, detail]).toEqual(["failed", expect.stringContaining("could not be tried")]);
});

test("the demo app passes", async () => {
  const app = demo.apps.find((one) => one.clientId === "demo-lernapp")!;
  const issuer = await startIssuer({ port: 0, clientId: app.clientId });
  atFileEnd(() => issuer.close());
  const settings = { issuerUrl: issuer.url, baseUrl: issuer.url, platform: demo.platform, demoPlatform: demo.platform };
  const running = await startPartnerApp(app, { ...settings, port: 0 });
  atFileEnd(() => running.close());
  const verdicts = await checkSignOn(
    {
      issuer,
      loginUrl: `${running.url}login`,
      redirectUri: `${running.url}callback`,
      clientId: app.clientId,
      authentication: { method: "client_secret_basic", clientSecret: app.clientSecret! },
      sessionUrl: undefined,
    },
    quiet,
  );
  expect(notPassed(verdicts)).toEqual([]);
});

test("the command prints reasons and links, writes JUnit, and ends with 0 or 1", async () => {
  const receiver = { issuer: "http://127.0.0.1:9", clientId, clientSecret, secrets: [secret], showsName: true };
  const { url } = await startApp({ ...receiver, verifies: "ep", faults: new Set<Fault>(["refuses what it has"]) });
  const good = await startApp({ ...receiver, verifies: "standard", faults: new Set<Fault>() });
  const folder = makeDataDir();
  const file = join(folder, "junit.xml");
  const run = runHere({ XDG_CONFIG_HOME: folder });
  const asked = ["check-app", "--webhook-url", `${url}/hook`, "--docs", "https://id.example/docs/"];
  const { code, out } = await run([...asked, "--junit", file]);
  expect(code).toBe(1);
  expect(out).toContain("FAILED   webhook-duplicate: ");
  expect(out).toContain("See: https://id.example/docs/receive-webhooks");
  expect(out).toContain("10 passed, 1 failed, 0 warning, 1 skipped.");
  expect(readFileSync(file, "utf8")).toMatch(/tests="12" failures="1" skipped="1"/);
  expect(await run([...asked, "--quiet"])).toMatchObject({ code: 1, out: "webhook-duplicate\n" });
  const asJson = await run(["check-app", "--webhook-url", `${good.url}/hook`, "--json"]);
  expect(asJson.code).toBe(0);
  expect(JSON.parse(asJson.out)).toMatchObject({ ok: true });
});

test("the command waits for an app that reads OneRoster, and says where it reads", async () => {
  const { code, out, err } = await runHere({})(["check-app", "--oneroster", "0", "--port", "0"]);
  expect(err).toMatch(/read the roster now, from http:\S+\/ims\/oneroster\/v1p1 or http:\S+\/rostering\/v1p2/);
  expect(out).toContain("FAILED   oneroster-token: ");
  expect(out).toContain("The app did not begin to read.");
  expect(out).toContain("0 passed, 1 failed, 0 warning, 4 skipped.");
  expect(code).toBe(1);
});

test("the public keys of the app are read from a file or from its address", async () => {
  const folder = makeDataDir();
  const file = join(folder, "keys.json");
  writeFileSync(file, JSON.stringify({ keys }));
  const address = await serve((_, res) => res.end(readFileSync(file)));
  for (const given of [
    ["--public-keys", file],
    ["--jwks-uri", `${address}/`],
  ]) {
    const port = await findPort();
    const issuer = `http://127.0.0.1:${port}`;
    const settings = { issuer, clientId, clientSecret, secrets: [], showsName: true, verifies: "ep" as const };
    const authentication = { authMethod: "private_key_jwt" as const, privateKey: own.privateKey };
    const { url } = await startApp({ ...settings, ...authentication, faults: new Set() });
    const { code, out } = await runHere({ XDG_CONFIG_HOME: folder })([
      ...["check-app", "--login-url", `${url}/login`, "--redirect-uri", `${url}/callback`, "--client-id", clientId],
      ...["--port", String(port), "--auth-method", "private_key_jwt", ...given],
    ]);
    expect([code, out]).toEqual([0, expect.stringContaining("ok       client-authentication")]);
  }
});

test("a private key among the public keys is refused", async () => {
  const file = join(makeDataDir(), "keys.json");
  writeFileSync(file, JSON.stringify(await exportJWK(own.privateKey)));
  const { code, err } = await runHere({})([...signOnArgs, "--auth-method", "private_key_jwt", "--public-keys", file]);
  expect([code, err]).toEqual([3, expect.stringContaining("make a new key pair")]);
});

const signOnArgs = [
  ...["check-app", "--login-url", "http://127.0.0.1:9/login"],
  ...["--redirect-uri", "http://127.0.0.1:9/", "--port", "0"],
];

test.each<[string[], string]>([
  [["check-app"], "--login-url, --webhook-url or --oneroster"],
  [["check-app", "--oneroster", "1m", "--auth-method", "none"], "without a secret or keys of its own"],
  [["check-app", "--login-url", "http://127.0.0.1/login"], "--redirect-uri is missing."],
  [[...signOnArgs, "--auth-method", "private_key_jwt"], "private_key_jwt needs --public-keys or --jwks-uri."],
  [[...signOnArgs, "--auth-method", "none", "--client-secret", "x"], "none has no secret"],
  [["check-app", "--webhook-url", "ftp://x"], "--webhook-url: 'ftp://x' is no address"],
  [["check-app", "--webhook-url", "http://127.0.0.1:9", "--webhook-secret", "x"], "begins with whsec_"],
])("%j is wrong usage", async (args, message) => {
  const { code, err } = await runHere({})(args);
  expect(code).toBe(2);
  expect(err).toContain(message);
});

test("the check waits for the app to read the addresses of the issuer", async () => {
  const { lines, show, until } = makeScreen();
  const terminal = { out: show, err: show, readRemoteSettings: () => readRemoteSettings({}) };
  const ended = runCommandLine(commands, [...signOnArgs, "--wait", "1h"], terminal);
  await until(() => lines.length > 0);
  const [address] = /http:\S+/.exec(lines[0]!)!;
  await fetch(`${address}/.well-known/openid-configuration`);
  expect(await ended).toBe(1);
});

test("a report holds what an app answers without breaking its form", () => {
  const verdicts: Verdict[] = [{ id: "login-hint", outcome: "failed", detail: 'a<b>&"\u0001' }];
  expect(makeJUnitReport(verdicts, "https://id.example/docs")).toContain('message="a&lt;b&gt;&amp;&quot;?"');
  expect(makeReport(verdicts, "https://id.example/docs")).toMatchObject({ hasFailed: true, quiet: ["login-hint"] });
});

test("every check leads to a guide, or to the reference of a document of the contract", () => {
  const pages = contents.flatMap(({ entries }) => entries.filter((entry) => typeof entry === "string"));
  const known = [...pages, "sign-on", "webhooks", "oneroster"].map((name) => `/${name}`);
  for (const [id, { docs }] of Object.entries(checks)) expect(known, id).toContain(docs);
});
