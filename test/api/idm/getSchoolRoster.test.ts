import { expect, test } from "vitest";
import type { ScopeName } from "../../../src/access/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { demoApp, getReader, idm, idmScopes, startDemo, type Reader } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import type { TestApp } from "../../support/token.ts";

const demoSchools = [1, 2, 3, 4].map((n) => `a0000000-0000-4000-8000-00000000000${String(n)}`);

const service = await startDemo();
const make = makeMakers(service.db);

type Records = Record<string, unknown>[];
type Roster = { school?: object; groups?: Records; people?: Records; users?: Records };

/** The roster as the reads of a school, a group and the lists answer it together. */
async function readApart(read: Reader, school: string, scopes: readonly ScopeName[]): Promise<Roster> {
  const body = async (path: string) => (await read(idm + path)).body;
  const list = (name: string) => body(`/schools/${school}/${name}`) as Promise<Records>;
  const roster: Roster = {};
  if (scopes.includes("schools:read")) roster.school = (await body(`/schools/${school}`)) as object;
  if (scopes.includes("groups:read"))
    roster.groups = await Promise.all(
      (await list("groups")).map(async ({ id }) => (await body(`/groups/${String(id)}`)) as Records[number]),
    );
  if (scopes.includes("people:read")) roster.people = await list("people");
  if (scopes.includes("users:read")) roster.users = await list("users");
  return roster;
}

const readRoster = (read: Reader, school: string, headers: Record<string, string> = {}) =>
  read(`${idm}/schools/${school}/roster`, headers);

test.each(["demo-lernapp", "demo-mathe", "demo-altapp"])("%s gets what it reads one by one", async (clientId) => {
  const scopes: readonly ScopeName[] = clientId === "demo-altapp" ? ["schools:read"] : idmScopes;
  const read = await getReader(service, demoApp(clientId), scopes);
  let shown = 0;
  for (const school of demoSchools) {
    const { status, body } = await readRoster(read, school);
    expect(status).toBe((await read(`${idm}/schools/${school}`)).status);
    if (status === 200) expect(body).toStrictEqual(await readApart(read, school, scopes));
    else expect([status, body]).toMatchObject([404, { code: "organization_not_found" }]);
    shown += Number(status === 200);
  }
  // No school syncs to demo-altapp.
  expect(shown > 0).toBe(clientId !== "demo-altapp");
});

test.each(idmScopes)("a token with nothing but %s gets the part that it may read", async (scope) => {
  const read = await getReader(service, demoApp("demo-lernapp"), [scope]);
  const { body } = await readRoster(read, demoSchools[0]!);
  const part = { "schools:read": "school", "groups:read": "groups", "people:read": "people", "users:read": "users" };
  const all = await readRoster(await getReader(service, demoApp("demo-lernapp")), demoSchools[0]!);
  const name = part[scope as keyof typeof part] as keyof Roster;
  expect(body).toStrictEqual({ [name]: (all.body as Roster)[name] });
});

test("somebody whom the app sees at another school alone is not in the roster", async () => {
  const [at, other] = [await make.school(), await make.school()];
  const [synced, elsewhere] = [await make.group({ school: at }), await make.group({ school: other })];
  const app = await make.app();
  await make.grant({ app: app.clientId, school: at, groups: [synced] });
  await make.grant({ app: app.clientId, school: other, groups: [elsewhere] });
  await make.person({ schools: [at, other], groups: [elsewhere] });
  const shown = await make.person({ school: at, groups: [synced] });
  const read = await getReader(service, app, ["people:read"]);
  expect((await readRoster(read, at)).body).toMatchObject({ people: [{ id: shown }] });
});

async function makeFull(count: number, app: TestApp): Promise<{ school: SchoolId; groups: string[] }> {
  const school = await make.school();
  const groups = await Promise.all(Array.from({ length: 4 }, () => make.group({ school })));
  const [first] = await make.people({ school, count, groups, groupsEach: 3 });
  await service.db.pool.query(`UPDATE person SET last = '"pseudonym":"x"' WHERE id = $1`, [first]);
  // Neither this group nor who is only in it is the app's business.
  const hidden = await make.group({ school });
  await make.person({ school, groups: [hidden] });
  await make.grant({ app: app.clientId, school, groups });
  return { school, groups };
}

test("of a few people, and of more than are held at once, it is the same, with pseudonyms and one ETag", async () => {
  const app = await make.app({ scopes: [...idmScopes, "openid", "pseudonym"] });
  const read = await getReader(service, app);
  for (const count of [20, 2010]) {
    const { school, groups } = await makeFull(count, app);
    const first = await readRoster(read, school);
    expect(first.headers.has("content-length")).toBe(count === 20);
    const roster = first.body as Required<Roster>;
    expect([roster.groups.length, roster.people.length]).toEqual([4, count]);
    expect(roster.users.filter(({ pseudonym }) => !/^[A-Z][a-z]+ [A-Z][a-z]+$/.test(pseudonym as string))).toEqual([]);
    // What looks like the property inside a value stays what it is.
    expect(roster.users.filter(({ name }) => (name as { last: string }).last === '"pseudonym":"x"')).toHaveLength(1);
    expect(roster).toStrictEqual(await readApart(read, school, idmScopes));

    const etag = first.headers.get("etag")!;
    const again = await readRoster(read, school, { "if-none-match": etag });
    expect([again.status, again.body]).toEqual([304, null]);
    if (count > 20) continue;
    await make.person({ school, groups: [groups[0] as never] });
    const changed = await readRoster(read, school, { "if-none-match": etag });
    expect([changed.status, (changed.body as Required<Roster>).people.length]).toEqual([200, count + 1]);
  }
});
