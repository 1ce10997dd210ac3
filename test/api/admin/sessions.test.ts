import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, readPages, nextPage } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { exchange, getUserTokens, giveLogin, postToken, signOn, type Login } from "../../support/token.ts";

type Schemas = components["schemas"];

const service = await startService();
const make = makeMakers(service.db);
const [school, other] = [await make.school({ name: "Here" }), await make.school({ name: "There" })];
const [group, elsewhere] = [await make.group({ school, name: "5a" }), await make.group({ school: other, name: "7b" })];
const [app, second] = [await make.app({ name: "Alpha" }), await make.app({ name: "Beta" })];
for (const { clientId } of [app, second]) await make.grant({ app: clientId, school, groups: [group] });
await make.grant({ app: app.clientId, school: other, groups: [elsewhere] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
const stranger = await makeStaff(service, "SECRETARY", { schoolIds: [other] });
const scopes = ["openid", "offline_access", "profile"] as const;

async function makePupil(): Promise<{ personId: PersonId; login: Login }> {
  const personId = await make.person({ school, groups: [group] });
  return { personId, login: await giveLogin(service.db, personId) };
}

async function read<T>(path: string, call = secretary.call): Promise<T> {
  const { status, body } = await call("GET", path);
  expect([path, status]).toEqual([path, 200]);
  return body as T;
}

const sessionsOf = (personId: PersonId) => read<Schemas["PersonSession"][]>(`/people/${personId}/sessions`);
const refresh = (token: string, of = app) =>
  postToken(service, of, { grant_type: "refresh_token", refresh_token: token }).then(({ status }) => status);
const auditOf = (personId: PersonId, action: string) =>
  service.db.prisma.audit.findMany({ where: { personId, action }, orderBy: { id: "asc" } });
const actor = { actorId: `app:${secretary.app.clientId}`, actorRole: "SECRETARY" };

test("staff see where a person is signed in, and end one place without touching the others", async () => {
  const { personId, login } = await makePupil();
  expect(await sessionsOf(personId)).toEqual([]);
  const browser = makeBrowser(service.url);
  const first = await getUserTokens(service, app, login, { scopes, browser });
  await getUserTokens(service, second, login, { scopes, browser });
  const other = await getUserTokens(service, app, login, { scopes });
  const all = await sessionsOf(personId);
  expect(all.map(({ kind, apps }) => `${kind} ${apps.map(({ name }) => name).join("+")}`).sort()).toEqual([
    ...["APP Alpha", "APP Alpha", "APP Beta", "BROWSER Alpha", "BROWSER Alpha+Beta"],
  ]);
  expect(JSON.stringify(all)).not.toContain("127.0.0.1");

  const pages = await readPages<{ id: string }>(secretary.call, `/people/${personId}/sessions?limit=2`);
  expect(pages.flat().map(({ id }) => id)).toEqual(all.map(({ id }) => id));

  const shared = all.find(({ kind, apps }) => kind === "BROWSER" && apps.length === 2)!;
  const path = `/people/${personId}/sessions/${shared.id}`;
  expect(refusalOf(await stranger.call("DELETE", path))).toEqual([404, "person_not_found"]);
  expect((await secretary.call("DELETE", path)).status).toBe(204);
  expect(refusalOf(await secretary.call("DELETE", path))).toEqual([404, "session_not_found"]);
  expect((await sessionsOf(personId)).length).toBe(4);
  expect((await browser.open(`${service.url}/sign-in`)).html).toContain('name="password"');
  expect(await auditOf(personId, "session_ended")).toMatchObject([{ ...actor, detail: { session: "browser" } }]);

  for (const { id, kind, apps } of await sessionsOf(personId)) {
    if (kind === "BROWSER" || apps[0]!.name !== "Alpha") continue;
    expect((await secretary.call("DELETE", `/people/${personId}/sessions/${id}`)).status).toBe(204);
  }
  for (const { refresh_token: token } of [first, other]) expect(await refresh(token!)).toBe(400);
  expect((await sessionsOf(personId)).map(({ apps }) => apps.map(({ name }) => name))).toEqual(
    expect.arrayContaining([["Alpha"], ["Beta"]]),
  );
});

test("a session of another person is none of this one", async () => {
  const [{ personId, login }, other] = [await makePupil(), await makePupil()];
  await getUserTokens(service, app, login, { scopes });
  for (const { id } of await sessionsOf(personId))
    expect(refusalOf(await secretary.call("DELETE", `/people/${other.personId}/sessions/${id}`))).toEqual([
      404,
      "session_not_found",
    ]);
  expect((await sessionsOf(personId)).length).toBe(2);
});

test("a withdrawn consent ends the tokens of that app, and the person is asked again", async () => {
  const { personId, login } = await makePupil();
  const browser = makeBrowser(service.url);
  const [alpha, beta] = [
    await getUserTokens(service, app, login, { scopes, browser }),
    await getUserTokens(service, second, login, { scopes, browser }),
  ];
  const path = `/people/${personId}/consents`;
  expect(await read<Schemas["PersonConsent"][]>(path)).toMatchObject([
    { clientId: app.clientId, appName: "Alpha", scopes: [...scopes] },
    { clientId: second.clientId, appName: "Beta" },
  ]);
  expect((await secretary.call("GET", `${path}?limit=1`)).headers.get("link")).toContain('rel="next"');
  const one = `${path}/${app.clientId}`;
  expect((await secretary.call("DELETE", one)).status).toBe(204);
  expect(refusalOf(await secretary.call("DELETE", one))).toEqual([404, "consent_not_found"]);
  expect([await refresh(alpha.refresh_token!), await refresh(beta.refresh_token!, second)]).toEqual([400, 200]);
  const info = await fetch(`${service.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${alpha.access_token}` },
  });
  expect(info.status).toBe(401);
  expect(await auditOf(personId, "consent_withdrawn")).toMatchObject([{ ...actor, clientId: app.clientId }]);
  const signedOn = await signOn(service, app, login, { scopes, browser });
  expect((await exchange(service, app, signedOn)).status).toBe(200);
  expect((await read<Schemas["PersonConsent"][]>(path)).length).toBe(2);
});

test("which apps see a person, as what, where, and what of them", async () => {
  const personId = await make.person({ schools: [school, other], groups: [group, elsewhere] });
  const poor = await make.app({ name: "Gamma", scopes: ["openid", "role"] });
  await make.grant({ app: poor.clientId, school, sync: false });
  const blind = await make.app({ name: "Delta" });
  await make.grant({ app: blind.clientId, school, signOn: "NOBODY" });
  const login = await giveLogin(service.db, personId);
  await getUserTokens(service, app, login, { scopes: ["openid", "profile"] });

  const path = `/people/${personId}/apps`;
  const found = await read<Schemas["AppOfPerson"][]>(path);
  const everything = ["name", "role", "status", "groups", "schools", "sourceSystemIdentifier"];
  const at = service.clock().toISOString();
  expect(found).toMatchObject([
    {
      clientId: app.clientId,
      name: "Alpha",
      maySignIn: true,
      isUser: true,
      isPerson: true,
      attributes: everything,
      schools: [{ id: school, name: "Here" }],
      groups: [{ id: group, name: "5a", schoolId: school }],
      firstSignInAt: at,
      lastSignInAt: at,
      consent: { scopes: ["openid", "profile"], clientId: app.clientId },
    },
    { name: "Beta", maySignIn: true, isUser: true, isPerson: true, lastSignInAt: null, consent: null },
    { name: "Gamma", maySignIn: true, isUser: false, isPerson: false, schools: [], groups: [], attributes: ["role"] },
  ]);
  const operator = await makeStaff(service, "OPERATOR");
  const [whole] = await read<Schemas["AppOfPerson"][]>(path, operator.call);
  expect(whole!.schools.map(({ name }) => name)).toEqual(["Here", "There"]);
  expect(whole!.groups.map(({ name }) => name)).toEqual(["5a", "7b"]);
  const page = await secretary.call("GET", `${path}?limit=2`);
  const next = nextPage(page)!;
  expect(await read<Schemas["AppOfPerson"][]>(next)).toMatchObject([{ name: "Gamma" }]);
  const far = await make.school();
  const outside = await makeStaff(service, "SECRETARY", { schoolIds: [far] });
  for (const list of ["apps", "sessions", "consents"])
    expect(refusalOf(await outside.call("GET", `/people/${personId}/${list}`))).toEqual([404, "person_not_found"]);
});
