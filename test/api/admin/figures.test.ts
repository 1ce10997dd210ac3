import { beforeEach, expect, test } from "vitest";
import { deleteApp } from "../../../src/access/index.ts";
import { forgetApp } from "../../../src/sign-on/index.ts";
import { makeTraffic } from "../../../src/traffic/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, withoutRequest } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { getAppToken, postToken } from "../../support/token.ts";

type Schemas = components["schemas"];

const service = await startService();
const make = makeMakers(service.db);
const [school, otherSchool] = [await make.school(), await make.school()];
const [own, foreign] = [await make.app(), await make.app()];
const operator = await makeStaff(service, "OPERATOR");
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const district = await makeStaff(service, "DISTRICT", { schoolIds: [school, otherSchool] });

const { runJob } = service;
const start = service.clock();
beforeEach(async () => {
  service.clock.set(start);
  await runJob("traffic.flush");
  await service.db.prisma.figure.deleteMany();
  await service.db.prisma.jobRun.deleteMany();
});
const figures = async ({ call }: typeof admin, query: string) => {
  const sent = await call("GET", `/figures?${query}`);
  expect([sent.status, sent.headers.get("etag")]).toEqual([200, expect.stringMatching(/^"/)]);
  return (sent.body as Schemas["Figures"]).points.map(({ at, outcome, count }) => [at, outcome, count]);
};
const hour = "2026-02-03T08:00:00.000Z";
const tomorrow = "until=2026-02-04T00:00:00Z";

test("calls, tokens and refusals are counted for their app, written by a job, and seen by whoever looks after it", async () => {
  const token = await getAppToken(service, own, ["schools:read"]);
  const schools = (bearer: string) =>
    fetch(`${service.url}/idm/ep/v1/schools`, { headers: { authorization: `Bearer ${bearer}` } });
  for (let n = 0; n < 3; n++) expect((await schools(token)).status).toBe(200);
  expect((await schools("unknown")).status).toBe(401);
  const groups = `${service.url}/idm/ep/v1/schools/${school}/groups`;
  expect((await fetch(groups, { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
  const wrong = { grant_type: "client_credentials", scope: "nonsense" };
  expect((await postToken(service, own, wrong)).status).toBe(400);
  expect(await figures(partner, `metric=apiCalls&${tomorrow}`)).toEqual([]);
  await runJob("traffic.flush");
  await runJob("traffic.flush");
  expect(await figures(partner, `metric=apiCalls&${tomorrow}`)).toEqual([
    [hour, "done", 3],
    [hour, "refused", 1],
  ]);
  expect(await figures(partner, `metric=refusals&${tomorrow}&app=${own.clientId}`)).toEqual([
    [hour, "insufficient_scope", 1],
    [hour, "invalid_scope", 1],
  ]);
  expect(await figures(partner, `metric=tokens&${tomorrow}`)).toEqual([[hour, "client_credentials", 1]]);
  const all = await figures(operator, `metric=apiCalls&${tomorrow}&step=day`);
  expect(all).toEqual([
    ["2026-02-03T00:00:00.000Z", "done", 3],
    ["2026-02-03T00:00:00.000Z", "refused", 2],
  ]);
});

test("counts of several processes and hours add up by hour, by day, and over schools", async () => {
  const clock = makeTestClock("2026-02-05T10:30:00Z");
  const processes = [makeTraffic({ db: service.db, clock }), makeTraffic({ db: service.db, clock })];
  for (const { count } of processes) {
    count("signIns", "done", { clientId: own.clientId, schoolId: school });
    count("signIns", "done", { clientId: own.clientId, schoolId: otherSchool });
  }
  await Promise.all(processes.map(({ flush }) => flush()));
  clock.forwardSeconds(3600);
  processes[0]!.count("signIns", "done", { clientId: foreign.clientId, schoolId: school });
  await processes[0]!.flush();
  const span = "from=2026-02-05T00:00:00Z&until=2026-02-06T00:00:00Z";
  const [ten, eleven, day] = ["2026-02-05T10:00:00.000Z", "2026-02-05T11:00:00.000Z", "2026-02-05T00:00:00.000Z"];
  expect(await figures(admin, `metric=signIns&${span}`)).toEqual([
    [ten, "done", 2],
    [eleven, "done", 1],
  ]);
  const oneHour = "from=2026-02-05T10:00:00Z&until=2026-02-05T11:00:00Z";
  expect(await figures(admin, `metric=signIns&${oneHour}`)).toEqual([[ten, "done", 2]]);
  expect(await figures(district, `metric=signIns&${span}&step=day`)).toEqual([[day, "done", 5]]);
  expect(await figures(district, `metric=signIns&${span}&step=day&school=${otherSchool}`)).toEqual([[day, "done", 2]]);
  expect(await figures(operator, `metric=signIns&${span}&step=day`)).toEqual([[day, "done", 5]]);
  expect(await figures(operator, `metric=signIns&${span}&step=day&app=${foreign.clientId}`)).toEqual([
    [day, "done", 1],
  ]);
  await deleteApp(service.db, foreign.clientId, { origin: { at: clock() }, forget: forgetApp });
  processes[0]!.count("signIns", "done", { clientId: foreign.clientId });
  await processes[0]!.flush();
  expect(await service.db.prisma.figure.count({ where: { subject: `app:${foreign.clientId}` } })).toBe(0);
});

test("hours go after 14 days, days after two years", async () => {
  const { prisma } = service.db;
  const old = { metric: "tokens", subject: "", outcome: "old", count: 1n };
  const at = (days: number) => new Date(service.clock().getTime() - days * 86_400_000);
  await prisma.figure.createMany({
    data: [
      { ...old, step: "HOUR", at: at(13) },
      { ...old, step: "HOUR", at: at(15) },
      { ...old, step: "DAY", at: at(730) },
      { ...old, step: "DAY", at: at(732) },
    ],
  });
  await runJob("traffic.sweep");
  const left = await prisma.figure.findMany({ where: { outcome: "old" }, orderBy: { at: "asc" } });
  expect(left.map(({ step }) => step)).toEqual(["DAY", "HOUR"]);
});

test("figures of other apps and schools, of an app for staff of schools, and of odd times are refused", async () => {
  const refused = async ({ call }: typeof admin, query: string) => refusalOf(await call("GET", `/figures?${query}`));
  const missing = "00000000-0000-4000-8000-000000000001";
  for (const clientId of [operator.app.clientId, "none"])
    expect(await refused(partner, `metric=tokens&app=${clientId}`)).toEqual([404, "app_not_found"]);
  expect(await refused(admin, `metric=tokens&app=${own.clientId}`)).toEqual([404, "app_not_found"]);
  for (const id of [otherSchool, missing])
    expect(await refused(admin, `metric=tokens&school=${id}`)).toEqual([404, "school_not_found"]);
  for (const query of [
    "metric=people",
    "step=hour",
    `metric=tokens&app=${own.clientId}&school=${school}`,
    "metric=tokens&from=2026-02-04T00:00:00Z&until=2026-02-03T00:00:00Z",
    "metric=tokens&from=2026-02-03T00:00:00Z&until=2026-02-03T00:00:00Z",
    "metric=tokens&from=2025-02-04T00:00:00Z&until=2026-02-03T00:00:00Z",
  ])
    expect(await refused(operator, query), query).toEqual([400, "invalid_request"]);
});

test("an operator sees what is well, when jobs ran, and what waits", async () => {
  const traffic = makeTraffic({ db: service.db, clock: service.clock });
  traffic.noteJob({ name: "webhooks.deliver", outcome: "failed", durationMs: 9 });
  traffic.noteJob({ name: "webhooks.deliver", outcome: "done", durationMs: 12 });
  await traffic.flush();
  const { body } = await operator.call("GET", "/health");
  expect(body).toEqual({
    isWell: true,
    pendingDeliveries: 0,
    heldImports: 0,
    checks: ["database", "migrations", "signing_keys"].map((name) => ({ name, isWell: true })),
    jobs: [
      { name: "webhooks.deliver", state: "WELL", at: hour, durationMs: 12, outcome: "done", doneAt: hour, failures: 0 },
    ],
  });
});

test("health is not well while a job fails or is late, and names it", async () => {
  const traffic = makeTraffic({ db: service.db, clock: service.clock });
  const stateOf = async (name: string) => {
    const { isWell, jobs } = (await operator.call("GET", "/health")).body as Schemas["Health"];
    const { state, failures, doneAt } = jobs.find((job) => job.name === name)!;
    return [isWell, state, failures, doneAt];
  };
  const run = async (name: string, ...outcomes: ("done" | "failed")[]) => {
    service.clock.forwardSeconds(1);
    for (const outcome of outcomes) traffic.noteJob({ name, outcome, durationMs: 1 });
    await traffic.flush();
  };
  await run("webhooks.deliver", "done");
  const doneAt = service.clock().toISOString();
  await run("webhooks.deliver", "failed", "failed");
  await run("webhooks.deliver", "failed");
  expect(await stateOf("webhooks.deliver")).toEqual([false, "FAILING", 3, doneAt]);
  await run("webhooks.deliver", "failed", "done");
  expect(await stateOf("webhooks.deliver")).toEqual([true, "WELL", 0, service.clock().toISOString()]);
  service.clock.forwardSeconds(63);
  expect((await stateOf("webhooks.deliver")).slice(0, 2)).toEqual([true, "WELL"]);
  service.clock.forwardSeconds(1);
  expect((await stateOf("webhooks.deliver")).slice(0, 2)).toEqual([false, "LATE"]);
});

test("signing keys are shown without what is secret and rotated once for one key, and again later or if that is forced", async () => {
  const listKeys = async () => (await operator.call("GET", "/signing-keys")).body as Schemas["SigningKey"][];
  const before = await listKeys();
  service.clock.forwardSeconds(1);
  expect(before.map(({ state }) => state)).toEqual(["ACTIVE", "NEXT"]);
  const headers = { "idempotency-key": "rotation" };
  const rotated = await operator.call("POST", "/signing-keys/rotation", { headers });
  const again = await operator.call("POST", "/signing-keys/rotation", { headers });
  expect([rotated.status, withoutRequest(again)]).toEqual([200, withoutRequest(rotated)]);
  const after = await listKeys();
  expect(after).toEqual(rotated.body);
  const kids = (keys: Schemas["SigningKey"][], state: string) =>
    keys.flatMap((key) => (key.state === state ? [key.kid] : [])).sort();
  expect(kids(after, "ACTIVE")).toEqual(kids(before, "NEXT"));
  expect(kids(after, "RETIRED")).toEqual(kids(before, "ACTIVE"));
  expect(JSON.stringify(after)).not.toMatch(/"(d|p|q|x|n|jwk|encrypted\w*)"/);
  const [line] = await service.db.prisma.audit.findMany({
    where: { action: "signing_key_rotated" },
    orderBy: { id: "asc" },
  });
  expect(line).toMatchObject({ actorRole: "OPERATOR", actorId: `app:${operator.app.clientId}` });
  await runJob("sign-on.watchKeys");
  const jwks = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  expect(jwks.keys.map(({ kid }) => kid).sort()).toEqual(after.map(({ kid }) => kid).sort());

  const rotate = (query = "") => operator.call("POST", `/signing-keys/rotation${query}`);
  const { usableAt } = after.find(({ state }) => state === "NEXT")!;
  expect(Date.parse(usableAt!)).toBe(service.clock().getTime() + 4200_000);
  expect(after.filter((key) => key.state !== "NEXT").map((key) => key.usableAt)).not.toContain(usableAt);
  const refused = await rotate();
  expect(refusalOf(refused)).toEqual([409, "signing_key_too_new"]);
  expect((refused.body as Schemas["Problem"]).message).toContain(usableAt);
  expect(await listKeys()).toEqual(after);
  const forced = await rotate("?force=true");
  expect(forced.status).toBe(200);
  const requestId = forced.headers.get("x-request-id");
  expect(await service.db.prisma.audit.findMany({ where: { requestId }, orderBy: { id: "asc" } })).toMatchObject([
    { action: "signing_key_rotated", detail: { forced: true } },
  ]);
});
