import fc from "fast-check";
import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { allScopes, makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";
import { walks, walkTimeoutMs } from "../../support/walks.ts";

type AppAnswer = components["schemas"]["AppAnswer"];

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const operator = await makeStaff(service, "OPERATOR");
const [own, foreign] = [await make.app(), await make.app()];
const school = await make.school();
const group = await make.group({ school });
const person = await make.person({
  school,
  groups: [group],
  name: { firstFull: "Realinde", firstCall: "Realinde", last: "Person" },
});
await make.grant({ app: own.clientId, school, groups: [group] });
const partner = await makeStaff(service, "PARTNER", { clientIds: [own.clientId] });
const created = (await partner.call("POST", `/apps/${own.clientId}/sandboxes`))
  .body as components["schemas"]["CreatedSandbox"];
const invented = created.sandbox.schools[0]!.id;

const ask = (path: string, { call = partner.call, app = own.clientId as string } = {}) =>
  call("GET", `/apps/${app}/answer?path=${encodeURIComponent(path)}`);

async function read(path: string, call: AdminClient = partner.call): Promise<AppAnswer> {
  const { status, body } = await ask(path, { call });
  expect([path, status]).toEqual([path, 200]);
  return body as AppAnswer;
}

const idm = "/idm/ep/v1";
const named = (schoolId: string, groupId: string, personId: string) => [
  ...[`${idm}/schools/${schoolId}/people`, `${idm}/schools/${schoolId}/users?limit=50`, `${idm}/groups/${groupId}`],
  ...[`${idm}/people/${personId}`, `${idm}/users/${personId}`, `${idm}/schools/${schoolId}/roster`],
  ...[
    ["organisation.id", schoolId],
    ["gruppe.id", groupId],
    ["pid", personId],
  ].map(([filter, id]) => `/idm/schulconnex/v1/personen-info?${filter}=${id}`),
];
const withoutPeople = [
  ...[`${idm}/schools`, `${idm}/schools?limit=1`, `${idm}/changes`],
  "/idm/schulconnex/v1/codelisten",
  ...[`${idm}/schools/${school}`, `${idm}/schools/${school}/groups?show-deleted=true`],
];

test("an operator gets every answer byte by byte as the app gets it", async () => {
  const token = await issueAppToken(service, own, ["schools:read", "users:read", "groups:read", "people:read"]);
  for (const path of [...withoutPeople, ...named(school, group, person)]) {
    const real = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
    const header = (name: string) => real.headers.get(name);
    expect(await read(path, operator.call)).toMatchObject({
      path,
      status: real.status,
      etag: header("etag"),
      link: header("link"),
      contentType: header("content-type"),
      ...(path !== `${idm}/changes` && { body: await real.text() }),
    });
  }
});

const realAnswer = async (path: string, token: string) => {
  const real = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  const header = (name: string) => real.headers.get(name);
  const body = (await real.text()).replace(/"requestId":"[^"]*"/, "");
  return { status: real.status, etag: header("etag"), link: header("link"), contentType: header("content-type"), body };
};

test(
  "whatever its query, an address is answered as the API answers the app, to the partner too for a sandbox",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    const scopes = ["schools:read", "users:read", "groups:read", "people:read"] as const;
    const token = await issueAppToken(service, own, [...scopes]);
    const addresses = [`${idm}/schools`, `${idm}/schools/${invented}/people`, `${idm}/schools/${invented}/groups`];
    const address = fc.constantFrom(...addresses, "/idm/schulconnex/v1/personen-info");
    const name = fc.constantFrom(
      ...["limit", "%6Cimit", "Limit", "show-deleted", "organisation.id", "organisation%2Eid", "organisation.id%5B%5D"],
      ...["pid", "gruppe.id", "vollstaendig", "cursor", "x", "", "__proto__", "path"],
    );
    const value = fc.constantFrom(
      ...[
        "1",
        "01",
        "%31",
        "true",
        "TRUE",
        "",
        "%",
        "%00",
        "%FF",
        "a?b",
        "?",
        "a=b",
        "=",
        "personen,gruppen",
        "personen",
      ],
      ...[invented, invented.toUpperCase(), invented.replaceAll("-", "%2D"), school, `${invented}?`],
    );
    const pair = fc.tuple(name, fc.constantFrom("=", "=", "=", ""), value).map((parts) => parts.join(""));
    // The sandbox is named in half of the queries, so that many are answered with 200.
    const query = fc
      .tuple(fc.boolean(), fc.array(fc.oneof(pair, fc.constantFrom("", "?")), { maxLength: 3 }))
      .map(([isNarrow, pairs]) => [...(isNarrow ? [`organisation.id=${invented}`] : []), ...pairs].join("&"));
    const statuses = new Set<number>();
    const isOfSandbox = (path: string) =>
      path.includes(`/schools/${invented}/`) || path.includes(`?organisation.id=${invented}`);
    await fc.assert(
      fc.asyncProperty(address, query, async (start, search) => {
        const path = `${start}?${search}`;
        const real = await realAnswer(path, token);
        statuses.add(real.status);
        for (const { call } of isOfSandbox(path) || real.status !== 200 ? [operator, partner] : [operator]) {
          const { status, etag, link, contentType, body } = await read(path, call);
          const shown = body?.replace(/"requestId":"[^"]*"/, "") ?? null;
          expect([path, { status, etag, link, contentType, body: shown }]).toEqual([path, real]);
        }
      }),
      walks(20, 4),
    );
    for (const status of statuses) expect([200, 400]).toContain(status);
  },
);

test("a partner gets what names nobody, with its headers", async () => {
  for (const path of withoutPeople) {
    const answer = await read(path);
    expect([path, answer.status, answer.body?.startsWith("{") || answer.body?.startsWith("[")]).toEqual([
      path,
      200,
      true,
    ]);
  }
  expect((await read(`${idm}/schools?limit=1`)).link).toContain("cursor=");
  expect(await read(`${idm}/people/${group}`)).toMatchObject({ status: 404, count: null });
  expect((await read(`${idm}/people/${group}`)).body).toContain("user_not_found");
});

test("a list of OneRoster is shown to a partner if it names nobody, or only people of a sandbox", async () => {
  const { clientId } = await make.app({ scopes: [...allScopes, "oneroster:read"] });
  await make.grant({ app: clientId, school, groups: [group] });
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const sandbox = (await call("POST", `/apps/${clientId}/sandboxes`)).body as components["schemas"]["CreatedSandbox"];
  const at = sandbox.sandbox.schools[0]!.id;
  for (const base of ["/ims/oneroster/rostering/v1p2", "/ims/oneroster/v1p1"]) {
    const readList = async (list: string) => {
      const { status, body } = await ask(`${base}/${list}`, { call, app: clientId });
      const answer = body as AppAnswer;
      return [status, answer.count! > 0, answer.body === null, answer.link === null];
    };
    const lists = (schoolId: string) =>
      ["students", "teachers", "enrollments"].map((of) => `schools/${schoolId}/${of}`);
    const open = ["orgs?limit=1", "terms", "classes", `schools/${school}/courses`, ...lists(at).slice(0, 2)];
    for (const list of open) expect([list, await readList(list)]).toEqual([list, [200, true, false, false]]);
    const real = [`schools/${school}/students`, `schools/${school}/enrollments?limit=1`, `classes/${group}/students`];
    for (const list of real) expect([list, await readList(list)]).toEqual([list, [200, true, true, true]]);
    for (const list of ["users", "students", `users/${person}`, `schools/${school}/classes/${group}/students`])
      expect([list, refusalOf(await ask(`${base}/${list}`, { call, app: clientId }))]).toEqual([
        list,
        [400, "invalid_request"],
      ]);
  }
});

test("a partner is told how many real people there are and gets no name of them", async () => {
  const all = `/idm/schulconnex/v1/personen-info`;
  const mixed = `${all}?organisation.id=${invented}&organisation.id=${school}`;
  for (const path of [...named(school, group, person), all]) {
    const { count, body, etag, link } = await read(path);
    expect([path, count! > 0, body, etag, link]).toEqual([path, true, null, null, null]);
  }
  const sizes = ["groups", "people", "users", "roster"].map(async (list) => {
    return (await read(`${idm}/schools/${school}/${list}`)).count!;
  });
  const [groups = 0, people = 0, users = 0, roster] = await Promise.all(sizes);
  expect(roster).toBe(groups + people + users);
  expect((await read(mixed)).body ?? "").not.toContain("Realinde");
  for (const path of [...withoutPeople, mixed]) expect(JSON.stringify(await read(path))).not.toContain("Realinde");
});

test("a partner gets people of the app's own sandbox whole", async () => {
  const people = JSON.parse((await read(`${idm}/schools/${invented}/people`)).body!) as { id: string }[];
  const groups = JSON.parse((await read(`${idm}/schools/${invented}/groups`)).body!) as { id: string }[];
  for (const path of named(invented, groups[0]!.id, people[0]!.id)) {
    const { body, count, etag } = await read(path);
    expect([path, body !== null, count! > 0, etag !== null]).toEqual([path, true, true, true]);
  }
});

test("a partner asks for no app of somebody else, and nothing but addresses that bring data", async () => {
  for (const app of [foreign.clientId, "nobody"])
    expect(refusalOf(await ask(`${idm}/schools`, { app }))).toEqual([404, "app_not_found"]);
  for (const path of [
    ...["/admin/v1/apps", "/idm/ep/v1/../../../admin/v1/apps", "/idm/ep/v1/schools/%2e%2e/x", "/oauth2/token"],
    ...["/idm/ep/v1/schools/", "/idm/schulconnex/v1/person-info", "/idm/ep/v1/schools#x", "//host/idm/ep/v1/schools"],
  ])
    expect([path, ...refusalOf(await ask(path))]).toEqual([path, 400, "invalid_request"]);
});
