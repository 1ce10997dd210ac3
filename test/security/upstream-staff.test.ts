import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { giveLogin } from "../support/token.ts";
import { startUpstreamProvider } from "../support/upstream-provider.ts";
import { startAttackWorld, type AttackedSchool } from "./upstream-world.ts";

// Roles that a school's login must not open, and people whom it must not lock out.
const world = startAttackWorld();

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
    expect(await world.outcome(school, { import_id: "1" }, "new account"), role).toBe("NOBODY_MATCHES");
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
