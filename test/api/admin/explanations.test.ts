import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Prisma } from "../../../generated/prisma/client.ts";
import { findSignOnRight } from "../../../src/access/index.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeMatrixWorld } from "../../access/matrix-world.ts";
import { makeStaff, refusalOf, type AdminClient } from "../../support/admin.ts";
import { makeBrowser } from "../../support/browser.ts";
import { addressOfName, makeClassroom } from "../../support/class-list.ts";
import { inBatches } from "../../support/in-batches.ts";
import { makeMakers } from "../../support/make.ts";
import { makePasskey } from "../../support/passkey.ts";
import { startService } from "../../support/service.ts";
import { makeConnectionRow } from "../../support/upstream-rows.ts";
import { askFor, getUserTokens, giveLogin, type Login } from "../../support/token.ts";

type Explanation = components["schemas"]["SignInExplanation"];

const service = await startService();
const make = makeMakers(service.db);
const world = await makeMatrixWorld(make, "SHARED");
const operator = await makeStaff(service, "OPERATOR");
const start = service.clock();
beforeEach(() => service.clock.set(start));
const matrix = await readFile(join(import.meta.dirname, "..", "..", "access", "matrix.txt"), "utf8");

const pathOf = (personId: PersonId, clientId: string) => `/people/${personId}/sign-in-explanation?app=${clientId}`;
const stepOf = ({ steps }: Explanation, code: string) => steps.find((step) => step.code === code);

async function explain(personId: PersonId, clientId: string, call: AdminClient = operator.call): Promise<Explanation> {
  const { status, body } = await call("GET", pathOf(personId, clientId));
  expect(status).toBe(200);
  return body as Explanation;
}

/** Of a row of the matrix: `at` and the schools, or the reason. */
function committedDecision(app: string, label: string): string {
  const ofApp = matrix.split("# The demo world")[0]!.split(`## ${app}\n`)[1]!.split("\n## ")[0]!;
  const row = ofApp.split("\n").find((line) => line.startsWith(`sign-on ${label} → `))!;
  return row.slice(`sign-on ${label} → `.length).replace(/(, tile)?, groups .*$/, "");
}

describe("in the world of the matrix", () => {
  const labels = Object.keys(world.people);
  const personIds = Object.values(world.people);
  const rightOf = (app: string, label: string) =>
    findSignOnRight(
      service.db.pool,
      { clientId: world.apps[app]!.clientId, personId: world.people[label]! },
      service.clock(),
    );

  test("without a login, that is the reason, unless the sign-on has another", async () => {
    await service.db.prisma.credential.deleteMany({ where: { personId: { in: personIds } } });
    await inBatches(labels, async (label) => {
      const right = await rightOf("reader", label);
      const explained = await explain(world.people[label]!, world.apps["reader"]!.clientId);
      expect([label, explained.reason]).toEqual([label, right.kind === "refused" ? right.reason : "no_login"]);
      expect(stepOf(explained, "login")?.outcome).toBe("REFUSED");
    });
  });

  test.each(Object.keys(world.apps))("%s: the explanation is the decision of the sign-on", async (app) => {
    await inBatches(personIds, (personId) => giveLogin(service.db, personId));
    await inBatches(labels, (label) => expectDecision(app, label));
    await service.db.prisma.credential.deleteMany({ where: { personId: { in: personIds } } });
  });

  async function expectDecision(app: string, label: string): Promise<void> {
    const right = await rightOf(app, label);
    const { isAllowed, reason, steps } = await explain(world.people[label]!, world.apps[app]!.clientId);
    const decided = [label, right.kind === "allowed", right.kind === "refused" ? right.reason : "none"];
    expect([label, isAllowed, reason]).toEqual(decided);
    expect(steps.some(({ outcome }) => outcome === "REFUSED")).toBe(!isAllowed);

    const lettingIn = steps.filter(({ code, outcome }) => code === "audience" && outcome === "PASSED");
    const said = isAllowed ? `at ${lettingIn.map(({ values }) => values.schoolName).join(", ")}` : reason;
    expect(said).toBe(committedDecision(app, label));
    const refusing = steps.filter(({ outcome }) => outcome === "REFUSED");
    for (const { code, fix } of refusing) expect([code, fix?.isAllowed]).toEqual([code, true]);
    for (const { outcome, fix } of steps) if (outcome === "PASSED") expect(fix).toBe(null);
  }

  test("the first step that refuses has the fix: restore, unblock, grant, switch on, the audience", async () => {
    const { reader, opposite } = world.apps as Record<"reader" | "opposite", { clientId: string }>;
    const { north, mid, club, east, west } = world.schools as Record<string, string>;
    const p = world.people;
    const firstRefusal = async (label: string, { clientId }: { clientId: string }) => {
      await giveLogin(service.db, p[label]!);
      const { steps } = await explain(p[label]!, clientId);
      const { code, values, fix } = steps.find(({ outcome }) => outcome === "REFUSED")!;
      return [code, fix!.operationId, fix!.path, values];
    };
    const grantOf = (school: string, { clientId }: { clientId: string }) =>
      `/admin/v1/schools/${school}/grants/${clientId}`;
    const gone = p["n-gone"]!;
    expect(await firstRefusal("n-gone", reader)).toMatchObject([
      ...["person_active", "restorePerson", `/admin/v1/people/${gone}/restoration`],
      { until: expect.stringMatching(/^2026-03/) as string },
    ]);
    expect(await firstRefusal("n-blocked", reader)).toMatchObject([
      ...["person_not_blocked", "unblockPerson", `/admin/v1/people/${p["n-blocked"]!}/block`],
      { since: service.clock().toISOString() },
    ]);
    expect(await firstRefusal("w-pupil", reader)).toEqual([
      ...["school_grant", "putGrant", grantOf(west!, reader)],
      { schoolId: west, schoolName: "west" },
    ]);
    expect(await firstRefusal("e-pupil", reader)).toMatchObject([
      ...["sign_on", "putGrant", grantOf(east!, reader)],
      { audience: "NOBODY" },
    ]);
    expect(await firstRefusal("m-pupil", reader)).toMatchObject([
      ...["audience", "putGrant", grantOf(mid!, reader)],
      { audience: "ROLES", role: "STUDENT", roles: ["TEACHER"] },
    ]);
    expect(await firstRefusal("n-pupil", opposite)).toMatchObject([
      ...["audience", "putGrant", grantOf(north!, opposite)],
      { audience: "ROLES", roles: ["OTHER"] },
    ]);
    const [, , path, values] = await firstRefusal("c-in-old-club", reader);
    expect([path, values]).toMatchObject([
      grantOf(club!, reader),
      {
        audience: "GROUPS",
        groups: [
          { name: "c-club", isActive: true, isMember: false },
          { name: "c-old-club", isActive: false, isMember: true },
        ],
      },
    ]);
  });
});

const browser = () => makeBrowser(service.url);
const { clientId } = world.apps["reader"]!;

async function makePupil(): Promise<{ personId: PersonId; login: Login }> {
  const personId = await make.person({ school: world.schools["north"]! });
  return { personId, login: await giveLogin(service.db, personId) };
}

async function signsIn(login: Login): Promise<boolean> {
  return getUserTokens(service, world.apps["reader"]!, login, { scopes: ["openid", "profile"] }).then(
    () => true,
    () => false,
  );
}

test("a person who guessed too often waits, and is let in again by the office", async () => {
  const { personId, login } = await makePupil();
  const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [world.schools["north"]!] });
  expect(stepOf(await explain(personId, clientId), "no_wait")?.outcome).toBe("PASSED");
  const visitor = browser();
  let page = await visitor.open(askFor(service, world.apps["reader"]!).address);
  for (let tries = 0; tries < 6; tries++)
    page = await visitor.submit(page, "/login", { username: login.username, password: "wrong" });
  expect(await signsIn(login)).toBe(false);

  const explained = await explain(personId, clientId, secretary.call);
  // The sixth try had to wait; its password was not looked at.
  expect(stepOf(explained, "wrong_passwords")).toMatchObject({
    outcome: "NOTE",
    values: { tries: 5, lastAt: service.clock().toISOString() },
    fix: { operationId: "newPassword", isAllowed: true },
  });
  const stored = await service.db.prisma.wrongPassword.findMany({ where: { personId } });
  expect(stored.map(({ tries }) => tries)).toEqual([5]);
  expect([explained.isAllowed, explained.reason]).toEqual([false, "slowed"]);
  expect(stepOf(explained, "no_wait")).toMatchObject({
    outcome: "REFUSED",
    values: { isEverywhere: false, places: 1, until: expect.stringMatching(/^2026-02-03T08:00/) as string },
    fix: { operationId: "releaseSignInLimits", path: `/admin/v1/people/${personId}/login/release`, isAllowed: true },
  });

  const release = `/people/${personId}/login/release`;
  expect((await secretary.call("POST", release)).status).toBe(204);
  expect((await explain(personId, clientId)).isAllowed).toBe(true);
  expect(await signsIn(login)).toBe(true);
  const lines = await service.db.prisma.audit.findMany({
    where: { personId, action: "sign_in_limits_released" },
    orderBy: { id: "asc" },
  });
  expect(lines).toMatchObject([{ actorId: `app:${secretary.app.clientId}`, actorRole: "SECRETARY" }]);
  expect((await secretary.call("POST", release)).status).toBe(204);

  const withoutLogin = await make.person({ school: world.schools["north"]! });
  expect(refusalOf(await secretary.call("POST", `/people/${withoutLogin}/login/release`))).toEqual([
    404,
    "login_not_found",
  ]);
});

test("what the account waits for everywhere is told apart from one device or address", async () => {
  const { personId } = await makePupil();
  const [now, until] = [service.clock(), new Date(service.clock().getTime() + 60_000)];
  await service.db.prisma.signInLimit.create({
    data: { key: Buffer.from("k"), failures: 21, waitUntil: until, forgetAt: until, personId, everywhere: true },
  });
  const values = { until: until.toISOString(), isEverywhere: true, places: 0 };
  expect(stepOf(await explain(personId, clientId), "no_wait")).toMatchObject({ outcome: "REFUSED", values });
  service.clock.forwardSeconds(61);
  expect((await explain(personId, clientId)).isAllowed).toBe(true);
  service.clock.set(now);
});

test("a login without a password is refused, unless a card signs in; one to be changed is a note", async () => {
  const { personId } = await makePupil();
  const { credential, loginCard } = service.db.prisma;
  const loginOf = async () => {
    const { reason, ...explained } = await explain(personId, clientId);
    const { outcome, values, fix } = stepOf({ reason, ...explained }, "login")!;
    return [reason, outcome, values.hasPassword, values.mustChange, fix?.operationId];
  };
  await credential.update({ where: { personId }, data: { mustChange: true } });
  expect(await loginOf()).toEqual(["none", "NOTE", true, true, undefined]);
  await credential.update({ where: { personId }, data: { mustChange: false, passwordHash: null } });
  expect(await loginOf()).toEqual(["no_password", "REFUSED", false, false, "newPassword"]);
  const [id, at] = [makeUuid(service.clock()), service.clock()];
  const tokenHash = new Uint8Array(32);
  const schoolId = world.schools["north"]!;
  await setCards({});
  await loginCard.create({ data: { id, personId, schoolId, tokenHash, secondStep: "NONE", createdAt: at } });
  expect(await loginOf()).toEqual(["none", "NOTE", false, false, "newPassword"]);
  await setCards({ enabled: false });
  expect(await loginOf()).toEqual(["card_refused", "NOTE", false, false, "newPassword"]);
  await loginCard.update({ where: { id }, data: { revokedAt: at } });
  expect(await loginOf()).toEqual(["no_password", "REFUSED", false, false, "newPassword"]);
});

const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [world.schools["north"]!] });
const setCards = async (wishes: Partial<components["schemas"]["CardSettingsInput"]>) => {
  const settings = { grades: null, hours: null, networks: [], secondStep: "NONE", printSecondStep: false };
  const body = { enabled: true, ...settings, ...wishes };
  expect((await admin.call("PUT", `/schools/${world.schools["north"]!}/card-settings`, { body })).status).toBe(204);
};

test("the school's own login signs in whoever it lets in; where the school uses no passwords, nobody else", async () => {
  const [school, at] = [await make.school(), service.clock()];
  const personId = await make.person({ school });
  const login = await giveLogin(service.db, personId);
  const [{ call }, groupId] = [
    await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] }),
    await make.group({ school }),
  ];
  await make.grant({ app: clientId, school });
  const connectionId = await makeConnectionRow(service.db, { school, at });
  const { credential, person, upstreamConnection, upstreamLink } = service.db.prisma;
  const change = (data: Prisma.UpstreamConnectionUpdateInput) =>
    upstreamConnection.update({ where: { id: connectionId }, data });
  const issuer = "https://iserv.example";
  const { name } = await change({
    state: "ON",
    issuer,
    clientId: "schultor",
    clientSecret: new Uint8Array(48),
    testedAt: at,
  });
  const shown = async () => {
    const explained = await explain(personId, clientId, call);
    const [own, by] = [stepOf(explained, "login")!, stepOf(explained, "school_login")];
    return [explained.reason, own.outcome, own.values.usesPassword, own.fix?.operationId, by?.outcome, by?.values];
  };
  const fixOfLogin = async () => stepOf(await explain(personId, clientId, call), "school_login")!.fix?.operationId;
  const values = { schoolId: school, connection: name };
  expect(await shown()).toEqual(["none", "PASSED", undefined, undefined, "NOTE", values]);
  await credential.update({ where: { personId }, data: { passwordHash: null } });
  expect(await shown()).toEqual(["none", "NOTE", undefined, "newPassword", "NOTE", values]);
  await credential.delete({ where: { personId } });
  expect(await shown()).toEqual(["none", "NOTE", undefined, "setLogin", "NOTE", values]);
  await giveLogin(service.db, personId);
  await upstreamLink.create({
    data: { connectionId, issuer, subject: "7", personId, linkedAt: at, linkedBy: "STAFF" },
  });
  const since = at.toISOString();
  expect(await shown()).toEqual(["none", "PASSED", undefined, undefined, "PASSED", { ...values, since }]);
  await upstreamLink.updateMany({ where: { personId }, data: { lastSignInAt: at } });
  await call("PUT", `/schools/${school}/way-in`, { body: { linkName: null, localPasswords: false } });
  const linked = { ...values, since, lastAt: since };
  expect(await signsIn({ ...login, password: "wrong" })).toBe(false);
  expect(await signsIn(login)).toBe(false);
  const wrong = stepOf(await explain(personId, clientId, call), "wrong_passwords")!;
  expect([wrong.values.tries, wrong.outcome, wrong.fix]).toEqual([1, "NOTE", null]);
  expect(await shown()).toEqual(["none", "NOTE", false, undefined, "PASSED", linked]);
  const failing = { failingSince: at, lastFailure: "UPSTREAM_DOWN", lastFailureAt: at } as const;
  await change(failing);
  const fails = { ...linked, failingSince: since };
  expect(await shown()).toEqual(["school_login_fails", "NOTE", false, undefined, "REFUSED", fails]);
  expect(await fixOfLogin()).toBe("setEmergencySignIn");
  await change({ failingSince: null, confirmedForStaff: false });
  expect(await shown()).toEqual(["none", "NOTE", false, undefined, "PASSED", linked]);
  await person.update({ where: { id: personId }, data: { role: "TEACHER" } });
  const waits = { ...linked, isConfirmed: false };
  expect(await shown()).toEqual(["no_password", "REFUSED", false, "setEmergencySignIn", "NOTE", waits]);
  expect(await fixOfLogin()).toBe("updateUpstreamConnection");
  await change({ confirmedForStaff: true });

  await change({ groupIds: [groupId] });
  expect(await signsIn(login)).toBe(false);
  const left = { ...linked, isInClasses: false };
  expect(await shown()).toEqual(["no_password", "REFUSED", false, "setEmergencySignIn", "NOTE", left]);
  expect(await fixOfLogin()).toBe("updateUpstreamConnection");
  const { path } = stepOf(await explain(personId, clientId, call), "login")!.fix!;
  expect((await call("POST", path.replace("/admin/v1", ""))).status).toBe(204);
  expect(await signsIn(login)).toBe(true);
  expect(await shown()).toEqual(["none", "PASSED", undefined, undefined, "NOTE", left]);
  await change({ groupIds: [], ...failing });
  expect(await fixOfLogin()).toBe(undefined);
});

test("the last try with a card says why it was refused: hours, network, an older card, a wrong PIN, until it works", async () => {
  const { personId } = await makePupil();
  const makeCard = async () => {
    const body = { personIds: [personId], newPasswords: false, withQr: true };
    const made = await admin.call("POST", `/schools/${world.schools["north"]!}/login-cards`, { body });
    return (made.body as components["schemas"]["MadeLoginCards"]).cards[0]!;
  };
  const cardOf = async () => {
    const { outcome, values, fix } = stepOf(await explain(personId, clientId, admin.call), "card")!;
    return [outcome, values.card, values.refusal, fix?.operationId];
  };
  const use = async (url: string, answer?: string) => {
    const visitor = browser();
    const page = await visitor.open(url);
    if (answer !== undefined) return visitor.submit(page, "/card", { answer });
    return page.status === 200 ? visitor.submit(page, "/card") : page;
  };
  expect(stepOf(await explain(personId, clientId), "card")).toBe(undefined);
  await setCards({});
  const older = await makeCard();
  expect(await cardOf()).toEqual(["PASSED", "USABLE", undefined, undefined]);
  await setCards({ hours: { from: "13:00", to: "16:00", weekdays: [2] } });
  await use(older.url!);
  expect(await cardOf()).toEqual(["NOTE", "HOURS", "HOURS", "putCardSettings"]);
  await setCards({ networks: ["203.0.113.0/24"] });
  await use(older.url!);
  expect(await cardOf()).toEqual(["NOTE", "USABLE", "NETWORK", "putCardSettings"]);
  await setCards({});
  await use(older.url!);
  expect(await cardOf()).toEqual(["PASSED", "USABLE", undefined, undefined]);

  await setCards({ secondStep: "PIN" });
  const card = await makeCard();
  service.clock.forwardSeconds(1);
  await use(older.url!);
  expect(await cardOf()).toEqual(["NOTE", "USABLE", "REVOKED", "createLoginCards"]);
  service.clock.forwardSeconds(1);
  const wrong = card.pin === "0000" ? "1111" : "0000";
  for (let tries = 0; tries < 10; tries++) await use(card.url!, wrong);
  expect(await cardOf()).toEqual(["NOTE", "ANSWER", "ANSWER", "createLoginCards"]);
  await service.db.prisma.credential.update({ where: { personId }, data: { passwordHash: null } });
  expect((await explain(personId, clientId)).reason).toBe("no_password");
  expect((await cardOf())[0]).toBe("REFUSED");
  await setCards({});
});

test("the explanation says of the same people as the class list that they cannot use it, and whether a card is missing", async () => {
  const room = await makeClassroom(service);
  const { prisma } = service.db;
  const [ready, cardless, unchosen, locked, blocked] = [
    await room.makeReadyPupil("Ready"),
    await room.makeReadyPupil("Cardless"),
    await room.makePupil("Unchosen"),
    await room.makeReadyPupil("Locked"),
    await room.makeReadyPupil("Blocked"),
  ];
  await prisma.loginCard.updateMany({ where: { personId: cardless.personId }, data: { revokedAt: service.clock() } });
  await prisma.pictureCode.update({ where: { personId: locked.personId }, data: { wrongTries: 5 } });
  await room.call("POST", `/people/${blocked.personId}/block`);
  const names = await (await room.openDevice()).open("/class");
  const explained = async ({ personId }: { personId: PersonId }) => {
    const { body } = await room.call("GET", `/people/${personId}/sign-in-explanation`);
    const { outcome, fix } = stepOf(body as Explanation, "class_list")!;
    return [outcome, fix?.operationId];
  };
  const listed = (name: string) => addressOfName(names, `${name} M.`) !== null;
  expect([listed("Ready"), ...(await explained(ready))]).toEqual([true, "PASSED", undefined]);
  expect([listed("Cardless"), ...(await explained(cardless))]).toEqual([false, "NOTE", "createLoginCards"]);
  for (const [name, pupil] of Object.entries({ Unchosen: unchosen, Locked: locked, Blocked: blocked }))
    expect([name, listed(name), ...(await explained(pupil))]).toEqual([name, false, "NOTE", undefined]);
});

test("locked pictures, a closed class list and passkeys that are switched off are named, with what changes them", async () => {
  const room = await makeClassroom(service);
  const { personId } = await room.makeReadyPupil("Pia");
  const shown = async (id = personId) =>
    (await room.call("GET", `/people/${id}/sign-in-explanation`)).body as Explanation;
  const of = async (code: string) => {
    const { outcome, values, fix } = stepOf(await shown(), code)!;
    return [outcome, values, fix && [fix.operationId, fix.path, fix.isAllowed]];
  };
  const list = { schoolId: room.school, className: "3b" };
  expect(await of("pictures")).toEqual(["PASSED", { pictures: "CHOSEN" }, null]);
  const path = `/admin/v1/groups/${room.group}/class-list`;
  expect(await of("class_list")).toEqual(["NOTE", list, ["createClassList", path, true]]);
  const { endsAt } = await room.openList();
  expect(await of("class_list")).toEqual(["PASSED", { ...list, until: endsAt }, null]);

  await service.db.prisma.pictureCode.update({ where: { personId }, data: { wrongTries: 5 } });
  const reset = ["revokePictureCode", `/admin/v1/people/${personId}/picture-code`, true];
  expect(await of("pictures")).toEqual(["NOTE", { pictures: "LOCKED" }, reset]);
  expect((await shown()).reason).toBe("none");
  expect(await of("class_list")).toEqual(["NOTE", { ...list, until: endsAt, isReady: false }, null]);
  await service.db.prisma.credential.update({ where: { personId }, data: { passwordHash: null } });
  expect(await of("pictures")).toEqual(["REFUSED", { pictures: "LOCKED" }, reset]);
  expect(await shown()).toMatchObject({ isAllowed: false, reason: "pictures_locked" });
  await room.call("DELETE", `/people/${personId}/picture-code`);
  expect(await of("pictures")).toEqual(["NOTE", { pictures: "NONE" }, null]);
  expect((await shown()).isAllowed).toBe(true);
  await room.setCards({ pictureCodeUpToGrade: null, classLists: false });
  const codes = (await shown()).steps.map(({ code }) => code);
  expect(codes.filter((code) => code === "pictures" || code === "class_list")).toEqual([]);

  const teacherId = await room.make.person({ school: room.school, role: "TEACHER" });
  const ofTeacher = await giveLogin(service.db, teacherId);
  const passkey = async (id: PersonId) => stepOf(await shown(id), "second_factor")?.values.passkey;
  expect(await passkey(teacherId)).toBe(undefined);
  await makePasskey(service, ofTeacher);
  expect(await passkey(teacherId)).toBe("USABLE");
  await makePasskey(service, await giveLogin(service.db, personId));
  expect(await passkey(personId)).toBe("GRADE");
  const settings = (await room.call("GET", `/schools/${room.school}/sign-in-settings`)).body as object;
  await room.call("PUT", `/schools/${room.school}/sign-in-settings`, { body: { ...settings, passkeys: false } });
  expect(await passkey(teacherId)).toBe("DISABLED");
});

test("staff who are asked for a second factor that they lost are told apart from pupils", async () => {
  const { personId } = await makePupil();
  expect(stepOf(await explain(personId, clientId), "second_factor")).toBe(undefined);
  await service.db.prisma.secondFactor.create({
    data: {
      id: makeUuid(service.clock()),
      personId,
      kind: "TOTP",
      label: "phone",
      transports: [],
      secret: new Uint8Array(32),
      createdAt: service.clock(),
    },
  });
  expect(stepOf(await explain(personId, clientId, admin.call), "second_factor")).toMatchObject({
    outcome: "NOTE",
    values: { hasSecondFactor: true },
    fix: { operationId: "revokeSecondFactors", isAllowed: true },
  });
});

test("the consent is a note until the person agreed", async () => {
  const { personId, login } = await makePupil();
  expect(stepOf(await explain(personId, clientId), "consent")).toMatchObject({
    outcome: "NOTE",
    values: { scopes: [], missingScopes: expect.arrayContaining(["openid", "profile"]) as string[] },
    fix: null,
  });
  expect(await signsIn(login)).toBe(true);
  const { values } = stepOf(await explain(personId, clientId), "consent")!;
  expect(values.scopes).toEqual(["openid", "profile"]);
  expect(values.missingScopes).not.toContain("profile");
});

test("schools beyond the reach of the caller are counted and not named", async () => {
  const personId = world.people["wn-two-schools"]!;
  await giveLogin(service.db, personId);
  const atWest = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [world.schools["west"]!] });
  const { isAllowed, steps } = await explain(personId, clientId, atWest.call);
  expect(isAllowed).toBe(true);
  expect(JSON.stringify(steps)).not.toContain("north");
  expect(steps.find(({ code }) => code === "other_schools")).toMatchObject({
    outcome: "PASSED",
    values: { schools: 1 },
  });
  expect(steps.find(({ code }) => code === "school_grant")).toMatchObject({
    outcome: "NOTE",
    values: { schoolName: "west" },
    fix: { operationId: "putGrant", isAllowed: true },
  });
});

test("without an app, explains what stops the person before any app, and no grants of schools", async () => {
  const personId = await make.person({ school: world.schools["north"]! });
  const explained = async () =>
    (await operator.call("GET", `/people/${personId}/sign-in-explanation`)).body as Explanation;
  expect(await explained()).toMatchObject({ clientId: null, isAllowed: false, reason: "no_login" });
  await giveLogin(service.db, personId);
  const after = await explained();
  expect(after).toMatchObject({ clientId: null, isAllowed: true, reason: "none" });
  const steps = after.steps.map(({ code }) => code);
  expect(steps).toEqual(["person_active", "person_not_blocked", "login", "wrong_passwords", "no_wait"]);
  expect(refusalOf(await operator.call("GET", pathOf(personId, "nobody")))).toEqual([404, "app_not_found"]);
  await operator.call("POST", `/people/${personId}/block`);
  expect(await explained()).toMatchObject({ isAllowed: false, reason: "person_blocked" });
});
