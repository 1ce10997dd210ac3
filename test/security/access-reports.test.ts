import { expect, test } from "vitest";
import { resumeApp, suspendApp } from "../../src/access/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { blockPerson, unblockPerson } from "../support/sign-ins.ts";
import { getUserTokens, giveLogin, issueUserToken } from "../support/token.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const origin = { at: service.clock(), actorId: "test" };

async function makePlace() {
  const school = await make.school();
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  return { school, app, personId: await make.person({ school }) };
}

async function send(token: string, body: object | string): Promise<[status: number, code: string | null]> {
  const response = await fetch(`${service.url}/v1/apps/access_report`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return [response.status, text === "" ? null : (JSON.parse(text) as { code: string }).code];
}

const countReports = (clientId: string) => db.prisma.accessReport.count({ where: { clientId } });

test("a report cannot name another app, person, school or month than those of its token", async () => {
  const { school, app, personId } = await makePlace();
  const other = await makePlace();
  const token = await issueUserToken(service, app, { person: personId, scopes: [] });
  for (const forged of [
    { clientId: other.app.clientId },
    { personId: other.personId },
    { schoolId: other.school },
    { month: "2020-01" },
  ])
    expect(await send(token, { type: "SCHOOL", ...forged })).toEqual([400, "invalid_request"]);
  expect(await send(token, { type: "SCHOOL", identifier: other.school })).toEqual([204, null]);
  expect(await db.prisma.accessReport.findMany({ where: { identifier: other.school } })).toMatchObject([
    { clientId: app.clientId, personId, schoolId: school },
  ]);
  expect(await countReports(other.app.clientId)).toBe(0);
});

test("a token that ended reports nothing: of a blocked person, a suspended app, a school that withdrew the app", async () => {
  const { school, app, personId } = await makePlace();
  const token = () => issueUserToken(service, app, { person: personId, scopes: [] });
  const refusals: unknown[] = [];
  const first = await token();
  await blockPerson(db, personId, origin);
  refusals.push(await send(first, { type: "SCHOOL" }));
  await unblockPerson(db, personId, origin);
  const second = await token();
  const suspended = { clientId: app.clientId, reason: "Test" };
  await withPrismaTransaction(db, (tx) => suspendApp(tx, suspended, origin));
  refusals.push(await send(second, { type: "SCHOOL" }));
  await withPrismaTransaction(db, (tx) => resumeApp(tx, app.clientId, origin));
  await make.grant({ app: app.clientId, school, signOn: "NOBODY" });
  refusals.push(await send(await token(), { type: "SCHOOL" }));
  expect(refusals).toEqual(Array(3).fill([401, "invalid_token"]));
  expect(await countReports(app.clientId)).toBe(0);
});

test("an app that reports a new licence with each request fills no table", async () => {
  const { app, personId } = await makePlace();
  const token = await issueUserToken(service, app, { person: personId, scopes: [] });
  const outcomes = [];
  for (let n = 0; n < 103; n++) outcomes.push(await send(token, { type: "GROUP", identifier: `licence-${n}` }));
  expect(outcomes.slice(100)).toEqual(Array(3).fill([409, "access_report_limit"]));
  expect(await send(token, { type: "GROUP", identifier: "licence-7" })).toEqual([204, null]);
  expect(await countReports(app.clientId)).toBe(100);
  expect(await send(token, `{"type":"GROUP","identifier":"${"x".repeat(2_000_000)}"}`)).toEqual([
    413,
    "body_too_large",
  ]);
});

test("sign-ins of one person at the same time are one seat", async () => {
  const { school, app, personId } = await makePlace();
  await make.signIn({ app: app.clientId, person: personId });
  const before = new Date("2026-01-31T23:59:59Z");
  await db.prisma.signIn.updateMany({ where: { personId }, data: { firstSignInAt: before, lastSignInAt: before } });
  const login = await giveLogin(db, personId);
  await db.prisma.seat.deleteMany({ where: { schoolId: school } });
  await Promise.all(Array.from({ length: 6 }, () => getUserTokens(service, app, login)));
  await service.runJob("access.countSeats");
  expect(await db.prisma.seat.findMany({ where: { schoolId: school } })).toMatchObject([{ change: "", signedIn: 1 }]);
});

test("a partner reads numbers alone: no person, no licence, no time", async () => {
  const { app, personId } = await makePlace();
  const token = await issueUserToken(service, app, { person: personId, scopes: [] });
  await send(token, { type: "SINGLE_USER", identifier: "licence-of-one", until: "2026-07-31T00:00:00Z" });
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  for (const path of ["/access-reports", "/seats"]) {
    const text = JSON.stringify((await call("GET", path)).body);
    for (const secret of [personId, "licence-of-one", "2026-07-31"]) expect(text).not.toContain(secret);
  }
});
