import { expect, test } from "vitest";
import demo from "../../../demo/demo.json" with { type: "json" };
import type { ClientId } from "../../../src/access/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { startDemo } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { issueAppToken, type TestApp } from "../../support/token.ts";
import { untilIdle } from "../../support/waiting.ts";

type AppView = components["schemas"]["AppView"];
type Resource = components["schemas"]["AppViewResource"];

const service = await startDemo();
const make = makeMakers(service.db);
const operator = await makeStaff(service, "OPERATOR");

const lists: Resource[] = ["school", "users", "groups", "people", "personen-info"];
const viewPath = (schoolId: string, clientId: string, resource: Resource, more = "") =>
  `/schools/${schoolId}/apps/${clientId}/view?resource=${resource}${more}`;

async function look(path: string, call: AdminClient = operator.call): Promise<AppView> {
  const { status, body } = await call("GET", path);
  expect([path, status]).toEqual([path, 200]);
  return body as AppView;
}

async function askAsApp(token: string, path: string): Promise<Omit<AppView, "path" | "count" | "leftOut">> {
  const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  const { status, headers } = answer;
  const [etag, contentType] = [headers.get("etag"), headers.get("content-type") ?? ""];
  return { status, etag, contentType, body: await answer.text() };
}

const withoutRequestId = (text: string | null) => text?.replace(/"requestId":"[^"]*"/, "");

async function expectSame(token: string, path: string): Promise<AppView> {
  const view = await look(path);
  const { count: _count, leftOut: _none, path: asked, ...shown } = view;
  const real = await askAsApp(token, asked);
  // A refusal carries the id of its own request.
  const ofRequest = shown.status === 200 ? {} : { body: withoutRequestId(shown.body) };
  expect({ ...shown, ...ofRequest }).toEqual(
    real.status === 200 ? real : { ...real, body: withoutRequestId(real.body) },
  );
  return view;
}

const readScopes = ["schools:read", "users:read", "groups:read", "people:read"] as const;

test.each(demo.apps)("$clientId: the view is byte by byte what the app gets, tag and all", async (one) => {
  const { clientId, clientSecret, redirectUris } = one;
  const app = { clientId, clientSecret, redirectUri: redirectUris[0]! } as unknown as TestApp;
  if (app.clientSecret === null) {
    for (const { id } of demo.schools)
      for (const resource of lists) expect((await look(viewPath(id, clientId, resource))).status).toBe(403);
    return;
  }
  const { scopes } = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId } });
  const token = await issueAppToken(
    service,
    app,
    readScopes.filter((scope) => scopes.includes(scope)),
  );
  let shown = 0;
  for (const { id } of demo.schools) {
    for (const resource of lists) shown += (await expectSame(token, viewPath(id, clientId, resource))).count ?? 0;
    for (const resource of ["groups", "people"] as const)
      await expectSame(token, viewPath(id, clientId, resource, "&show-deleted=true"));
  }
  for (const { id, schoolId } of await service.db.prisma.group.findMany())
    await expectSame(token, viewPath(schoolId, clientId, "group", `&id=${id}`));
  const people = await service.db.prisma.person.findMany({
    where: { homeSchoolId: { not: null } },
    orderBy: { id: "asc" },
  });
  // Other people for each app.
  const part = demo.apps.indexOf(one);
  for (const { id, homeSchoolId } of people.filter((_person, at) => at % 40 === part))
    for (const resource of ["user", "person"] as const)
      await expectSame(token, viewPath(homeSchoolId!, clientId, resource, `&id=${id}`));
  // Whom no school gave anything.
  expect([clientId, shown > 0]).toEqual([clientId, clientId !== "demo-altapp"]);
});

test("a list that is too long to be held is shown whole", async () => {
  const [school, app] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  await make.people({ school, count: 2_500, groups: [group] });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const token = await issueAppToken(service, app, readScopes);
  for (const resource of ["users", "people"] as const)
    expect((await expectSame(token, viewPath(school, app.clientId, resource))).count).toBe(2_500);
  const many = await Promise.all(Array.from({ length: 2 }, () => look(viewPath(school, app.clientId, "people"))));
  expect(many.map(({ count }) => count)).toEqual([2_500, 2_500]);
  await untilIdle(service.db);
});

const school = await make.school();
const other = await make.school();
const group = await make.group({ school });
const person = await make.person({ school, groups: [group] });
const granted = await make.app();
const strange = await make.app();
await make.grant({ app: granted.clientId, school, groups: [group] });

test("staff of a school see no groups or schools of another one in the records of who is at both", async () => {
  const [here, there, apart] = [await make.school(), await make.school(), await make.school()];
  const [ours, theirs] = [await make.group({ school: here }), await make.group({ school: there })];
  const guest = await make.person({ schools: [here, there], groups: [ours, theirs] });
  const only = await make.person({ schools: [here, apart], groups: [ours] });
  const app = await make.app();
  await make.grant({ app: app.clientId, school: here, groups: [ours] });
  await make.grant({ app: app.clientId, school: there, groups: [theirs] });
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [here] });
  for (const resource of ["user", "person"] as const) {
    const hidden = await look(viewPath(here, app.clientId, resource, `&id=${guest}`), call);
    expect(hidden).toMatchObject({ status: 200, count: 1, leftOut: 1, body: null, etag: null });
    const seen = viewPath(here, app.clientId, resource, `&id=${only}`);
    expect(await look(seen, call)).toEqual(await look(seen));
  }
  for (const resource of ["users", "people", "personen-info"] as const) {
    const path = viewPath(here, app.clientId, resource);
    const [whole, part] = [await look(path), await look(path, call)];
    expect([whole.leftOut, whole.count, whole.body!.includes(theirs)]).toEqual([0, 2, true]);
    expect(part).toMatchObject({ count: 2, leftOut: 1, etag: null });
    const records = JSON.parse(whole.body!) as { id?: string; pid?: string }[];
    expect(part.body).toBe(JSON.stringify(records.filter((one) => (one.id ?? one.pid) === only)));
    expect(whole.body).toContain(part.body!.slice(1, -1));
  }
  const both = await makeStaff(service, "DISTRICT", { schoolIds: [here, there] });
  const path = viewPath(here, app.clientId, "people");
  expect(await look(path, both.call)).toEqual(await look(path));
});

test("a partner is told the number of people and never who they are", async () => {
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [granted.clientId] });
  for (const [resource, id] of [
    ...(["users", "people", "personen-info"] as const).map((name) => [name, ""] as const),
    ...[["group", `&id=${group}`] as const, ["user", `&id=${person}`] as const, ["person", `&id=${person}`] as const],
  ])
    expect(await look(viewPath(school, granted.clientId, resource, id), call)).toMatchObject({
      status: 200,
      count: 1,
      body: null,
      etag: null,
    });
  for (const resource of ["school", "groups"] as const)
    expect((await look(viewPath(school, granted.clientId, resource), call)).body).toContain(
      resource === "school" ? school : group,
    );
  expect(refusalOf(await call("GET", viewPath(other, granted.clientId, "people")))).toEqual([404, "school_not_found"]);
  expect(refusalOf(await call("GET", viewPath(school, strange.clientId, "people")))).toEqual([404, "app_not_found"]);
});

test("a partner who is also of a school sees another school's people as a partner does", async () => {
  const { app, call } = await makeStaff(service, "PARTNER", { clientIds: [granted.clientId] });
  const role = { role: "SCHOOL_ADMIN" as const, clientId: app.clientId, givenAt: service.clock() };
  const id = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a77";
  await service.db.prisma.staffRole.create({ data: { id, ...role, schools: { create: { schoolId: other } } } });
  expect(await look(viewPath(school, granted.clientId, "people"), call)).toMatchObject({ count: 1, body: null });
  expect(refusalOf(await call("GET", viewPath(school, strange.clientId, "people")))).toEqual([404, "app_not_found"]);
});

test("ids are of the school that is asked about, and stand where they belong", async () => {
  const elsewhere = await make.group({ school: other });
  const stranger = await make.person({ school: other });
  const ask = async (schoolId: SchoolId, resource: Resource, more: string, clientId: ClientId = granted.clientId) =>
    refusalOf(await operator.call("GET", viewPath(schoolId, clientId, resource, more)));
  expect(await ask(school, "group", `&id=${elsewhere}`)).toEqual([404, "group_not_found"]);
  for (const resource of ["user", "person"] as const)
    expect(await ask(school, resource, `&id=${stranger}`)).toEqual([404, "person_not_found"]);
  for (const [resource, more] of [
    ["group", ""],
    ["users", `&id=${person}`],
    ["users", "&show-deleted=true"],
    ["everything" as Resource, ""],
  ] as const)
    expect(await ask(school, resource, more)).toEqual([400, "invalid_request"]);
});
