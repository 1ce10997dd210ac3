import { expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type Schemas = components["schemas"];
type Counts = Schemas["OpenErasures"];

const service = await startService();
const make = makeMakers(service.db);
const now = service.clock();
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const [school, other] = [await make.school({ name: "A school" }), await make.school({ name: "B school" })];
const [app, prompt] = [await make.app({ name: "Slow" }), await make.app({ name: "Prompt" })];

type Wishes = {
  cause?: "no_longer_synced" | "access_withdrawn";
  state?: "erased" | "kept";
  reason?: "legal_claims";
};
const ask = (clientId: string, schoolId: string, days: number, { cause, state, reason }: Wishes = {}) =>
  service.db.prisma.erasure.create({
    data: {
      id: randomUUID(),
      clientId,
      schoolId: schoolId,
      subjectId: randomUUID(),
      since: daysAgo(days),
      cause: cause ?? "deleted",
      state: state ?? "open",
      reason: reason ?? null,
      acknowledgedAt: state === undefined ? null : daysAgo(1),
    },
  });
await ask(app.clientId, school, 31);
await ask(app.clientId, school, 29);
await ask(app.clientId, school, 31, { cause: "access_withdrawn" });
await ask(app.clientId, school, 2, { cause: "no_longer_synced" });
await ask(app.clientId, school, 90, { state: "erased" });
await ask(app.clientId, school, 90, { state: "kept", reason: "legal_claims" });
await ask(app.clientId, other, 61, { cause: "access_withdrawn" });
await ask(prompt.clientId, school, 90, { state: "erased" });

const operator = await makeStaff(service, "OPERATOR");
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
const list = async ({ call }: typeof admin, query: string) =>
  (await call("GET", `/erasures?${query}`)).body as Counts[];
const slow = {
  clientId: app.clientId,
  appName: "Slow",
  schoolId: school,
  schoolName: "A school",
  open: 3,
  openSince: daysAgo(31).toISOString(),
  overdue: 1,
  waiting: 1,
  erased: 1,
  kept: 1,
};
const elsewhere = { schoolId: other, schoolName: "B school", open: 1, waiting: 0, erased: 0, kept: 0 };
const slowElsewhere = { ...slow, ...elsewhere };
const nothingOpen = { open: 0, openSince: null, overdue: 0, waiting: 0, kept: 0 };
const promptly = { ...slow, clientId: prompt.clientId, appName: "Prompt", ...nothingOpen };
const byApp = <T extends { appName: string }>(counts: T[]) =>
  counts.toSorted((a, b) => (a.appName < b.appName ? -1 : 1));

test("a school sees by app what is open and since when; a partner by school; nobody what they do not reach", async () => {
  expect(byApp(await list(admin, `school=${school}`))).toEqual(byApp([slow, promptly]));
  expect(await list(admin, `school=${school}&app=${app.clientId}`)).toEqual([slow]);
  expect(await list(admin, `app=${app.clientId}`)).toEqual([slow]);
  expect(await list(partner, `app=${app.clientId}`)).toEqual([slow, slowElsewhere]);
  expect(await list(operator, `app=${app.clientId}`)).toEqual([slow, slowElsewhere]);
  expect(refusalOf(await admin.call("GET", `/erasures?school=${other}`))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await partner.call("GET", `/erasures?app=${prompt.clientId}`))).toEqual([404, "app_not_found"]);
  expect(refusalOf(await operator.call("GET", "/erasures"))).toEqual([400, "invalid_request"]);
});

test("pages go on after the last school", async () => {
  const first = await operator.call("GET", `/erasures?app=${app.clientId}&limit=1`);
  expect(first.body).toEqual([slow]);
  const [, next] = /<\/admin\/v1([^>]+)>/.exec(first.headers.get("link") ?? "") ?? [];
  const second = await operator.call("GET", next!);
  expect([second.body, second.headers.get("link")]).toEqual([[slowElsewhere], null]);
});

test("today shows who is overdue, at a school, for a partner's apps, or everywhere", async () => {
  const overdueOf = async ({ call }: typeof admin, query = "") =>
    ((await call("GET", `/today${query}`)).body as Schemas["Today"]).overdueErasures;
  const overdue = { clientId: app.clientId, appName: "Slow", openSince: daysAgo(31).toISOString() };
  for (const staff of [admin, partner, operator])
    expect(await overdueOf(staff)).toEqual({ count: 1, first: [overdue] });
  expect(await overdueOf(operator, `?school=${other}`)).toEqual({ count: 1, first: [overdue] });
  const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [await make.school()] });
  expect(await overdueOf(stranger)).toEqual({ count: 0, first: [] });
});
