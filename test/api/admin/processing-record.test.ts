import { decodeJwt } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { appAttributes, listSignOnRights } from "../../../src/access/index.ts";
import type { AppAttribute, NewApp, ScopeName, SignOnAudience } from "../../../src/access/index.ts";
import type { GroupId, PersonId, PersonRole, SchoolId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { idm, makeReader, schulconnex } from "../../support/api.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin, issueAppToken, type Login, type TestApp } from "../../support/token.ts";

type Schemas = components["schemas"];
type ProcessingRecord = Schemas["ProcessingRecord"];
type Activity = Schemas["ProcessingActivity"];

const service = await startService();
const make = makeMakers(service.db);
const readScopes: readonly ScopeName[] = ["schools:read", "users:read", "groups:read", "people:read"];

const school = await make.school({ name: "Record School", officialId: "DE-NI-RECORD" });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const named = { firstFull: "Zebedaeus Xaver", firstCall: "Zebedaeus", last: "Quittenbaum" };
const sourceSystemIdentifier = "SRC-4711-RECORD";

const readRecord = async (schoolId: SchoolId, { call } = admin): Promise<ProcessingRecord> =>
  (await call("GET", `/schools/${schoolId}/processing-record`)).body as ProcessingRecord;
const findApp = ({ activities }: ProcessingRecord, { clientId }: TestApp): Activity | undefined =>
  activities.find(({ code }) => code === clientId);
const codes = (terms: readonly { code: string }[] = []): string[] => terms.map(({ code }) => code).sort();

describe("a category of data is in the record exactly if the app can read it:", () => {
  let [group, person, login] = [] as unknown as [GroupId, PersonId, Login];
  const browser = makeBrowser(service.url);
  beforeAll(async () => {
    group = await make.group({ school, name: "Quintaklasse" });
    person = await make.person({ school, groups: [group], name: named, sourceSystemIdentifier });
    login = await giveLogin(service.db, person);
  });

  type Case = {
    scopes: ScopeName[];
    attributes?: AppAttribute[];
    type?: NewApp["type"];
    signOn?: "EVERYBODY" | "NOBODY";
    sync?: boolean;
    withGroup?: boolean;
    /** What the school withholds: attributes by its own choice, scopes because it has not agreed to them yet. */
    off?: (AppAttribute | ScopeName)[];
    /** The person signed in before the school revoked everything. */
    revoked?: true;
  };
  const claims: ScopeName[] = [
    ...(["profile", "role", "school", "groups", "pseudonym", "school_name", "school_official_id"] as const),
    ...(["school_location", "school_address", "schooling_level"] as const),
  ];
  const sections: Record<string, Case[]> = {
    "claims of a token": [
      { scopes: ["openid"] },
      { scopes: ["openid"], signOn: "NOBODY" },
      { scopes: ["openid", ...claims], attributes: [] },
      ...claims.map((claim): Case => ({ scopes: ["openid", claim] })),
    ],
    "reads without sign-on": readScopes.flatMap((scope): Case[] => [
      { scopes: [scope], signOn: "NOBODY" },
      { scopes: [scope], signOn: "NOBODY", withGroup: false },
      { scopes: [scope], signOn: "NOBODY", sync: false },
      { scopes: [scope] },
    ]),
    "reads with sign-on": [
      ...readScopes.flatMap((scope): Case[] => [
        { scopes: ["openid", scope] },
        { scopes: ["openid", scope], withGroup: false },
      ]),
      { scopes: ["openid", ...readScopes], attributes: [] },
      { scopes: ["openid", ...readScopes], type: "PUBLIC" },
    ],
    "reads that ended, with sign-on": readScopes.flatMap((scope): Case[] => [
      { scopes: ["openid", scope], sync: false },
      { scopes: ["openid", scope], revoked: true },
    ]),
    "what is withheld": [
      { scopes: ["openid", ...claims, ...readScopes] },
      { scopes: ["openid", ...claims, ...readScopes], off: ["PERSON_NAME"] },
      { scopes: ["openid", ...claims, ...readScopes], off: ["SOURCE_SYSTEM_IDENTIFIER", "SCHOOL_ADDRESS"] },
      ...readScopes.map((scope): Case => ({ scopes: [scope], signOn: "NOBODY", off: [scope] })),
      ...[...readScopes, "profile" as const].map((scope): Case => ({ scopes: ["openid", scope], off: [scope] })),
      { scopes: ["openid", ...claims, ...readScopes], attributes: ["PERSON_NAME"] },
      { scopes: ["openid", ...claims, ...readScopes], attributes: ["SOURCE_SYSTEM_IDENTIFIER"], type: "PUBLIC" },
    ],
  };

  test.each(Object.entries(sections))("%s", async (_section, cases) => {
    const expected = [];
    // One after the other, because they sign in with one browser.
    for (const one of cases) expected.push({ one, ...(await readAsApp(one)) });
    const record = await readRecord(school);
    const apps = (await admin.call("GET", `/people/${person}/apps?limit=1000`)).body as Schemas["AppOfPerson"][];
    const recorded = expected.map(({ one, app }) => {
      const found = findApp(record, app);
      const ofPerson = apps.find(({ clientId }) => clientId === app.clientId)?.attributes ?? [];
      return {
        one,
        data: codes(found?.data),
        hasPeople: (found?.people.length ?? 0) > 0,
        ofPerson: ofPerson.toSorted(),
      };
    });
    expect(recorded).toEqual(
      expected.map(({ one, read }) => ({
        one,
        data: read,
        hasPeople: read.length > 0,
        ofPerson: read.filter((category) => !["id", "signIns"].includes(category)),
      })),
    );
  });

  /** Makes the app of a case and reads as it. */
  async function readAsApp(one: Case): Promise<{ app: TestApp; read: string[] }> {
    const { scopes, attributes = [...appAttributes], type = "CONFIDENTIAL", signOn = "EVERYBODY", sync = true } = one;
    const app = await make.app({ scopes, attributes, type });
    await make.grant({ app: app.clientId, school, signOn, sync, groups: one.withGroup === false ? [] : [group] });
    await withhold(app, one.off ?? []);
    if (one.revoked) {
      await getUserTokens(service, app, login, { scopes, browser });
      expect((await admin.call("DELETE", `/schools/${school}/grants/${app.clientId}`)).status).toBe(204);
    }
    const canSignIn = signOn === "EVERYBODY" && one.revoked === undefined;
    return { app, read: await readEverything(app, { type, scopes, canSignIn }) };
  }

  async function withhold({ clientId }: TestApp, items: (AppAttribute | ScopeName)[]): Promise<void> {
    const attributes = items.filter((item) => (appAttributes as readonly string[]).includes(item));
    const path = `/schools/${school}/apps/${clientId}/withheld-attributes`;
    if (attributes.length > 0) expect((await admin.call("PUT", path, { body: { attributes } })).status).toBe(204);
    const scopes = items.filter((item) => !attributes.includes(item));
    await make.notAgreed({ app: clientId, school, items: scopes });
  }

  /** What the app learns of the person, by every operation and token it can get. */
  async function readEverything(
    app: TestApp,
    { type, scopes, canSignIn }: { type: NewApp["type"]; scopes: ScopeName[]; canSignIn: boolean },
  ): Promise<string[]> {
    const known = new Set<string>();
    const note = (record: unknown) => noteAll(known, record);
    if (canSignIn) {
      const tokens = await getUserTokens(service, app, login, { scopes, browser });
      known.add("id").add("signIns");
      if (tokens.id_token !== undefined) note(decodeJwt(tokens.id_token));
      const own = makeReader(service, tokens.access_token);
      const info = await own(`${schulconnex}/person-info`);
      if (info.status === 200) note(info.body);
    }
    const granted = readScopes.filter((scope) => scopes.includes(scope));
    if (type === "PUBLIC" || granted.length === 0) return [...known].sort();
    const reader = makeReader(service, await issueAppToken(service, app, granted));
    const reads: Partial<Record<ScopeName, string[]>> = {
      "users:read": [`/schools/${school}/users`, `/users/${person}`],
      "people:read": [`/schools/${school}/people?show-deleted=true`, `/people/${person}`],
      "groups:read": [`/groups/${group}`],
    };
    for (const path of granted.flatMap((scope) => reads[scope] ?? [])) {
      const { status, body } = await reader(idm + path);
      for (const record of status === 200 ? [body as object | object[]].flat() : [])
        note(/^\/(schools|groups)/.test(path) ? { ...record, school } : record);
    }
    const personen = await reader(`${schulconnex}/personen-info`);
    if (personen.status === 200) note(personen.body);
    // The planned deletion of a soft-deleted person, whom this list still has.
    if (JSON.stringify(personen.body).includes('"loeschung"')) known.add("status");
    return [...known].sort();
  }

  function noteAll(known: Set<string>, record: unknown): void {
    const text = JSON.stringify(record);
    if (text === "[]" || !/"(sub|id|pid)"/.test(text)) return;
    known.add("id");
    if (text.includes(named.last)) known.add("name");
    if (text.includes("Quintaklasse")) known.add("groups");
    if (text.includes(sourceSystemIdentifier)) known.add("sourceSystemIdentifier");
    if (/"(role|rolle)":"/.test(text)) known.add("role");
    if ((record as { status?: string }).status !== undefined) known.add("status");
    if (new RegExp(`${school}|Record School|DE-NI-RECORD|GYMNASIUM|"Town"|"NI"`).test(text)) known.add("schools");
  }
});

describe("a category of people is in the record exactly if the app can read or sign in some:", async () => {
  type Case = { scopes: ScopeName[]; signOn?: "EVERYBODY" | "NOBODY" | "GROUPS" | PersonRole; sync?: boolean };
  const cases: Case[] = [
    { scopes: ["openid"], signOn: "TEACHER" },
    { scopes: ["openid", "users:read"], signOn: "TEACHER" },
    { scopes: ["openid", "people:read"], signOn: "TEACHER" },
    { scopes: ["groups:read"] },
    { scopes: ["people:read"] },
    { scopes: ["people:read"], sync: false },
    { scopes: ["users:read"] },
    { scopes: ["openid", "users:read"], signOn: "GROUPS" },
    { scopes: ["openid", "users:read"], signOn: "EVERYBODY" },
  ];

  const operator = await makeStaff(service, "OPERATOR");

  test.each(cases)("%j", async (one) => {
    const { scopes, signOn = "NOBODY", sync = true } = one;
    const here = await make.school();
    const groups = [await make.group({ school: here })];
    const people = new Map<PersonId, PersonRole>();
    for (const role of ["STUDENT", "TEACHER", "OTHER"] as const)
      people.set(await make.person({ school: here, groups, role }), role);
    const app = await make.app({ scopes });
    const audience = { STUDENT: "ROLES", TEACHER: "ROLES", OTHER: "ROLES" } as const;
    const kind = signOn in audience ? "ROLES" : signOn;
    const chosen = { kind, roles: [signOn], groups } as SignOnAudience;
    await make.grant({ app: app.clientId, school: here, signOn: chosen, sync, groups });
    // They signed in while everybody was allowed to.
    await make.signIn({ app: app.clientId, person: [...people.keys()][0]! });

    const seen = new Set<string>();
    const pairs = [...people.keys()].map((personId) => ({ clientId: app.clientId, personId }));
    const rights = await listSignOnRights(service.db.pool, pairs, service.clock());
    rights.forEach(({ kind: right }, at) => right === "allowed" && seen.add(people.get(pairs[at]!.personId)!));
    const granted = readScopes.filter((scope) => scopes.includes(scope));
    if (granted.length > 0) {
      const reader = makeReader(service, await issueAppToken(service, app, granted));
      for (const [personId, role] of people)
        for (const path of [`/users/${personId}`, `/people/${personId}`])
          if ((await reader(idm + path)).status === 200) seen.add(role);
      const { status, body } = await reader(`${idm}/groups/${groups[0]!}`);
      if (status === 200)
        for (const { id } of (body as { members: { id: PersonId }[] }).members) seen.add(people.get(id)!);
    }
    expect(codes(findApp(await readRecord(here, operator), app)?.people)).toEqual([...seen].sort());
  });
});

test("what an app does not get of its scopes is withheld, and the provider and purpose are named", async () => {
  const here = await make.school();
  const group = await make.group({ school: here });
  const app = await make.app({
    scopes: ["openid", "profile", "people:read"],
    attributes: ["SCHOOL_ADDRESS"],
    profile: {
      provider: "Lern GmbH",
      purpose: { de: "Üben", en: null },
      supportAddress: "hilfe@lern.example",
      privacyUrl: "https://lern.example/datenschutz",
    },
  });
  await make.grant({
    app: app.clientId,
    school: here,
    signOn: { kind: "ROLES", roles: ["TEACHER"] },
    groups: [group],
  });
  const operator = await makeStaff(service, "OPERATOR");
  const record = await readRecord(here, operator);
  expect(findApp(record, app)).toMatchObject({
    kind: "APP",
    purpose: { de: "Üben", en: null },
    people: [{ code: "STUDENT" }, { code: "TEACHER" }],
    withheld: [{ code: "name" }, { code: "sourceSystemIdentifier" }],
    recipients: [
      {
        kind: "PROVIDER",
        name: "Lern GmbH",
        contact: "hilfe@lern.example",
        privacyUrl: "https://lern.example/datenschutz",
      },
    ],
    grant: { signOn: { kind: "ROLES", roles: ["TEACHER"] }, sync: true, syncedGroups: [{ id: group }] },
  });
  expect(record.school.id).toBe(here);
  expect(record.operator.name).toBe("Schultor");
});

test("the agreement in force gives purposes, subprocessors and the deletion by the provider", async () => {
  const app = await make.app({ scopes: ["openid", "people:read"], attributes: ["PERSON_NAME"] });
  const { clientId } = app;
  await make.grant({ app: clientId, school });
  const partner = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const need = (purpose: string, isRequired = false) => ({ isRequired, purpose: { de: purpose } });
  const body = {
    version: "2026",
    text: "§ 1 Gegenstand",
    deletionPeriods: { de: "30 Tage nach dem Ende der Nutzung" },
    subprocessors: [{ name: "Rechenzentrum Nord GmbH", country: "DE", purpose: "Hosting" }],
    attributes: [{ attribute: "PERSON_NAME", ...need("Anrede", true) }],
    scopes: [
      { scope: "openid", ...need("Anmeldung") },
      { scope: "people:read", ...need("Listen") },
    ],
  };
  expect((await partner.call("PUT", `/apps/${clientId}/agreement-draft`, { body })).status).toBe(204);
  const published = await partner.call("POST", `/apps/${clientId}/agreement-draft/publication`);
  const { id: agreementId } = published.body as { id: string };
  expect(findApp(await readRecord(school), app)).toMatchObject({ agreement: null, purposes: [] });
  const accepted = await admin.call("PUT", `/schools/${school}/apps/${clientId}/agreement`, {
    body: { agreementId, withheld: [] },
  });
  expect(accepted.status).toBe(204);
  const found = findApp(await readRecord(school), app)!;
  const kept = new Set(found.data.map((one) => JSON.stringify(one.kept)));
  expect([...kept]).toEqual(['{"de":"30 Tage nach dem Ende der Nutzung","en":"30 Tage nach dem Ende der Nutzung"}']);
  expect(found).toMatchObject({
    agreement: { version: "2026", acceptedAt: service.clock().toISOString() },
    purposes: [
      { item: "PERSON_NAME", isRequired: true, purpose: { de: "Anrede", en: null } },
      { item: "openid", isRequired: false },
      { item: "people:read", isRequired: false },
    ],
    recipients: [
      { kind: "PROVIDER" },
      { kind: "SUBPROCESSOR", name: "Rechenzentrum Nord GmbH", country: "DE", purpose: "Hosting" },
    ],
  });
});

test("what the school switches off has no purpose in the record", async () => {
  const attributes = ["PERSON_NAME", "SOURCE_SYSTEM_IDENTIFIER"] as const;
  const { clientId } = await make.app({ scopes: ["profile"], attributes: [...attributes] });
  await make.grant({ app: clientId, school });
  const need = { isRequired: false, purpose: { de: "Anrede" } };
  const partner = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const body = {
    version: "1",
    text: "§ 1 Gegenstand",
    deletionPeriods: { de: "30 Tage" },
    attributes: attributes.map((attribute) => ({ attribute, ...need })),
    scopes: [{ scope: "profile", ...need }],
  };
  await partner.call("PUT", `/apps/${clientId}/agreement-draft`, { body });
  const published = await partner.call("POST", `/apps/${clientId}/agreement-draft/publication`);
  const agreed = { agreementId: (published.body as { id: string }).id, withheld: ["SOURCE_SYSTEM_IDENTIFIER"] };
  const path = `/schools/${school}/apps/${clientId}/agreement`;
  expect((await admin.call("PUT", path, { body: agreed })).status).toBe(204);
  const found = (await readRecord(school)).activities.find(({ code }) => code === clientId)!;
  expect(found.purposes.map(({ item }) => item)).toEqual(["PERSON_NAME", "profile"]);
});

test("the service's own processing has the periods of this service", async () => {
  const own = (await readRecord(school)).activities.filter(({ kind }) => kind === "SERVICE");
  expect(own.map(({ code }) => code)).toEqual([
    ...["DIRECTORY", "SIGN_ON", "IMPORTS", "APP_NOTIFICATION", "BILLING", "ADMINISTRATION", "AUDIT", "OPERATION"],
  ]);
  const kept = (code: string) => own.flatMap(({ data }) => data).find((one) => one.code === code)!.kept.en;
  expect(kept("name")).toContain("30 days after the person left their last school");
  expect(kept("audit")).toContain("400 days");
  expect(kept("notifications")).toContain("35 days");
  for (const { data, people, recipients } of own) {
    expect(data.every(({ text, kept: until }) => [text.de, text.en, until.de, until.en].every(Boolean))).toBe(true);
    expect([people.length > 0, recipients.map(({ kind }) => kind)]).toEqual([true, ["OPERATOR"]]);
  }
});

test("the periods are those of the school, with their reasons", async () => {
  const here = await make.school();
  const operator = await makeStaff(service, "OPERATOR");
  const policy = {
    leftMonths: { value: 12, reason: "School law.", from: "SCHOOL_YEAR_END" },
    inactiveMonths: { value: 18, reason: "Unused logins.", includesRoster: false },
    restoreDays: null,
    auditDays: { value: 200, reason: "Half a year is enough." },
  };
  expect((await readRecord(here, operator)).retention.map(({ code, reason }) => [code, reason])).toEqual([
    ["restoreDays", null],
    ["auditDays", null],
  ]);
  expect((await operator.call("PUT", `/schools/${here}/retention`, { body: policy })).status).toBe(204);
  const { retention, activities } = await readRecord(here, operator);
  expect(retention.map(({ code, text, reason }) => [code, text.en, reason])).toEqual([
    ["leftMonths", "Kept after leaving: 12 months", "School law."],
    ["inactiveMonths", "Deleted after this time without a sign-in: 18 months", "Unused logins."],
    ["restoreDays", "Can be restored after the deletion: 30 days", null],
    ["auditDays", "Audit log kept: 200 days", "Half a year is enough."],
  ]);
  const kept = (code: string) => activities.flatMap(({ data }) => data).find((one) => one.code === code)!.kept.en;
  expect(kept("name")).toContain("12 months after the person left their last school and then 30 days");
  expect(kept("name")).toContain("the same after 18 months without a sign-in");
  expect(kept("audit")).toContain("200 days");
});

test("the record of another school is not found, and its tag changes with what it says", async () => {
  const other = await make.school();
  expect(refusalOf(await admin.call("GET", `/schools/${other}/processing-record`))).toEqual([404, "school_not_found"]);
  const path = `/schools/${school}/processing-record`;
  const first = await admin.call("GET", path);
  const again = await admin.call("GET", path, { headers: { "If-None-Match": first.headers.get("etag")! } });
  expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  const app = await make.app();
  await make.grant({ app: app.clientId, school });
  expect((await admin.call("GET", path)).headers.get("etag")).not.toBe(first.headers.get("etag"));
});
