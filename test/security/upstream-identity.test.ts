import { expect, test } from "vitest";
import { decodeJwt } from "jose";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { updateConnectionIn, type ConnectionUpdate, type Normalisation } from "../../src/upstream/index.ts";
import { giveLogin } from "../support/token.ts";
import { signInThere } from "../support/upstream-browser.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { encryptionKeys, reasonOn, startAttackWorld, type AttackedSchool } from "./upstream-world.ts";

// Attackers who have an account at some provider and want to be somebody else here.
const world = startAttackWorld();

const change = ({ connectionId: id }: AttackedSchool, update: ConnectionUpdate) =>
  withPrismaTransaction(world.service.db, (tx) =>
    updateConnectionIn(
      tx,
      { id, update },
      { keys: encryptionKeys, allowHttp: true, origin: { at: world.service.clock() } },
    ),
  );

test("nOAuth: an e-mail address or user name that an attacker gives themselves claims nobody's account", async () => {
  const school = await world.connect();
  const victim = await world.makePerson(school, "4711");
  const { username } = await giveLogin(world.service.db, victim);
  const claimed = { email: `${username}@goethe.example`, email_verified: true, upn: username, nickname: username };
  expect(await world.outcome(school, { ...claimed, preferred_username: username })).toBe("CLAIM_MISSING");
  expect(await world.outcome(school, { ...claimed, import_id: username })).toBe("NOBODY_MATCHES");
  expect([await world.sessionsOf(victim), await world.linksOf(school)]).toEqual([0, []]);
  const spellings = ["email", "mail", "Email", "emails", "otherMails", "verified_primary_email", "upn", "unique_name"];
  for (const ruleClaim of spellings)
    await expect(change(school, { ruleClaim }), ruleClaim).rejects.toMatchObject({ code: "upstream_claim_mutable" });
  for (const subjectClaim of spellings)
    await expect(change(school, { subjectClaim }), subjectClaim).rejects.toMatchObject({
      code: "upstream_claim_malformed",
    });
  await expect(change(school, { ruleClaim: "mail", ruleField: "USERNAME" })).rejects.toMatchObject({
    code: "upstream_claim_mutable",
  });
});

test("nOAuth: a guest in the school's tenant, whose user name is of another tenant, is nobody by that name", async () => {
  const tenant = "11111111-2222-4333-8444-555555555555";
  const provider = await startUpstreamProvider({ authMethod: "client_secret_post" });
  const rule = { ruleClaim: "preferred_username", ruleField: "USERNAME" } as const;
  const normalisations: Normalisation[] = ["WITHOUT_DOMAIN", "LOWER_CASE"];
  const school = await world.connect({ profile: "ENTRA", tenant, ...rule, normalisations }, provider);
  const victim = await world.makePerson(school, null);
  const { username } = await giveLogin(world.service.db, victim);
  const claims = { tid: tenant, preferred_username: `${username}@evil.example`, oid: "guest" };
  const idp = "https://sts.windows.net/99999999-2222-4333-8444-555555555555/";
  expect(await world.outcome(school, { ...claims, idp })).toBe("CLAIM_MISSING");
  expect(await world.linksOf(school)).toEqual([]);
  expect(await world.outcome(school, { ...claims, preferred_username: `${username}@goethe.example` })).toBe(
    "signed in",
  );
});

test("an own tenant: claims of the victim in a token of another tenant, or without one, sign nobody in", async () => {
  const tenant = "abcdef11-2222-4333-8444-555555555555";
  const provider = await startUpstreamProvider({ authMethod: "client_secret_post" });
  const cases = [
    { profile: "ENTRA", tenant, claim: "tid", foreign: "99999999-2222-4333-8444-555555555555" },
    { profile: "GOOGLE", tenant: "goethe.example", claim: "hd", foreign: "evil.example" },
  ] as const;
  for (const { claim, foreign, ...wishes } of cases) {
    const school = await world.connect(wishes, provider);
    const victim = await world.makePerson(school, "4711");
    const claims = { import_id: "4711", oid: "object-of-the-victim" };
    const others = [foreign, undefined, { id: wishes.tenant }, wishes.tenant.toUpperCase()];
    for (const other of others)
      expect(await world.outcome(school, { ...claims, [claim]: other }), JSON.stringify(other)).toBe("TENANT");
    expect([await world.sessionsOf(victim), await world.linksOf(school)]).toEqual([0, []]);
    expect(await world.outcome(school, { ...claims, [claim]: wishes.tenant })).toBe("signed in");
  }
});

test("one provider of several schools: an account of another school is nobody here, not even once linked", async () => {
  const school = await world.connect({ schoolClaim: "school_ids", schoolValue: "DE-1" });
  const victim = await world.makePerson(school, "4711");
  const claims = { import_id: "4711" };
  for (const school_ids of [undefined, "DE-11", "de-1", " DE-1", { name: "DE-2" }])
    expect(await world.outcome(school, { ...claims, school_ids }), JSON.stringify(school_ids)).toBe("OTHER_SCHOOL");
  expect([await world.sessionsOf(victim), await world.linksOf(school)]).toEqual([0, []]);
  // Nobody at this school reads about accounts of another one.
  expect(await world.service.db.prisma.upstreamRefusal.count({ where: { connectionId: school.connectionId } })).toBe(0);
  expect(await world.outcome(school, { ...claims, school_ids: ["DE-2", "DE-1"] }, "moves")).toBe("signed in");
  expect(await world.outcome(school, { ...claims, school_ids: "DE-2" }, "moves")).toBe("OTHER_SCHOOL");
  const halves: ConnectionUpdate[] = [{ schoolClaim: null }, { schoolValue: null }];
  for (const update of halves)
    await expect(change(school, update)).rejects.toMatchObject({ code: "upstream_school_value_missing" });
  for (const update of [{ schoolValue: " DE-1" }, { schoolClaim: "email" }, { schoolClaim: "preferred_username" }])
    await expect(change(school, update), JSON.stringify(update)).rejects.toMatchObject({
      code: "upstream_claim_malformed",
    });
  await change(school, { schoolClaim: null, schoolValue: null });
  expect(await world.outcome(school, { ...claims, school_ids: "DE-2" }, "moves")).toBe("signed in");
});

test("an absent claim is no empty list and no null: it names nobody, not even those who are linked, and changes no classes", async () => {
  const school = await world.connect();
  const nameless = await world.makePerson(school, null);
  // Further values of each claim: test/upstream/checks.test.ts.
  for (const absent of [{}, { import_id: {} }, { import_id: true }])
    expect(await world.outcome(school, absent), JSON.stringify(absent)).toBe("CLAIM_MISSING");
  for (const text of ["null", "[]"])
    expect(await world.outcome(school, { import_id: text }), text).toBe("NOBODY_MATCHES");
  expect(await world.sessionsOf(nameless)).toBe(0);
  const pupil = await world.makePerson(school, "1");
  const group = await world.make.group({ school: school.school });
  await world.make.membership({ group, person: pupil });
  expect(await world.outcome(school, { import_id: "1", groups: ["5a"] }, "linked")).toBe("signed in");
  for (const claims of [{}, { groups: [] }, { groups: null }]) {
    expect(await world.outcome(school, { import_id: "1", ...claims }, "linked")).toBe("signed in");
    expect(await world.outcome(school, claims, "linked")).toBe("CLAIM_MISSING");
  }
  expect(await world.service.db.prisma.membership.count({ where: { personId: pupil } })).toBe(1);
});

test("the rule compares exactly: look-alike letters, other cases and spaces name nobody, or only as the rule says", async () => {
  const school = await world.connect();
  await world.makePerson(school, "Kind-İi-ß-é");
  await world.makePerson(school, "karl");
  // Cyrillic a, the Kelvin sign, spaces that are not seen, a wide k, the dotted capital I, a combining accent.
  const alike = ["k\u0430rl", "Karl", "karl "];
  for (const value of alike) expect(await world.outcome(school, { import_id: value }), value).toBe("NOBODY_MATCHES");
  expect(await world.outcome(school, { import_id: "Kind-İi-ß-e\u0301" })).toBe("NOBODY_MATCHES");
  for (const value of ["karl\0", "\uD800", "k".repeat(5000)])
    expect(await world.outcome(school, { import_id: value }), value.slice(0, 9)).toBe("CLAIM_MISSING");
  await change(school, { normalisations: ["LOWER_CASE", "TRIM"] });
  for (const value of ["\u212Aarl", "k\u0430rl", "karl\u200B", "\u00A0karl", "\uFF4Barl"])
    expect(await world.outcome(school, { import_id: value }), value).toBe("NOBODY_MATCHES");
  expect(await world.outcome(school, { import_id: "kind-ii-ß-é" })).toBe("NOBODY_MATCHES");
  expect(await world.outcome(school, { import_id: " KARL " })).toBe("signed in");
});

test("a `sub` that is given to another person after a deletion upstream does not sign in as the one before", async () => {
  const school = await world.connect();
  const [before, after] = [await world.makePerson(school, "1"), await world.makePerson(school, "2")];
  expect(await world.outcome(school, { import_id: "1" }, "reused")).toBe("signed in");
  expect(await world.outcome(school, { import_id: "2" }, "reused")).toBe("LINK_CONTRADICTED");
  expect(await world.outcome(school, { import_id: "not in the roster" }, "reused")).toBe("LINK_CONTRADICTED");
  expect([await world.sessionsOf(before), await world.sessionsOf(after)]).toEqual([1, 0]);
  // Also where staff made the link, and the claim is the key of somebody else now.
  await world.service.db.prisma.upstreamLink.updateMany({ where: { personId: before }, data: { linkedBy: "STAFF" } });
  expect(await world.outcome(school, { import_id: "2" }, "reused")).toBe("LINK_CONTRADICTED");
  expect(await world.linksOf(school)).toEqual([{ subject: "reused", personId: before }]);
});

test("a school's login signs in nobody else's pupil: guests, other schools, soft-deleted people", async () => {
  const [home, guest] = [await world.connect(), await world.connect()];
  const { prisma } = world.service.db;
  const pupil = await world.make.person({ schools: [home.school, guest.school], sourceSystemIdentifier: "77" });
  const gone = await world.makePerson(guest, "78");
  await prisma.person.update({
    where: { id: gone },
    data: { status: "SOFT_DELETED", softDeletedAt: new Date(), purgeAt: new Date() },
  });
  for (const id of ["77", "78", pupil]) expect(await world.outcome(guest, { import_id: id })).toBe("NOBODY_MATCHES");
  await change(guest, { ruleField: "PERSON_ID" });
  expect(await world.outcome(guest, { import_id: pupil })).toBe("NOBODY_MATCHES");
  expect(await world.sessionsOf(pupil)).toBe(0);
  expect(await world.outcome(home, { import_id: "77" })).toBe("signed in");
  // The pupil moves: the login of the school before signs them in no more.
  const sub = (await world.linksOf(home))[0]!.subject;
  await prisma.person.update({ where: { id: pupil }, data: { homeSchoolId: guest.school } });
  expect(await world.outcome(home, { import_id: "77" }, sub)).toBe("NOBODY_MATCHES");
});

test("two schools with the same issuer and client: an account is known at the one where it was linked, and nowhere else", async () => {
  const [one, other] = [await world.connect(), await world.connect()];
  const pupil = await world.makePerson(one, "1");
  await world.makePerson(other, "2");
  expect(await world.outcome(one, { import_id: "1" }, "shared")).toBe("signed in");
  expect(await world.outcome(other, {}, "shared")).toBe("CLAIM_MISSING");
  expect(await world.outcome(other, { import_id: "1" }, "shared")).toBe("NOBODY_MATCHES");
  expect(await world.linksOf(other)).toEqual([]);
  // A response for the one school is worth nothing at the other.
  const browser = world.newBrowser();
  const params = await world.provider.visit(await world.leave(browser, one));
  await world.comeBack(browser, other.connectionId, params);
  expect(await world.isSignedIn(browser)).toBe(false);
  expect(await world.sessionsOf(pupil)).toBe(1);
});

test("an unknown account that comes several times at once waits for staff once, and is nobody before", async () => {
  const school = await world.connect({ createsGuests: true });
  signInThere(school.provider, { import_id: "unknown", given_name: "Bo", family_name: "Muster" });
  const arriving = Array.from({ length: 3 }, async () => {
    const browser = world.newBrowser();
    return { browser, params: await school.provider.visit(await world.leave(browser, school)) };
  });
  const arrived = await Promise.all(arriving);
  const shown = await Promise.all(
    arrived.map(({ browser, params }) => world.comeBack(browser, school.connectionId, params)),
  );
  for (const page of shown) expect(reasonOn(page)).toBe("WAITS_FOR_STAFF");
  const { person, upstreamRefusal, appEvent } = world.service.db.prisma;
  expect(await upstreamRefusal.count({ where: { connectionId: school.connectionId } })).toBe(1);
  expect([await person.count({ where: { homeSchoolId: school.school } }), await appEvent.count()]).toEqual([0, 0]);
});

test("a person who comes for the first time twice at once is linked once", async () => {
  const school = await world.connect();
  const pupil = await world.makePerson(school, "1");
  const outcomes = await Promise.all([1, 2, 3].map(() => world.outcome(school, { import_id: "1" }, "the same")));
  expect(outcomes).toEqual(["signed in", "signed in", "signed in"]);
  expect(await world.linksOf(school)).toEqual([{ subject: "the same", personId: pupil }]);
});

// Roles that a school's login must not open, and people whom it must not lock out.

const placeOf = ({ url }: { url: string }) => new URL(url).pathname;
const pathOf = ({ connectionId }: AttackedSchool) => `/upstream-connections/${connectionId}`;
const patch = async (call: AdminClient, school: AttackedSchool, body: object) =>
  (await call("PATCH", pathOf(school), { body })).status;

test("the school's login opens no role that reaches beyond the school, at sign-in or afterwards", async () => {
  const school = await world.connect();
  const person = await world.makePerson(school, "1");
  const { browser } = await world.arrive(school, { import_id: "1" }, "account");
  const other = await world.make.school();
  const scopes = {
    OPERATOR: [],
    DISTRICT: [school.school],
    PARTNER: [],
    SCHOOL_ADMIN: [school.school, other],
    SECRETARY: [other],
    CLASS_TEACHER: [other],
  };
  for (const [role, scope] of Object.entries(scopes)) {
    const clientIds = role === "PARTNER" ? [(await world.make.app()).clientId] : [];
    const id = crypto.randomUUID();
    const row = { id, role, personId: person, givenAt: world.service.clock() };
    const { prisma } = world.service.db;
    await prisma.staffRole.create({
      data: {
        ...row,
        schools: { create: scope.map((schoolId) => ({ schoolId })) },
        apps: { create: clientIds.map((clientId) => ({ clientId })) },
      } as never,
    });
    expect(placeOf(await browser.open("/admin")), role).toBe("/sign-in");
    expect(await world.outcome(school, { import_id: "1" }, "account"), role).toBe("NOBODY_MATCHES");
    await prisma.staffRole.delete({ where: { id } });
  }
});

test("a second factor that a provider claims counts for nothing where the operator does not trust it, and trust ends with the issuer", async () => {
  const school = await world.connect();
  const [operator, admin] = [
    (await makeStaff(world.service, "OPERATOR")).call,
    (await makeStaff(world.service, "SCHOOL_ADMIN", { schoolIds: [school.school] })).call,
  ];
  const person = await world.makePerson(school, "1");
  const amr = async () => {
    const { prisma } = world.service.db;
    await prisma.oidcArtifact.deleteMany({ where: { personId: person } });
    const { provider } = school;
    provider.after = async (path, body) =>
      path === "/token"
        ? {
            ...body,
            id_token: await provider.sign({ ...decodeJwt(String(body["id_token"])), amr: ["mfa"], acr: "mfa" }),
          }
        : body;
    await world.arrive(school, { import_id: "1" }, "account");
    provider.after = null;
    const [session] = await prisma.oidcArtifact.findMany({ where: { kind: "Session", personId: person } });
    return (session?.payload as { amr?: string[] } | undefined)?.amr;
  };
  const isTrusted = async () =>
    ((await operator("GET", pathOf(school))).body as Record<string, unknown>)["trustedForSecondFactor"];
  expect(await amr()).toEqual(["upstream"]);
  expect(await patch(admin, school, { trustedForSecondFactor: true })).toBe(403);
  expect(await patch(operator, school, { trustedForSecondFactor: true })).toBe(204);
  expect(await amr()).toEqual(["upstream", "mfa"]);
  // A school puts another provider in the place of the trusted one.
  const evil = await startUpstreamProvider();
  expect(await patch(admin, school, { issuer: evil.issuer, trustedForSecondFactor: true })).toBe(204);
  expect(await isTrusted()).toBe(false);
});

test("a broken connection locks no admin out: they sign in here, renew the secret, and let the others in meanwhile", async () => {
  const school = await world.connect({ localPasswords: false, clientSecret: "expired" });
  const { service } = world;
  const [admin, pupil] = [await world.makePerson(school, null), await world.makePerson(school, "1")];
  const [ofAdmin, ofPupil] = [await giveLogin(service.db, admin), await giveLogin(service.db, pupil)];
  await world.giveStaffRole(admin, "SCHOOL_ADMIN", [school.school]);
  expect(await world.outcome(school, { import_id: "1" }, "pupil")).toBe("SECRET_REFUSED");
  const signIn = async (login: typeof ofAdmin, path = "/") => {
    const browser = world.newBrowser();
    await browser.open(`/s/${school.linkName}`);
    const page = await browser.open(`/sign-in?other=&return=${encodeURIComponent(path)}`);
    return { browser, shown: await browser.submit(page, "/sign-in", login) };
  };
  expect((await signIn(ofPupil)).shown.status).not.toBe(200);
  // People of the school who work for the district, the service or another school, whom its login never lets in.
  const other = await world.make.school();
  for (const [role, at] of [
    ["OPERATOR", []],
    ["DISTRICT", [school.school]],
    ["SECRETARY", [other]],
  ] as const) {
    const person = await world.makePerson(school, null);
    await world.giveStaffRole(person, role, [...at]);
    expect(placeOf((await signIn(await giveLogin(service.db, person), "/admin")).shown), role).toMatch(/^\/admin/);
  }
  const { browser, shown } = await signIn(ofAdmin, "/admin");
  expect(placeOf(shown)).toMatch(/^\/admin\//);
  const overview = await browser.open(`/admin/schools/${school.school}/own-login`);
  await browser.submit(overview, "/emergency");
  const inside = await signIn(ofPupil);
  expect([placeOf(inside.shown), await world.isSignedIn(inside.browser)]).toEqual(["/", true]);
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school.school] });
  expect(await patch(call, school, { clientSecret: "secret-of-schultor-at-the-provider" })).toBe(204);
  expect(await world.outcome(school, { import_id: "1" }, "pupil")).toBe("signed in");
});
