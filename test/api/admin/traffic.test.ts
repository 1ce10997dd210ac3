import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import { makeTraffic } from "../../../src/traffic/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, readPages, nextPage } from "../../support/admin.ts";
import { countRead, explainPrepared, recordQueries } from "../../support/explain.ts";
import { makeTestClock } from "../../support/service.ts";
import { askFor, exchange, getAppToken, postToken, signOn } from "../../support/token.ts";
import { makeBrowser } from "../../support/browser.ts";
import { startWorld } from "../sign-on/world.ts";

type Schemas = components["schemas"];
type Attempt = Schemas["SignOnAttempt"];

const world = startWorld();

async function partnerOf(clientId: ClientId) {
  const { call } = await makeStaff(world.service, "PARTNER", { clientIds: [clientId] });
  const attempts = async (query = "") => {
    await world.service.runJob("traffic.flushLogs");
    return (await call("GET", `/apps/${clientId}/sign-on-attempts${query}`)).body as Attempt[];
  };
  const requests = async (query = "") => {
    await world.service.runJob("traffic.flushLogs");
    return (await call("GET", `/apps/${clientId}/api-requests${query}`)).body as Schemas["ApiRequest"][];
  };
  return { call, attempts, requests };
}

const stepsOf = ({ steps }: Attempt) => steps.map(({ step, outcome }) => `${step} ${outcome}`);

test("a partner sees a sign-on step by step, from the request to userinfo, without who signed in", async () => {
  const { service, login, pupil } = world;
  const app = await world.app();
  const { attempts } = await partnerOf(app.clientId);
  const signedOn = await signOn(service, app, login, { scopes: ["openid", "profile"] });
  const { body } = await exchange(service, app, signedOn);
  const headers = { authorization: `Bearer ${body.access_token!}` };
  expect((await fetch(`${service.url}/oauth2/userinfo`, { headers })).status).toBe(200);
  const [attempt, ...others] = await attempts();
  expect(others).toEqual([]);
  expect(stepsOf(attempt!)).toEqual([
    ...["authorize done", "login done", "consent done", "code done", "token done", "userinfo done"],
  ]);
  expect(attempt!.steps.every(({ requestId }) => requestId !== "")).toBe(true);
  for (const secret of [pupil, login.username, body.access_token!, signedOn.back.searchParams.get("code")!])
    expect(JSON.stringify(await service.db.prisma.signOnStep.findMany())).not.toContain(secret);

  const again = await signOn(service, app, login, { browser: signedOn.browser, scopes: ["openid", "profile"] });
  expect((await exchange(service, app, again)).status).toBe(200);
  expect((await exchange(service, app, again)).status).toBe(400);
  const [second] = await attempts("?limit=1");
  expect(stepsOf(second!)).toEqual(["authorize done", "code done", "token done", "token refused"]);
  expect(second!.steps.at(-1)).toMatchObject({ code: "invalid_grant", description: expect.any(String) as string });
});

test("a sign-on shows what the app sent with both requests, without secrets, and what is wrong with it", async () => {
  const { service, login } = world;
  const app = await world.app();
  const { attempts } = await partnerOf(app.clientId);
  const params = { login_hint: login.username, redirect_url: "https://app.example/?pupil=1" };
  const signedOn = await signOn(service, app, login, { params });
  const code = signedOn.back.searchParams.get("code")!;
  const wrong = `${app.redirectUri}?pupil=17`;
  await postToken(service, app, {
    grant_type: "authorization_code",
    code,
    redirect_uri: wrong,
    code_verifier: "v".repeat(43),
  });
  const [attempt] = await attempts();
  const sentAt = (wanted: string) => attempt!.steps.find(({ step }) => step === wanted)!.sent;
  const absent = { value: null, length: null, problem: null, advice: null };
  expect(sentAt("authorize")).toMatchObject([
    { ...absent, name: "client_id", value: app.clientId },
    { ...absent, name: "redirect_uri", value: app.redirectUri },
    { ...absent, name: "response_type", value: "code" },
    { ...absent, name: "scope", value: "openid" },
    { ...absent, name: "state", length: signedOn.back.searchParams.get("state")!.length },
    { ...absent, name: "nonce", length: 11 },
    { ...absent, name: "code_challenge", length: 43 },
    { ...absent, name: "code_challenge_method", value: "S256" },
    { ...absent, name: "login_hint", value: expect.stringMatching(/^user_name$|^person_id$/) as string },
    { ...absent, name: "redirect_url", length: 28, problem: "unknown", advice: expect.any(String) as string },
  ]);
  expect(sentAt("token")).toMatchObject([
    { name: "client_authentication", value: "client_secret_basic", problem: null },
    { name: "grant_type", value: "authorization_code", problem: null },
    { name: "code", length: code.length, problem: null },
    { name: "redirect_uri", value: `${app.redirectUri}?pupil=…`, problem: "redirect_uri_differs" },
    { name: "code_verifier", length: 43, problem: "code_verifier_differs" },
  ]);
  expect(sentAt("login")).toBeNull();
  const stored = JSON.stringify(await service.db.prisma.signOnStep.findMany({ where: { clientId: app.clientId } }));
  for (const secret of [login.username, code, signedOn.back.searchParams.get("state")!, app.clientSecret!])
    expect(stored).not.toContain(secret);
});

test("a redirect URI that is not registered, and a missing code_challenge, are marked where they were sent", async () => {
  const { service } = world;
  const app = await world.app();
  const { attempts } = await partnerOf(app.clientId);
  await fetch(askFor(service, app, { params: { redirect_uri: "https://other.example/" } }).address);
  const marks = async () => {
    const [{ steps }] = (await attempts()) as [Attempt];
    return steps[0]!.sent!.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  };
  expect(await marks()).toEqual(["redirect_uri_not_registered"]);
  await fetch(askFor(service, app, { pkce: false, params: { response_mode: "web_message" } }).address, {
    redirect: "manual",
  });
  expect(await marks()).toContain("response_mode");
});

test("a sign-on that waits for the person, and what is refused at once, are seen with error and description", async () => {
  const { service } = world;
  const app = await world.app();
  const { attempts } = await partnerOf(app.clientId);
  const browser = makeBrowser(service.url);
  await browser.open(askFor(service, app).address);
  expect((await attempts()).map(stepsOf)).toEqual([["authorize done", "login waiting"]]);
  const { address } = askFor(service, app, { params: { prompt: "none" } });
  await fetch(address, { redirect: "manual" });
  const [refused] = await attempts();
  expect(refused!.steps).toMatchObject([{ step: "authorize", outcome: "refused", code: "login_required" }]);
  await postToken(service, app, { grant_type: "client_credentials", scope: "nonsense" });
  const [token] = await attempts();
  expect(token!.steps).toMatchObject([{ step: "token", outcome: "refused", code: "invalid_scope" }]);
});

/** Sign-ons of four steps: all requests came first, then all codes, and so on. */
async function makeAttempts(clientId: ClientId, count: number): Promise<void> {
  const at = world.service.clock();
  const name = (kind: string, n: number) => [clientId, kind, n].join("-");
  const stepsAt = (n: number) => [
    { attempt: name("request", n), step: "login", outcome: "refused" },
    { attempt: [name("request", n), name("grant", n), name("code", n)].join(">"), step: "code" },
    { attempt: name("code", n), step: "token" },
    { attempt: name("grant", n), step: "userinfo" },
  ];
  const rows = Array.from({ length: count }, (_, n) =>
    stepsAt(n).map((step, place) => ({
      id: makeUuid(new Date(at.getTime() + place * count + n)),
      clientId,
      requestId: `request-${n}`,
      at,
      outcome: "done",
      ...step,
    })),
  );
  await world.service.db.prisma.signOnStep.createMany({ data: rows.flat() });
}

test("a page of sign-ons has each of them whole and once, however far apart their steps are", async () => {
  const app = await world.app();
  const { call } = await partnerOf(app.clientId);
  await makeAttempts(app.clientId, 60);
  const seen = (await readPages<Attempt>(call, `/apps/${app.clientId}/sign-on-attempts?limit=7`)).flat();
  const expected = Array.from({ length: 60 }, (_, n) => `request-${59 - n}`);
  expect(seen.map(({ steps }) => steps[0]!.requestId)).toEqual(expected);
  for (const attempt of seen)
    expect(stepsOf(attempt)).toEqual(["login refused", "code done", "token done", "userinfo done"]);
});

test("a page of sign-ons reads neither all steps of the app nor those of others", async () => {
  const { service } = world;
  const [app, other] = [await world.app(), await world.app()];
  const { call } = await partnerOf(app.clientId);
  await makeAttempts(app.clientId, 600);
  await makeAttempts(other.clientId, 1500);
  await service.db.pool.query("ANALYZE sign_on_step");
  const asked = await recordQueries(/FROM [^ ]*sign_on_step/, () =>
    call("GET", `/apps/${app.clientId}/sign-on-attempts?limit=2`),
  );
  expect(asked.length).toBeGreaterThan(1);
  const client = await service.db.pool.connect();
  try {
    for (const [n, { text, values }] of asked.entries()) {
      await client.query(`PREPARE asked_${n} AS ${text}`);
      const plan = await explainPrepared(client, `asked_${n}`, { values, options: "ANALYZE" });
      expect([text, countRead(plan) < 1000]).toEqual([text, true]);
    }
  } finally {
    client.release(true);
  }
});

test("calls are noted by request: refusals all, successes the first of each operation in a minute", async () => {
  const { service } = world;
  const app = await world.app();
  const { requests, call } = await partnerOf(app.clientId);
  const token = await getAppToken(service, app, ["schools:read"]);
  const headers = { authorization: `Bearer ${token}`, "x-request-id": "my-request-1" };
  for (let n = 0; n < 3; n++) await fetch(`${service.url}/idm/ep/v1/schools`, { headers });
  const unknown = `${service.url}/idm/ep/v1/schools/${randomUUID()}`;
  for (let n = 0; n < 2; n++) await fetch(unknown, { headers: { ...headers, "x-request-id": `my-request-${n + 2}` } });
  const all = await requests();
  expect(all.map(({ requestId, operationId, status, code }) => [requestId, operationId, status, code])).toEqual([
    ["my-request-3", "getSchool", 404, "school_not_found"],
    ["my-request-2", "getSchool", 404, "school_not_found"],
    ["my-request-1", "listSchools", 200, null],
  ]);
  expect(await requests("?request-id=my-request-2")).toEqual([all[1]]);
  expect(await requests("?only-refused=true&limit=1")).toEqual([all[0]]);
  const page = await call("GET", `/apps/${app.clientId}/api-requests?limit=2`);
  expect((await call("GET", nextPage(page)!)).body).toEqual([all[2]]);
});

test("a process keeps a share of a minute, and a job removes what is old or more than an app's share", async () => {
  const { service } = world;
  const app = await world.app();
  const clock = makeTestClock("2026-02-03T09:00:00Z");
  const traffic = makeTraffic({ db: service.db, clock });
  const request = {
    clientId: app.clientId,
    requestId: "request",
    operationId: "getUser",
    code: "x",
    durationMs: 1,
    path: "/x",
    message: "x",
  };
  const step = {
    clientId: app.clientId,
    requestId: "request",
    attempt: "a",
    step: "code",
    code: null,
    reason: null,
    description: null,
  };
  for (let n = 0; n < 200; n++) {
    traffic.noteRequest({ ...request, status: 404 });
    traffic.noteStep({ ...step, outcome: "done" });
  }
  traffic.noteRequest({ ...request, clientId: "deleted", status: 404 });
  await traffic.flush();
  const { prisma } = service.db;
  const where = { clientId: app.clientId };
  expect([await prisma.apiRequest.count({ where }), await prisma.signOnStep.count({ where })]).toEqual([60, 120]);
  for (let minute = 0; minute < 20; minute++) {
    clock.forwardSeconds(60);
    for (let n = 0; n < 60; n++) traffic.noteRequest({ ...request, status: 404 });
  }
  await traffic.flush();
  const old = new Date(service.clock().getTime() - 8 * 86_400_000);
  await prisma.signOnStep.create({ data: { ...step, id: randomUUID(), at: old, outcome: "done" } });
  await world.service.runJob("traffic.sweepLogs");
  expect([await prisma.apiRequest.count({ where }), await prisma.signOnStep.count({ where })]).toEqual([1000, 120]);
  expect(await prisma.apiRequest.count({ where: { ...where, at: { lt: new Date("2026-02-03T09:01:00Z") } } })).toBe(0);
});

test("an endpoint shows how its attempts of a day went, and what waits", async () => {
  const { service } = world;
  const app = await world.app();
  const { call } = await partnerOf(app.clientId);
  const now = service.clock();
  const id = randomUUID();
  const times = { stateChangedAt: now, createdAt: now, updatedAt: now };
  const { prisma } = service.db;
  await prisma.webhookEndpoint.create({
    data: { id, clientId: app.clientId, url: "https://app.example/", eventTypes: ["person"], ...times },
  });
  const figures = async () => (await call("GET", `/webhook-endpoints/${id}/figures`)).body;
  const none = {
    attempts: 0,
    succeeded: 0,
    successRate: null,
    p50Ms: null,
    p95Ms: null,
    pending: 0,
    waitingSince: null,
  };
  expect(await figures()).toEqual(none);
  const delivery = { endpointId: id, eventType: "person", body: "{}" };
  for (let n = 1; n <= 20; n++) {
    const at = new Date(now.getTime() - (n === 20 ? 25 : 1) * 3_600_000);
    const made = await prisma.webhookDelivery.create({
      data: {
        ...delivery,
        messageId: randomUUID(),
        subjectId: randomUUID(),
        createdAt: at,
        state: "DELIVERED",
        attempts: 1,
        finishedAt: at,
      },
    });
    const answer = n === 19 ? { error: "timeout" } : { status: n === 18 ? 500 : 200 };
    await prisma.webhookAttempt.create({
      data: { deliveryId: made.id, number: 1, at, durationMs: n * 10, ...answer },
    });
  }
  const waiting = { messageId: randomUUID(), subjectId: randomUUID(), createdAt: now, dueAt: now };
  await prisma.webhookDelivery.create({ data: { ...delivery, ...waiting } });
  expect(await figures()).toEqual({
    attempts: 19,
    succeeded: 17,
    successRate: 17 / 19,
    p50Ms: 90,
    p95Ms: 180,
    pending: 1,
    waitingSince: now.toISOString(),
  });
});
