import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import {
  appAttributes,
  changeDirectory,
  listAppsOfPerson,
  setWithheld,
  updateApp,
  type AppAttribute,
} from "../../src/access/index.ts";
import {
  updatePerson,
  updateSchool,
  type Change,
  type GroupId,
  type PersonId,
  type SchoolId,
} from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getAppToken, getUserTokens, giveLogin, type TestApp } from "../support/token.ts";

// What the registration of an app does not name, or a school withholds from it, it finds nowhere: not in a record, a
// claim, an order or an event.

const service = await startService();
const make = makeMakers(service.db, service.clock());
const origin = { at: service.clock(), actorId: "test" };

const school = await make.school({
  name: "Schule am Deich",
  officialId: "DE-NI-SECRET",
  address: { address: "Geheimweg 1", addressAddition: "Hinterhaus", city: "Stade", zipCode: "21680" },
  location: { country: "AT", state: "ZZ9" },
  schoolingLevel: "OBERSCHULE",
});
const group = await make.group({ school, name: "5a" });
// Ids ascend in another order than names.
const names = ["Zander", "Amsel", "Meise"];
const people: PersonId[] = [];
for (const [n, last] of names.entries()) {
  const name = { firstFull: `${last} Marie`, firstCall: `${last}chen`, last };
  const id = `c0000000-0000-4000-8000-00000000000${n}` as PersonId;
  const sourceSystemIdentifier = `src-${n}`;
  people.push(await make.person({ id, school, name, groups: [group], sourceSystemIdentifier, role: "TEACHER" }));
}
const person = people[0]!;
const login = await giveLogin(service.db, person);

type Place = { school: SchoolId; group: GroupId };

async function makeReader(attributes: readonly AppAttribute[], at: Place = { school, group }): Promise<TestApp> {
  const app = await make.app({ attributes: [...attributes], scopes: [...allScopes, "school_address"] });
  await make.grant({ app: app.clientId, school: at.school, groups: [at.group] });
  return app;
}

const change = (work: (change: Change) => Promise<unknown>) => changeDirectory(service.db, origin, work);
const withhold = ({ clientId }: TestApp, attributes: readonly AppAttribute[], schoolId = school) =>
  change((one) => setWithheld(one, { clientId, schoolId, attributes }));

const ways = {
  "that is not registered for": makeReader,
  "from which the school withholds": async (attributes: readonly AppAttribute[], at?: Place) => {
    const app = await makeReader(appAttributes, at);
    const others = appAttributes.filter((name) => !attributes.includes(name));
    await withhold(app, others, at?.school);
    return app;
  },
};
const each = Object.keys(ways) as (keyof typeof ways)[];
const all = await makeReader(appAttributes);

const paths = {
  schools: "/idm/ep/v1/schools",
  school: `/idm/ep/v1/schools/${school}`,
  users: `/idm/ep/v1/schools/${school}/users`,
  people: `/idm/ep/v1/schools/${school}/people`,
  "people with deleted": `/idm/ep/v1/schools/${school}/people?show-deleted=true`,
  group: `/idm/ep/v1/groups/${group}`,
  user: `/idm/ep/v1/users/${person}`,
  person: `/idm/ep/v1/people/${person}`,
  "personen-info": "/idm/schulconnex/v1/personen-info",
  "personen-info of a group": `/idm/schulconnex/v1/personen-info?gruppe.id=${group}`,
  "personen-info of a school": `/idm/schulconnex/v1/personen-info?organisation.id=${school}`,
};

/** Everything that the app reads, as text and as values. */
async function readAll(app: TestApp) {
  const scopes = ["schools:read", "users:read", "groups:read", "people:read"] as const;
  const token = await getAppToken(service, app, [...scopes]);
  const user = await getUserTokens(service, app, login, { scopes: [...allScopes, "school_address"] });
  const read = async (path: string, bearer = token) => {
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${bearer}` } });
    expect(response.status, path).toBe(200);
    return { body: await response.text(), etag: response.headers.get("etag"), link: response.headers.get("link") };
  };
  const answers = new Map<string, Awaited<ReturnType<typeof read>>>();
  await Promise.all(Object.entries(paths).map(async ([label, path]) => answers.set(label, await read(path))));
  answers.set("person-info", await read("/idm/schulconnex/v1/person-info", user.access_token));
  answers.set("userinfo", await read("/oauth2/userinfo", user.access_token));
  // Without random values, which may contain any short word.
  const { jti: _jti, sid: _sid, nonce: _nonce, at_hash: _hash, ...claims } = decodeJwt(user.id_token!);
  answers.set("ID token", { body: JSON.stringify(claims), etag: null, link: null });
  return { answers, token };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The ways to what is null in one value and not in the other; places in lists do not count. */
function hiddenIn(value: unknown, whole: unknown, way = ""): string[] {
  if (value === null && whole !== null) return [way];
  if (!isRecord(value) || !isRecord(whole)) return [];
  const found = Object.keys(whole).flatMap((key) =>
    hiddenIn(value[key], whole[key], Array.isArray(whole) ? way : way === "" ? key : `${way}.${key}`),
  );
  return [...new Set(found)];
}

const organisations = ["person.stammorganisation", "personenkontexte.organisation"];

const schulconnex = (ways: string[]) => ({
  "personen-info": ways,
  "personen-info of a group": ways,
  "personen-info of a school": ways,
  "person-info": ways,
});

const hidden: Record<AppAttribute, Record<string, string[]>> = {
  SCHOOL_ADDRESS: {
    schools: ["address"],
    school: ["address"],
    userinfo: ["school_address"],
    "ID token": ["school_address"],
    ...schulconnex(organisations.map((at) => `${at}.anschrift`)),
  },
  SCHOOL_LOCATION: {
    schools: ["location"],
    school: ["location"],
    userinfo: ["school_location"],
    "ID token": ["school_location"],
  },
  SCHOOL_OFFICIAL_ID: {
    schools: ["officialId"],
    school: ["officialId"],
    userinfo: ["school_official_id"],
    "ID token": ["school_official_id"],
    ...schulconnex(organisations.map((at) => `${at}.kennung`)),
  },
  SCHOOLING_LEVEL: {
    schools: ["schoolingLevel"],
    school: ["schoolingLevel"],
    userinfo: ["schooling_level"],
    "ID token": ["schooling_level"],
  },
  PERSON_NAME: {
    users: ["name"],
    people: ["name"],
    "people with deleted": ["name"],
    user: ["name"],
    person: ["name"],
    group: ["members.name"],
    ...schulconnex(["person.name"]),
    userinfo: ["name", "given_name", "call_name", "family_name"],
    "ID token": ["name", "given_name", "call_name", "family_name"],
  },
  SOURCE_SYSTEM_IDENTIFIER: {
    people: ["sourceSystemIdentifier"],
    "people with deleted": ["sourceSystemIdentifier"],
    person: ["sourceSystemIdentifier"],
  },
};

const words: Record<AppAttribute, RegExp> = {
  SCHOOL_ADDRESS: /Geheimweg|Hinterhaus|Stade|21680/,
  SCHOOL_LOCATION: /ZZ9/,
  SCHOOL_OFFICIAL_ID: /DE-NI-SECRET/,
  SCHOOLING_LEVEL: /OBERSCHULE/,
  PERSON_NAME: /Zander|Amsel|Meise|Marie/,
  SOURCE_SYSTEM_IDENTIFIER: /src-/,
};

const whole = await readAll(all);

test.each([
  ...appAttributes.map((attribute) => ["that is not registered for" as const, [attribute]] as const),
  // Each in a half of its own.
  ["from which the school withholds" as const, appAttributes.slice(0, 3)] as const,
  ["from which the school withholds" as const, appAttributes.slice(3)] as const,
])("an app %s %j reads null in their place, everywhere, and all else", async (way, lacking) => {
  const others = appAttributes.filter((name) => !lacking.includes(name));
  const { answers } = await readAll(await ways[way](others));
  const found = [...answers].map(([label, { body }]) => {
    const ways = hiddenIn(inOrderOfIds(body), inOrderOfIds(whole.answers.get(label)!.body));
    return [label, ways] as const;
  });
  const named = Object.fromEntries(found.filter(([, ways]) => ways.length > 0));
  const expected = lacking.flatMap((name) => Object.entries(hidden[name]));
  const byLabel = Map.groupBy(expected, ([label]) => label);
  for (const label of answers.keys())
    expect([label, (named[label] ?? []).toSorted()]).toEqual([
      label,
      (byLabel.get(label) ?? []).flatMap(([, ways]) => ways).toSorted(),
    ]);
  for (const [label, { body }] of answers) {
    for (const name of lacking) expect(body, label).not.toMatch(words[name]);
    for (const other of others)
      expect(words[other].test(body), `${other} in ${label}`).toBe(words[other].test(whole.answers.get(label)!.body));
  }
});

/** A list, or the members in a record, by id, so that two orders can be compared. */
function inOrderOfIds(body: string): unknown {
  return JSON.parse(body, (_key, value: unknown) => {
    if (!Array.isArray(value) || !isRecord(value[0])) return value;
    const idOf = (one: Record<string, unknown>) => String(one["pid"] ?? one["id"]);
    return (value as Record<string, unknown>[]).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  });
}

const idsOf = (body: string) => (JSON.parse(body) as { id?: string; pid?: string }[]).map(({ id, pid }) => id ?? pid);

test.each(each)("people stand in the order of their ids for an app %s names, whole and in pages", async (way) => {
  const app = await ways[way](appAttributes.filter((name) => name !== "PERSON_NAME"));
  const { answers, token } = await readAll(app);
  const byId = people.toSorted();
  const byName = ["Amsel", "Meise", "Zander"].map((last) => people[names.indexOf(last)]);
  expect(byName).not.toEqual(byId);
  for (const label of ["users", "people", "people with deleted", ...Object.keys(schulconnex([])).slice(0, 3)]) {
    expect(idsOf(whole.answers.get(label)!.body), label).toEqual(byName);
    expect(idsOf(answers.get(label)!.body), label).toEqual(byId);
  }
  const members = (body: string) => idsOf(JSON.stringify((JSON.parse(body) as { members: unknown }).members));
  expect(members(whole.answers.get("group")!.body)).toEqual(byName);
  expect(members(answers.get("group")!.body)).toEqual(byId);
  for (const kind of ["users", "people"] as const) {
    const paged: unknown[] = [];
    for (let next: string | undefined = `${paths[kind]}?limit=1`; next !== undefined;) {
      const response: Response = await fetch(service.url + next, { headers: { authorization: `Bearer ${token}` } });
      paged.push(...idsOf(await response.text()));
      next = /<([^>]+)>/.exec(response.headers.get("link") ?? "")?.[1];
    }
    expect(paged, kind).toEqual(byId);
  }
});

async function listEvents(app: TestApp): Promise<string[]> {
  const text = "SELECT type, action, updated_properties FROM app_event WHERE client_id = $1 ORDER BY seq";
  type Row = { type: string; action: string; updated_properties: string[] };
  const { rows } = await service.db.pool.query<Row>(text, [app.clientId]);
  return rows
    .filter(({ action }) => action !== "create")
    .map(({ type, action, updated_properties }) => [type, action, ...updated_properties].join(" "));
}

test.each(each)("what an app %s makes no event and is named in none", async (way) => {
  const schoolId = await make.school({ name: "Schule", schoolingLevel: null });
  const at = { school: schoolId, group: await make.group({ school: schoolId }) };
  const personId = await make.person({ ...at, groups: [at.group], role: "TEACHER", sourceSystemIdentifier: "src-old" });
  const changeSchool = (to: Partial<Parameters<typeof updateSchool>[1]>) =>
    change((one) => updateSchool(one, { schoolId, ...to }));
  const changePerson = (to: Partial<Parameters<typeof updatePerson>[1]>) =>
    change((one) => updatePerson(one, { personId, ...to }));
  const made = async (attributes: readonly AppAttribute[]) => {
    const app = await ways[way](attributes, at);
    await service.db.pool.query("DELETE FROM app_event WHERE client_id = $1", [app.clientId]);
    return app;
  };
  const nothing = await made([]);
  const location = await made(["SCHOOL_LOCATION"]);
  const everything = await makeReader(appAttributes, at);
  const name = { firstFull: "Neu", firstCall: "Neu", last: "Neu" };
  await changePerson({ name });
  await changePerson({ sourceSystemIdentifier: "src-new" });
  await changeSchool({ officialId: `DE-NI-${schoolId}`, schoolingLevel: "GYMNASIUM" });
  await changeSchool({ address: { city: "Jork" } });
  expect([await listEvents(nothing), await listEvents(location)]).toEqual([[], []]);
  await changeSchool({ location: { state: "ZZ8" }, officialId: `DE-NW-${schoolId}` });
  await changeSchool({ name: "Deichschule", address: { city: "Stade" } });
  await changePerson({ role: "STUDENT", name: { ...name, last: "Neuer" } });
  expect(await listEvents(nothing)).toEqual(["school update name", "person update role"]);
  expect(await listEvents(location)).toEqual(["school update address", "school update name", "person update role"]);
  expect(await listEvents(everything)).toEqual([
    ...["person update name", "person update", "school update schooling_level official_id"],
    ...["school update address", "school update address official_id", "school update name address"],
    "person update name role",
  ]);
});

test("a school that switches attributes off and on again makes events that name them, and moves the tags", async () => {
  const app = await makeReader(appAttributes);
  const before = await readAll(app);
  await withhold(app, appAttributes);
  const between = await readAll(app);
  await withhold(app, []);
  const after = await readAll(app);
  const ofAll = [...people.map(() => "person update name"), "school update address schooling_level official_id"].sort();
  expect((await listEvents(app)).sort()).toEqual([...ofAll, ...ofAll].sort());
  for (const [label, { body, etag }] of before.answers) {
    if (["userinfo", "ID token"].includes(label)) continue;
    expect(between.answers.get(label)!.etag, label).not.toBe(etag);
    expect(after.answers.get(label)!.body, label).toBe(body);
  }
});

test("claims that only a withheld scope gives are null, and records that need it are not there", async () => {
  const app = await makeReader(appAttributes);
  const before = await readAll(app);
  await make.notAgreed({ app: app.clientId, school, items: ["profile", "school", "groups:read"] });
  const token = await getAppToken(service, app, ["groups:read", "users:read"]);
  const get = async (path: string) => {
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
    return response.status === 200 ? ((await response.json()) as unknown) : response.status;
  };
  const user = await getUserTokens(service, app, login, { scopes: [...allScopes, "school_address"] });
  const claims = JSON.parse(Buffer.from(user.id_token!.split(".")[1]!, "base64url").toString()) as object;
  const whole = JSON.parse(before.answers.get("ID token")!.body) as object;
  // The address has a scope of its own.
  const ofSchool = ["school", "school_location", "school_name", "school_official_id", "schooling_level"];
  const lost = ["call_name", "family_name", "given_name", "name", ...ofSchool];
  expect(hiddenIn(claims, whole).sort()).toEqual(lost);
  expect(await get(paths.group)).toBe(404);
  expect(await get(`/idm/ep/v1/schools/${school}/groups`)).toEqual([]);
  expect(await get(paths.user)).toMatchObject({ groups: [{ id: group }] });
  const apps = await listAppsOfPerson(service.db.pool, { personId: person, now: service.clock() });
  const seen = apps.find(({ clientId }) => clientId === app.clientId)!;
  expect(seen.scopes.filter((name) => ["profile", "groups:read", "role"].includes(name))).toEqual(["role"]);
});

test("another registration makes no event, and moves the tags of lists and of what is another now", async () => {
  const app = await makeReader([]);
  const before = await readAll(app);
  const events = await listEvents(app);
  const register = (attributes: AppAttribute[]) =>
    withPrismaTransaction(service.db, (tx) =>
      updateApp(tx, { clientId: app.clientId, attributes }, { ...origin, allowLoopbackHttp: true }),
    );
  await register(["PERSON_NAME"]);
  const after = await readAll(app);
  expect(await listEvents(app)).toEqual(events);
  const moved = [...after.answers].filter(([label, { etag }]) => etag !== before.answers.get(label)!.etag);
  const same = ["school", "userinfo", "ID token"];
  expect(moved.map(([label]) => label)).toEqual([...after.answers.keys()].filter((label) => !same.includes(label)));
  expect(after.answers.get("person")!.body).toContain("Zander");
});

test("a cursor of the order by name is refused once names are withdrawn", async () => {
  const app = await makeReader(appAttributes);
  const token = await getAppToken(service, app, ["people:read"]);
  const get = (path: string) => fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  const first = await get(`${paths.people}?limit=1`);
  const next = /<([^>]+)>/.exec(first.headers.get("link")!)![1]!;
  await withPrismaTransaction(service.db, (tx) =>
    updateApp(tx, { clientId: app.clientId, attributes: [] }, { ...origin, allowLoopbackHttp: true }),
  );
  const refused = await get(next);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([400, "invalid_cursor"]);
});
