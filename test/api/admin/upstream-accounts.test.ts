import { beforeEach, expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeAdminClient, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { makeTestClock, startService } from "../../support/service.ts";
import { issueAppToken, getUserTokens, giveLogin } from "../../support/token.ts";
import { startUpstreamProvider } from "../../support/upstream-provider.ts";
import { encryptionKeys, makeRelyingParty } from "../../support/upstream.ts";

type Schemas = components["schemas"];

const clock = makeTestClock(new Date());
const service = await startService({ clock, env: { ENCRYPTION_KEYS: encryptionKeys[0]!.toString("base64") } });
// Tokens of the provider have the real time.
beforeEach(() => clock.set(new Date()));
const { db } = service;
const make = makeMakers(db);
const provider = await startUpstreamProvider();
const party = makeRelyingParty(db, clock);
const [school, other] = [await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const stranger = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] });
const connection = await party.connect(provider, school, { normalisations: ["WITHOUT_LEADING_ZEROS"] });
const path = `/upstream-connections/${connection}`;

const name = { firstFull: "Bo", firstCall: "Bo", last: "Muster" };
const pupil = async (sourceSystemIdentifier: string, at: SchoolId = school): Promise<PersonId> => {
  const personId = await make.person({ school: at, sourceSystemIdentifier, name });
  await giveLogin(db, personId);
  return personId;
};
const comeIn = (account: string, claims: Record<string, unknown>, by = connection) => {
  provider.account = account;
  provider.claims[account] = claims;
  return party.codeOf(party.signIn(provider, by));
};
const read = async <T>(of: string, { call } = admin): Promise<T> => {
  const { status, body } = await call("GET", of);
  expect([of, status]).toEqual([of, 200]);
  return body as T;
};
const refusals = () => read<Schemas["UpstreamRefusal"][]>(`${path}/refusals`);
const links = () => read<Schemas["UpstreamLink"][]>(`${path}/links`);

test("a school sees whom the rule linked, and unlinks them; their page says by which login they come", async () => {
  const personId = await pupil("linked-1");
  expect(await comeIn("account-linked", { employee_id: "linked-1" })).toBe("signed_in");
  expect((await links()).filter((link) => link.personId === personId)).toMatchObject([
    { name, subject: "account-linked", issuer: provider.issuer, linkedBy: "RULE" },
  ]);
  const ofPerson = `/people/${personId}/upstream-links`;
  const now = clock().toISOString();
  const of = {
    connectionId: connection,
    connectionName: "Own login",
    schoolId: school,
    schoolName: expect.any(String),
  };
  const link = { ...of, issuer: provider.issuer, linkedBy: "RULE", linkedAt: now, lastSignInAt: now };
  expect(await read(ofPerson)).toEqual([link]);
  expect(refusalOf(await stranger.call("GET", ofPerson))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await stranger.call("DELETE", `${ofPerson}/${connection}`))).toEqual([404, "person_not_found"]);
  expect((await admin.call("DELETE", `${ofPerson}/${connection}`)).status).toBe(204);
  expect(await read(ofPerson)).toEqual([]);
  expect(await db.prisma.upstreamSession.count({ where: { personId, endedAt: null } })).toBe(0);
  expect(refusalOf(await admin.call("DELETE", `${ofPerson}/${connection}`))).toEqual([404, "upstream_link_not_found"]);
  const lines = await db.prisma.audit.findMany({
    where: { personId, action: "upstream_unlinked" },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN", schoolId: school }]);
});

test("people see and unlink their own school login without a staff role, and nobody else's", async () => {
  const [personId, otherPupil] = [await pupil("own-1"), await pupil("own-2")];
  for (const own of ["own-1", "own-2"]) await comeIn(`account-${own}`, { employee_id: own });
  const app = await make.app({ scopes: ["openid", "admin:read", "admin:write"] });
  await make.grant({ app: app.clientId, school });
  const login = { username: `user-${personId}`, password: "correct horse battery staple" };
  const { access_token: token } = await getUserTokens(service, app, login, {
    scopes: ["openid", "admin:read", "admin:write"],
  });
  const call = makeAdminClient(service, token);
  const own = `/people/${personId}/upstream-links`;
  expect((await call("GET", own)).body).toMatchObject([{ connectionId: connection, connectionName: "Own login" }]);
  const foreign = `/people/${otherPupil}/upstream-links`;
  expect(refusalOf(await call("GET", foreign))).toEqual([403, "role_forbids"]);
  expect(refusalOf(await call("DELETE", `${foreign}/${connection}`))).toEqual([403, "role_forbids"]);
  expect((await call("DELETE", `${own}/${connection}`)).status).toBe(204);
  const linked = (await links()).map((link) => link.personId);
  expect([linked.includes(personId), linked.includes(otherPupil)]).toEqual([false, true]);
});

test("a refused account is on the list of the school with what came, and is linked by hand or dismissed", async () => {
  const [one] = [await pupil("42"), await pupil("042")];
  const elsewhere = await pupil("elsewhere", other);
  expect(await comeIn("account-twice", { employee_id: "42", name: "Bo Muster" })).toBe("SEVERAL_MATCH");
  expect(await comeIn("account-nobody", { employee_id: "nobody" })).toBe("NOBODY_MATCHES");
  const found = await refusals();
  const [several, nobody] = ["SEVERAL_MATCH", "NOBODY_MATCHES"].map((code) => found.find((one) => one.code === code)!);
  expect(several).toMatchObject({
    subject: "account-twice",
    displayName: "Bo Muster",
    ruleClaim: "employee_id",
    ruleValue: "42",
    matches: 2,
    tries: 1,
    firstAt: clock().toISOString(),
  });
  const link = (id: string, personId: string, { call } = admin) =>
    call("POST", `${path}/refusals/${id}/link`, { body: { personId } });
  expect(refusalOf(await link(several!.id, elsewhere))).toEqual([404, "person_not_found"]);
  expect(refusalOf(await link(several!.id, elsewhere, stranger))).toEqual([404, "upstream_connection_not_found"]);
  expect(refusalOf(await link(connection, one))).toEqual([404, "upstream_refusal_not_found"]);
  expect((await link(several!.id, one)).status).toBe(204);
  expect(await comeIn("account-twice", {})).toBe("CLAIM_MISSING");
  expect(await comeIn("account-twice", { employee_id: "42" })).toBe("signed_in");
  expect((await links()).find(({ personId }) => personId === one)).toMatchObject({ linkedBy: "STAFF" });
  expect(refusalOf(await link(nobody!.id, one))).toEqual([409, "upstream_link_exists"]);

  const dismissed = `${path}/refusals/${nobody!.id}`;
  expect(refusalOf(await stranger.call("DELETE", dismissed))).toEqual([404, "upstream_connection_not_found"]);
  expect((await admin.call("DELETE", dismissed)).status).toBe(204);
  expect(refusalOf(await admin.call("DELETE", dismissed))).toEqual([404, "upstream_refusal_not_found"]);
  expect((await refusals()).map(({ id }) => id)).not.toContain(nobody!.id);
  await comeIn("account-nobody", { employee_id: "nobody" });
  expect((await refusals()).filter(({ code }) => code === "NOBODY_MATCHES")).toMatchObject([{ tries: 1 }]);
});

test("a rule that is not saved is tried on the roster and on the latest sign-ins", async () => {
  const place = await make.school();
  const staff = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [place] });
  const id = await party.connect(provider, place);
  const preview = async (body: object) => {
    const sent = await staff.call("POST", `/upstream-connections/${id}/rule-preview`, { body });
    expect([sent.status, sent.body]).toEqual([200, sent.body]);
    return sent.body as Schemas["UpstreamRulePreview"];
  };
  const group = await make.group({ school: place });
  await make.membership({ group, person: await pupil("p1", place) });
  await pupil("p2", place);
  await make.person({ school: place, sourceSystemIdentifier: null });
  await party.signInApart(provider, id, [{ employee_id: "p1", import_id: "p1" }, { employee_id: "p2" }]);
  const nobody = { tried: 0, letIn: 0 };
  expect(await preview({})).toEqual({
    roster: { people: 3, withKey: 2, unique: 2 },
    signIns: { tried: 2, same: 2, another: 0, refused: [] },
    refusals: nobody,
  });
  expect((await preview({ ruleClaim: "import_id" })).signIns).toEqual({
    tried: 2,
    same: 1,
    another: 0,
    refused: [{ code: "CLAIM_MISSING", count: 1 }],
  });
  const ofOneClass = await preview({ groupIds: [group] });
  expect(ofOneClass.roster).toEqual({ people: 1, withKey: 1, unique: 1 });
  expect(ofOneClass.signIns.refused).toEqual([{ code: "NOT_IN_CLASSES", count: 1 }]);
  const { body } = await staff.call("GET", `/upstream-connections/${id}`);
  expect(body).toMatchObject({ ruleClaim: "employee_id", groupIds: [] });
});

test("Today names logins that fail, secrets that expire, refusals and emergencies, to those concerned", async () => {
  const [place, quiet] = [await make.school({ name: "Today" }), await make.school()];
  const staff = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [place] });
  const operator = await makeStaff(service, "OPERATOR");
  const tasks = async ({ call }: typeof staff) => ((await call("GET", "/today")).body as Schemas["Today"]).schoolLogins;
  const none = { count: 0, first: [] };
  expect(await tasks(await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [quiet] }))).toEqual({
    failing: none,
    expiringSecrets: none,
    refusals: { ...none, accounts: 0 },
    emergencies: none,
  });
  expect(await tasks(await makeStaff(service, "PARTNER", { clientIds: [(await make.app()).clientId] }))).toBeNull();
  const secretExpiresAt = new Date(clock().getTime() + 29 * 86_400_000);
  const id = await party.connect(provider, place, { secretExpiresAt });
  provider.account = "nobody-today";
  expect(await party.codeOf(party.signIn(provider, id))).toBe("CLAIM_MISSING");
  const data = { failingSince: clock(), lastFailure: "SECRET_REFUSED", lastFailureAt: clock() };
  await db.prisma.upstreamConnection.update({ where: { id }, data });
  expect((await staff.call("POST", `/schools/${place}/way-in/emergency`)).status).toBe(204);
  const now = clock().toISOString();
  const of = { id, name: "Own login", schoolId: place, schoolName: "Today" };
  const emergencyUntil = new Date(clock().getTime() + 86_400_000).toISOString();
  const found = {
    failing: { count: 1, first: [{ ...of, failingSince: now, lastFailure: "SECRET_REFUSED" }] },
    expiringSecrets: { count: 1, first: [{ ...of, secretExpiresAt: secretExpiresAt.toISOString() }] },
    refusals: { accounts: 1, count: 1, first: [{ ...of, refusals: 1, guests: 0, lastAt: now }] },
    emergencies: { count: 1, first: [{ schoolId: place, schoolName: "Today", emergencyUntil }] },
  };
  expect(await tasks(staff)).toEqual(found);
  expect(await tasks(operator)).toEqual({ ...found, refusals: null });
  expect((await staff.call("DELETE", `/schools/${place}/way-in/emergency`)).status).toBe(204);
  await db.prisma.upstreamConnection.update({
    where: { id },
    data: { state: "OFF", secretExpiresAt: new Date(clock().getTime() + 31 * 86_400_000) },
  });
  expect(await tasks(operator)).toEqual({ failing: none, expiringSecrets: none, refusals: null, emergencies: none });
});

test("no app sees an invented account before the school accepts it, and then it signs in", async () => {
  const school = await make.school();
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const app = await make.app({ scopes: ["users:read", "people:read"] });
  await make.grant({ app: app.clientId, school, sync: true });
  const token = await issueAppToken(service, app, ["users:read"]);
  const readUsers = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${service.url}/idm/ep/v1/schools/${school}/users`, { headers });
    return ((await response.json()) as { id: string; name: object }[]).map(({ id }) => id);
  };
  const guests = await party.connect(provider, school, { createsGuests: true });
  const before = await readUsers();
  const invented = ["Ada", "Bo", "Kim"].map((given_name) => ({
    employee_id: given_name,
    given_name,
    family_name: "X",
  }));
  for (const claims of invented)
    expect(await comeIn(`guest-${claims.given_name}`, claims, guests)).toBe("WAITS_FOR_STAFF");
  expect(await readUsers()).toEqual(before);
  const events = () => db.prisma.appEvent.count({ where: { clientId: app.clientId } });
  const told = await events();
  const waiting = await read<Schemas["UpstreamRefusal"][]>(
    `/upstream-connections/${guests}/refusals?code=WAITS_FOR_STAFF`,
    admin,
  );
  expect(waiting.map(({ displayName }) => displayName).sort()).toEqual(["Ada X", "Bo X", "Kim X"]);
  const idOf = (name: string) => waiting.find(({ displayName }) => displayName === name)!.id;
  const accept = (names: string[], { call } = admin, more: string[] = []) =>
    call("POST", `/upstream-connections/${guests}/guests`, { body: { refusalIds: [...names.map(idOf), ...more] } });
  expect(refusalOf(await accept(["Ada X"], stranger))).toEqual([404, "upstream_connection_not_found"]);
  expect(refusalOf(await accept(["Ada X"], admin, [connection]))).toEqual([404, "upstream_refusal_not_found"]);
  expect([await readUsers(), await events()]).toEqual([before, told]);
  const accepted = await accept(["Ada X", "Bo X"]);
  expect(accepted.status).toBe(200);
  const { personIds } = accepted.body as Schemas["UpstreamGuests"];
  expect((await readUsers()).sort()).toEqual([...before, ...personIds].sort());
  expect(refusalOf(await accept(["Ada X"]))).toEqual([404, "upstream_refusal_not_found"]);
  expect(await comeIn("guest-Ada", invented[0]!, guests)).toBe("signed_in");
  expect(await comeIn("guest-Kim", invented[2]!, guests)).toBe("WAITS_FOR_STAFF");
  const lines = await db.prisma.audit.findMany({
    where: { action: "upstream_guest_created", schoolId: school },
    orderBy: { id: "asc" },
  });
  expect(lines.map(({ actorRole, personId }) => [actorRole, personId]).sort()).toEqual(
    personIds.map((id) => ["SCHOOL_ADMIN", id]).sort(),
  );
});
