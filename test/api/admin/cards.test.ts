import { beforeEach, expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { GroupId, PersonId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { revokeCardsIn } from "../../../src/accounts/index.ts";
import { makeStaff, refusalOf, makeClassTeacher } from "../../support/admin.ts";
import { interceptStatements } from "../../support/intercept.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { readPdfText } from "../../support/read-cards.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";

type Schemas = components["schemas"];

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const [school, blank, otherSchool] = [await make.school(), await make.school(), await make.school()];
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school, blank] });
const secretary = await makeStaff(service, "SECRETARY", { schoolIds: [school, blank] });
const start = service.clock();
beforeEach(() => service.clock.set(start));

const settingsPath = (of: string = school) => `/schools/${of}/card-settings`;
const lessons: Schemas["CardSettings"] = {
  enabled: true,
  grades: [5, 6],
  hours: { from: "07:00", to: "16:30", weekdays: [1, 2, 3, 4, 5] },
  networks: ["192.0.2.0/24"],
  secondStep: "PIN",
  printSecondStep: false,
  pictureCodeUpToGrade: 6,
  classLists: true,
};
const everywhere: Schemas["CardSettings"] = { ...lessons, grades: null, hours: null, networks: [], secondStep: "NONE" };

test("a school has no cards with QR codes until it sets when and where they sign in", async () => {
  const before = await secretary.call("GET", settingsPath(blank));
  expect([before.status, before.body]).toEqual([
    200,
    { ...everywhere, enabled: false, pictureCodeUpToGrade: null, classLists: false },
  ]);
  const headers = { "if-match": before.headers.get("etag")! };
  const given = { ...lessons, grades: [6, 5], networks: ["192.0.2.99/24"] };
  const put = await admin.call("PUT", settingsPath(blank), { body: given, headers });
  expect(put.status).toBe(204);
  const after = await secretary.call("GET", settingsPath(blank));
  expect([after.body, after.headers.get("etag")]).toEqual([lessons, put.headers.get("etag")]);
  const late = await admin.call("PUT", settingsPath(blank), { body: everywhere, headers });
  expect(refusalOf(late)).toEqual([412, "precondition_failed"]);
  expect((late.body as { current: unknown }).current).toEqual(lessons);
  const lines = await service.db.prisma.audit.findMany({
    where: { action: "card_settings_changed", schoolId: blank },
    orderBy: { id: "asc" },
  });
  const actor = { actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN" };
  expect(lines).toMatchObject([
    { ...actor, before: { enabled: false, secondStep: "NONE" }, after: { enabled: true, secondStep: "PIN" } },
  ]);
});

test.each([
  [{ networks: ["192.0.2.0"] }, "network_invalid"],
  [{ networks: ["192.0.2.0/33"] }, "network_invalid"],
  [{ hours: { from: "16:00", to: "07:00", weekdays: [1] } }, "hours_invalid"],
  [{ hours: { from: "7:00", to: "16:00", weekdays: [1] } }, "invalid_request"],
  [{ grades: [] }, "invalid_request"],
  [{ grades: [14] }, "invalid_request"],
])("settings with %j are refused", async (wrong, code) => {
  const sent = await admin.call("PUT", settingsPath(), { body: { ...lessons, ...wrong } });
  expect(refusalOf(sent)).toEqual([400, code]);
});

const cardsPath = (of: string = school) => `/schools/${of}/login-cards`;
const setCards = (wishes: Partial<Schemas["CardSettings"]> = {}) =>
  admin.call("PUT", settingsPath(), { body: { ...everywhere, ...wishes } });
const madeOf = (sent: { body: unknown }) => sent.body as Schemas["MadeLoginCards"];
const listed = async (query = "") => (await secretary.call("GET", cardsPath() + query)).body as Schemas["LoginCard"][];
const auditOf = (personId: PersonId, action: string) =>
  service.db.prisma.audit.findMany({ where: { personId, action }, orderBy: { id: "asc" } });

const class5 = await make.group({ school, name: "5a" });
const class7 = await make.group({ school, name: "7b" });
async function makePupil(group: GroupId, firstFull: string, last: string): Promise<PersonId> {
  const person = await make.person({ school, groups: [group], name: { firstFull, firstCall: firstFull, last } });
  await giveLogin(service.db, person);
  return person;
}
const [ada, bo] = [await makePupil(class5, "Ada", "Zander"), await makePupil(class5, "Bo", "Äpfel")];
const older = await makePupil(class7, "Cem", "Yıldız");

test("cards of a class carry new passwords and QR codes once, in the order of names, and say who got none and why", async () => {
  await setCards({ secondStep: "PIN" });
  const class5 = await make.group({ school, name: "5a" });
  const [ada, bo] = [await makePupil(class5, "Ada", "Zander"), await makePupil(class5, "Bo", "Äpfel")];
  const without = await make.person({ school, groups: [class5], name: null });
  const blocked = await make.person({ school, groups: [class5], isBlocked: true });
  const role = await make.person({ school, groups: [class5] });
  const teacher = await make.person({ school, role: "TEACHER" });
  await make.membership({ group: class5, person: teacher, role: "TEACHER" });
  for (const person of [blocked, role, teacher]) await giveLogin(service.db, person);
  await giveRoleTo(service, role, "SECRETARY", { schoolIds: [school] });
  const body = { groupId: class5, newPasswords: true, withQr: true };
  const headers = { "idempotency-key": "cards of 5a" };
  const sent = await secretary.call("POST", cardsPath(), { body, headers });
  expect(sent.status).toBe(201);
  const { cards, skipped } = madeOf(sent);
  expect(cards.map(({ personId, className }) => [personId, className])).toEqual([
    [bo, "5a"],
    [ada, "5a"],
    [without, "5a"],
  ]);
  expect(cards[2]).toMatchObject({ name: null, username: expect.any(String), password: expect.any(String) });
  expect(skipped.map(({ personId, reason }) => [personId, reason])).toEqual(
    expect.arrayContaining([
      [blocked, "NOT_ACTIVE"],
      [role, "STAFF"],
    ]),
  );
  expect(skipped).toHaveLength(2);
  for (const { url, pin, picture } of cards) {
    expect(url).toMatch(new RegExp(`^${service.url}/card/[A-Za-z0-9_-]{24}$`));
    expect([pin, picture]).toEqual([expect.stringMatching(/^\d{4}$/), null]);
  }

  const again = await secretary.call("POST", cardsPath(), { body, headers });
  expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([sent.body, "true"]);
  expect(await listed(`?person=${ada}`)).toMatchObject([{ id: cards[1]!.cardId, lastUsedAt: null, revokedAt: null }]);

  const actor = { actorId: `app:${secretary.app.clientId}`, actorRole: "SECRETARY", schoolId: school };
  const lines = await service.db.prisma.audit.findMany({ where: { personId: ada }, orderBy: { id: "asc" } });
  expect(lines.filter(({ action }) => action === "login_card_created")).toMatchObject([
    { ...actor, detail: { cardId: cards[1]!.cardId } },
  ]);
  const rows = await service.db.prisma.loginCard.findMany();
  const kept = JSON.stringify([lines, rows, await listed()]);
  for (const secret of [cards[1]!.url!.slice(-24), cards[1]!.password!]) expect(kept).not.toContain(secret);
});

test("a new card ends the one before it; without new passwords the old one goes on", async () => {
  await setCards();
  const [person, without] = [await make.person({ school, groups: [class5] }), await make.person({ school })];
  const login = await giveLogin(service.db, person);
  const body = { personIds: [person], newPasswords: false, withQr: true };
  const lacking = await secretary.call("POST", cardsPath(), { body: { ...body, personIds: [without] } });
  expect(madeOf(lacking)).toMatchObject({ cards: [], skipped: [{ personId: without, reason: "NO_LOGIN" }] });
  const first = madeOf(await secretary.call("POST", cardsPath(), { body })).cards[0]!;
  service.clock.forwardSeconds(1);
  const second = madeOf(await secretary.call("POST", cardsPath(), { body })).cards[0]!;
  expect([first.username, first.password, first.secondStep]).toEqual([login.username, null, "NONE"]);
  const revokedAt = service.clock().toISOString();
  expect((await listed(`?person=${person}`)).map((card) => [card.id, card.revokedAt])).toEqual([
    [second.cardId, null],
    [first.cardId, revokedAt],
  ]);
  expect(await auditOf(person, "credential_set")).toEqual([]);
});

test("cards of another grade, and those of a school without QR codes, have none", async () => {
  await setCards({ grades: [5] });
  const body = { personIds: [ada, older], newPasswords: false, withQr: true };
  const { cards } = madeOf(await secretary.call("POST", cardsPath(), { body }));
  expect(cards.map(({ personId, url }) => [personId, url !== null])).toEqual([
    [ada, true],
    [older, false],
  ]);
  await setCards({ enabled: false });
  expect(refusalOf(await secretary.call("POST", cardsPath(), { body }))).toEqual([409, "cards_disabled"]);
  const plain = await secretary.call("POST", cardsPath(), { body: { ...body, withQr: false, newPasswords: true } });
  expect(madeOf(plain).cards.map(({ url, password }) => [url, password === null])).toEqual([
    [null, false],
    [null, false],
  ]);
});

test("a card is revoked alone, for a person, a class or the whole school", async () => {
  await setCards();
  const make5 = async () => {
    const body = { personIds: [ada, bo, older], newPasswords: false, withQr: true };
    return madeOf(await secretary.call("POST", cardsPath(), { body })).cards;
  };
  const alive = async () =>
    (await listed("?limit=1000")).filter(({ revokedAt }) => revokedAt === null).map(({ personId }) => personId);
  const cards = await make5();
  const [card] = cards;
  for (let times = 0; times < 2; times++)
    expect((await secretary.call("DELETE", `${cardsPath()}/${card!.cardId}`)).status).toBe(204);
  expect(await alive()).not.toContain(card!.personId);
  expect((await auditOf(card!.personId as PersonId, "login_card_revoked")).length).toBeGreaterThan(0);
  const revoke = async (body: object) => (await secretary.call("POST", `${cardsPath()}/revocation`, { body })).body;
  await make5();
  expect(await revoke({ personIds: [ada] })).toEqual({ revoked: 1 });
  expect(await revoke({ personIds: [ada] })).toEqual({ revoked: 0 });
  expect(await revoke({ groupId: class7 })).toEqual({ revoked: 1 });
  expect(await revoke({ everybody: true })).toEqual({ revoked: expect.any(Number) });
  expect(await alive()).toEqual([]);
  for (const body of [{}, { personIds: [ada], groupId: class5 }, { everybody: true, groupId: class5 }])
    expect(await revoke(body)).toMatchObject({ code: "card_holders_invalid" });
});

test("the audit lines of all cards that are revoked together are written in one statement", async () => {
  await setCards();
  const body = { personIds: [ada, bo, older], newPasswords: false, withQr: true };
  await secretary.call("POST", cardsPath(), { body });
  const asked: string[] = [];
  const watched = interceptStatements(service.db, (text) => Promise.resolve(void asked.push(text)));
  const origin = { at: service.clock() };
  const revoked = await withPrismaTransaction(watched, (tx) =>
    revokeCardsIn(tx, { schoolId: school, personIds: [ada, bo] }, origin),
  );
  expect([revoked, asked.filter((text) => /INSERT INTO "[^"]+"."audit"/.test(text)).length]).toEqual([2, 1]);
});

test("no card is made or revoked of people and groups of another school", async () => {
  await setCards();
  const [group, person] = [await make.group({ school: otherSchool }), await make.person({ school: otherSchool })];
  for (const end of ["", "/revocation"])
    for (const [asked, code] of [
      [{ personIds: [person] }, "person_not_found"],
      [{ groupId: group }, "group_not_found"],
    ] as const) {
      const body = { ...asked, ...(end === "" && { newPasswords: true, withQr: true }) };
      expect(refusalOf(await admin.call("POST", cardsPath() + end, { body })), end).toEqual([404, code]);
    }
  expect(refusalOf(await admin.call("GET", `${cardsPath()}?person=${person}`))).toEqual([404, "person_not_found"]);
});

test("a class teacher makes, sees and revokes cards of the students of their own groups only", async () => {
  await setCards();
  const { personId: teacher, call } = await makeClassTeacher(service, { school, groups: [class7] });
  const rest = { newPasswords: false, withQr: true };
  const own = madeOf(await call("POST", cardsPath(), { body: { groupId: class7, ...rest } })).cards;
  expect(own.map(({ personId }) => personId)).toEqual([older]);
  const foreign = madeOf(await secretary.call("POST", cardsPath(), { body: { personIds: [ada], ...rest } })).cards[0]!;
  for (const asked of [{ personIds: [ada] }, { personIds: [teacher] }])
    expect(refusalOf(await call("POST", cardsPath(), { body: { ...asked, ...rest } }))).toEqual([
      404,
      "person_not_found",
    ]);
  expect(refusalOf(await call("POST", cardsPath(), { body: { groupId: class5, ...rest } }))).toEqual([
    404,
    "group_not_found",
  ]);
  const seen = (await call("GET", cardsPath())).body as Schemas["LoginCard"][];
  expect(new Set(seen.map(({ personId }) => personId))).toEqual(new Set([older]));
  expect(refusalOf(await call("DELETE", `${cardsPath()}/${foreign.cardId}`))).toEqual([404, "login_card_not_found"]);
  expect((await call("POST", `${cardsPath()}/revocation`, { body: { everybody: true } })).body).toEqual({ revoked: 1 });
  expect((await listed(`?person=${ada}`)).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1);
});

test("made cards are printed once, by who made them, within ten minutes, and their secrets lie encrypted until then", async () => {
  await setCards();
  const body = { personIds: [ada, bo], newPasswords: true, withQr: true };
  const makeOnce = async () => madeOf(await secretary.call("POST", cardsPath(), { body }));
  const token = await issueAppToken(service, secretary.app, ["admin:read", "admin:write"]);
  const print = (printId: string, of: string = school) =>
    fetch(`${service.url}/admin/v1${cardsPath(of)}/prints/${printId}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
  const made = await makeOnce();
  const [kept] = await service.db.prisma.cardPrint.findMany({ where: { id: made.printId } });
  expect(Buffer.from(kept!.encrypted).toString("latin1")).not.toContain(made.cards[0]!.password!);
  const gone = [404, "card_print_not_found"];
  expect(refusalOf(await admin.call("POST", `${cardsPath()}/prints/${made.printId}`))).toEqual(gone);
  expect((await print(made.printId, otherSchool)).status).toBe(404);
  const printed = await print(made.printId);
  expect([printed.status, printed.headers.get("content-type"), printed.headers.get("cache-control")]).toEqual([
    200,
    "application/pdf",
    "no-store",
  ]);
  const bytes = Buffer.from(await printed.arrayBuffer());
  const text = readPdfText(bytes);
  for (const { username, password } of made.cards) for (const one of [username, password!]) expect(text).toContain(one);
  expect((await print(made.printId)).status).toBe(404);

  const english = await print(`${(await makeOnce()).printId}?language=en`);
  expect(english.headers.get("content-disposition")).toContain("login-cards.pdf");
  const words = readPdfText(Buffer.from(await english.arrayBuffer()));
  expect([words.includes("Username"), words.includes("Benutzername")]).toEqual([true, false]);
  expect((await print(`${(await makeOnce()).printId}?language=fr`)).status).toBe(400);

  const late = await makeOnce();
  service.clock.forwardSeconds(601);
  expect((await print(late.printId)).status).toBe(404);
  await service.runJob("sign-on.sweepCards");
  expect(await service.db.prisma.cardPrint.count({ where: { id: late.printId } })).toBe(0);
});

test("cards that were revoked are forgotten after 90 days", async () => {
  await setCards();
  const body = { personIds: [ada], newPasswords: false, withQr: true };
  await secretary.call("POST", cardsPath(), { body });
  service.clock.forwardSeconds(91 * 86_400);
  await service.runJob("sign-on.sweepCards");
  const cards = await service.db.prisma.loginCard.findMany({ where: { personId: ada } });
  expect(cards.map(({ revokedAt }) => revokedAt)).toEqual([null]);
});
