import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { putSignInSettings } from "../../src/accounts/index.ts";
import { blockPerson } from "../support/sign-ins.ts";
import { giveRole } from "../../src/staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, getUserTokens, giveLogin, postToken, signOn } from "../support/token.ts";

type Schemas = components["schemas"];

const lines: string[] = [];
const log = makeLog({ level: "trace", format: "json", to: { write: (line: string) => void lines.push(line) } });
const service = await startService({ log, env: { TRUSTED_PROXIES: "127.0.0.0/8,::1" } });
const make = makeMakers(service.db);
const school = await make.school();
const class5 = await make.group({ school, name: "5a" });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });

const everywhere: Schemas["CardSettingsInput"] = {
  enabled: true,
  grades: null,
  hours: null,
  networks: [],
  secondStep: "NONE",
  printSecondStep: false,
};
const setCards = (wishes: Partial<Schemas["CardSettingsInput"]> = {}) =>
  admin.call("PUT", `/schools/${school}/card-settings`, { body: { ...everywhere, ...wishes } });

async function makePupil(): Promise<PersonId> {
  const name = { firstFull: "Bo Emil", firstCall: "Bo", last: "Muster" };
  const person = await make.person({ school, groups: [class5], name });
  await giveLogin(service.db, person);
  return person;
}

async function makeCard(personId: PersonId): Promise<Schemas["MadeLoginCard"]> {
  const body = { personIds: [personId], newPasswords: false, withQr: true };
  const sent = await admin.call("POST", `/schools/${school}/login-cards`, { body });
  return (sent.body as Schemas["MadeLoginCards"]).cards[0]!;
}

const open = (from = "192.0.2.7") => makeBrowser(service.url, { "accept-language": "en", "x-forwarded-for": from });
const headingOf = ({ html }: { html: string }) => /<h1>([^<]*)</.exec(html)?.[1];
const isSignedIn = async (browser: ReturnType<typeof open>) =>
  (await browser.open("/")).html.includes("Signed in as Bo");
const sessions = () => service.db.prisma.oidcArtifact.count({ where: { kind: "Session" } });

test("the address in the QR code asks with a button, which signs in; the token stays in no address, cookie or log", async () => {
  await setCards();
  const person = await makePupil();
  const { url, cardId } = await makeCard(person);
  const token = url!.slice(-24);
  const browser = open();
  const first = await browser.once(url!);
  expect([first.status, first.headers.get("location")]).toEqual([303, "/card"]);
  expect([first.headers.get("referrer-policy"), first.headers.get("cache-control")]).toEqual([
    "no-referrer",
    "no-store",
  ]);
  const page = await browser.open("/card");
  expect([page.status, headingOf(page), page.headers.get("referrer-policy")]).toEqual([
    200,
    "Are you Bo?",
    "no-referrer",
  ]);
  expect(page.html).not.toContain(token);
  const done = await browser.submit(page, "/card");
  expect(new URL(done.url).pathname).toBe("/");
  expect(await isSignedIn(browser)).toBe(true);
  expect(headingOf(await browser.open("/card"))).toBe("Scan your card again");
  const [card] = (await admin.call("GET", `/schools/${school}/login-cards?person=${person}`))
    .body as Schemas["LoginCard"][];
  expect(card).toMatchObject({ id: cardId, lastUsedAt: service.clock().toISOString() });
  expect(
    await service.db.prisma.audit.findMany({
      where: { personId: person, action: "login_card_used" },
      orderBy: { id: "asc" },
    }),
  ).toMatchObject([{ schoolId: school, detail: { cardId } }]);
  const row = await service.db.prisma.oidcArtifact.findFirstOrThrow({ where: { kind: "Session", personId: person } });
  expect(row.payload).toMatchObject({ amr: ["card"] });
  expect(JSON.stringify(browser.cookies())).not.toContain(token);
  const written = lines.join("\n");
  expect(written).toContain("/card/:other");
  expect(written).not.toContain(token);
});

test("what only reads the address, as previews of links do, signs nobody in, and another browser cannot post the form", async () => {
  await setCards();
  const { url } = await makeCard(await makePupil());
  const before = await sessions();
  const [browser, other] = [open(), open()];
  for (let times = 0; times < 3; times++) await browser.open(url!);
  await browser.once(url!, { method: "HEAD" });
  const page = await browser.open("/card");
  await other.open(url!);
  expect(headingOf(await other.submit(page, "/card"))).toBe("Scan your card again");
  const forged = await browser.once("/card", { method: "POST", body: new URLSearchParams({ csrf: "forged" }) });
  expect(forged.status).toBe(400);
  expect(await sessions()).toBe(before);
});

test("a revoked card, an unknown one, and one whose person is gone sign nobody in, also when the page was open before", async () => {
  await setCards();
  const person = await makePupil();
  const { url, cardId } = await makeCard(person);
  const browser = open();
  const page = await browser.open(url!);
  await admin.call("DELETE", `/schools/${school}/login-cards/${cardId}`);
  for (const shown of [
    await browser.submit(page, "/card"),
    await open().open(url!),
    await open().open("/card/unknown"),
  ])
    expect([shown.status, headingOf(shown)]).toEqual([404, "This card is no longer valid"]);
  expect(await isSignedIn(browser)).toBe(false);
  const gone = await makeCard(person);
  await admin.call("POST", `/people/${person}/soft-deletion`);
  expect((await open().open(gone.url!)).status).toBe(404);
});

test("a person who is blocked, and one who holds a staff role, do not sign in by card", async () => {
  await setCards();
  const [blocked, staff] = [await makePupil(), await makePupil()];
  const cards = [await makeCard(blocked), await makeCard(staff)];
  await blockPerson(service.db, blocked, { at: service.clock() });
  const role = { role: "SECRETARY" as const, holder: { personId: staff }, schoolIds: [school] };
  const origin = { at: service.clock() };
  await withPrismaTransaction(service.db, (tx) => giveRole(tx, role, { giver: null, origin }));
  const shown = await Promise.all(cards.map(({ url }) => open().open(url!)));
  expect(shown.map((page) => [page.status, headingOf(page)])).toEqual([
    [403, "Your account is blocked"],
    [404, "This card is no longer valid"],
  ]);
});

test("a card opens nothing of the staff, nor scopes of the admin API, also where the role came later", async () => {
  await setCards();
  const scopes = ["openid", "offline_access", "admin:read"] as const;
  const app = await make.app({ scopes: [...scopes] });
  await make.grant({ app: app.clientId, school });
  const personId = await makePupil();
  const login = await giveLogin(service.db, personId);
  const card = await makeCard(personId);
  const browser = open();
  await browser.submit(await browser.open(card.url!), "/card");
  expect(await isSignedIn(browser)).toBe(true);
  const asked = askFor(service, app, { scopes });
  const before = await browser.open(asked.address);
  expect(before.html).toMatch(/action="\/interaction\/[^"]+\/login"/);
  const silent = await browser.once(askFor(service, app, { scopes, params: { prompt: "none" } }).address);
  expect(silent.headers.get("location")).toContain("error=login_required");

  const role = { role: "SECRETARY" as const, holder: { personId }, schoolIds: [school] };
  const origin = { at: service.clock() };
  await withPrismaTransaction(service.db, (tx) => giveRole(tx, role, { giver: null, origin }));
  expect((await browser.once("/admin")).headers.get("location")).toMatch(/^\/sign-in/);
  expect((await browser.open(asked.address)).html).toMatch(/action="\/interaction\/[^"]+\/login"/);
  const done = await browser.submit(before, "/login", login);
  const back = new URL((await browser.submit(done, "/consent")).url);
  expect((await exchange(service, app, { browser, asked, back })).status).toBe(200);
});

test("what a card had opened before is neither exchanged nor renewed with scopes of the admin API", async () => {
  const scopes = ["openid", "offline_access", "admin:read"] as const;
  const app = await make.app({ scopes: [...scopes] });
  await make.grant({ app: app.clientId, school });
  const personId = await makePupil();
  const tokens = await getUserTokens(service, app, await giveLogin(service.db, personId), { scopes });
  await service.db.prisma.$executeRaw`UPDATE oidc_artifact SET payload = payload || '{"amr": ["card"]}'
    WHERE person_id = ${personId}::uuid AND kind = 'RefreshToken'`;
  const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token! };
  expect((await postToken(service, app, refresh)).body.error).toBe("invalid_grant");
});

test("outside its hours, networks and grades a card says when and where it works", async () => {
  await setCards();
  const { url } = await makeCard(await makePupil());
  const see = async (wishes: Partial<Schemas["CardSettingsInput"]>, from?: string) => {
    await setCards(wishes);
    return open(from).open(url!);
  };
  const early = await see({ hours: { from: "10:00", to: "13:15", weekdays: [1, 2] } });
  expect([early.status, headingOf(early)]).toEqual([403, "The card does not work right now"]);
  expect(early.html).toContain("Monday, Tuesday, 10:00 to 13:15");
  const networks = ["192.0.2.0/24"];
  expect((await see({ networks })).status).toBe(200);
  expect(headingOf(await see({ networks }, "198.51.100.7"))).toBe("The card works only at school");
  expect(headingOf(await see({ grades: [6] }))).toBe("Not available for your class");
  expect((await see({ grades: [5] })).status).toBe(200);
  expect(headingOf(await see({ enabled: false }))).toBe("Cards are turned off");
});

test("a PIN is asked for, a wrong one is told, and ten wrong ones in a row end the card", async () => {
  await setCards({ secondStep: "PIN" });
  const person = await makePupil();
  const { url, pin } = await makeCard(person);
  const wrong = pin === "0000" ? "1111" : "0000";
  const browser = open();
  let page = await browser.open(url!);
  for (const answer of [wrong, ""]) {
    page = await browser.submit(page, "/card", { answer });
    expect([page.status, page.html.includes("That was wrong")]).toEqual([422, true]);
  }
  await browser.submit(page, "/card", { answer: pin! });
  expect(await isSignedIn(browser)).toBe(true);

  const thief = open("198.51.100.7");
  page = await thief.open(url!);
  for (let tries = 1; tries < 10; tries++) page = await thief.submit(page, "/card", { answer: wrong });
  expect(page.status).toBe(422);
  expect(headingOf(await thief.submit(page, "/card", { answer: wrong }))).toBe("Your card is locked");
  expect((await open().open(url!)).status).toBe(404);
  expect(
    await service.db.prisma.audit.findMany({
      where: { personId: person, action: "login_card_revoked" },
      orderBy: { id: "asc" },
    }),
  ).toMatchObject([{ detail: { reason: "wrong_answers" } }]);
});

test("guesses at the same time are counted one by one", async () => {
  await setCards({ secondStep: "PICTURE" });
  const { url, picture } = await makeCard(await makePupil());
  const wrong = picture === "sun" ? "moon" : "sun";
  const thief = open("198.51.100.8");
  const page = await thief.open(url!);
  const shown = await Promise.all(Array.from({ length: 12 }, () => thief.submit(page, "/card", { answer: wrong })));
  expect(shown.filter(({ status }) => status === 422)).toHaveLength(4);
  expect(headingOf(await thief.submit(page, "/card", { answer: picture! }))).toBe("This card is no longer valid");
});

test("the own picture of nine signs in by one tap", async () => {
  await setCards({ secondStep: "PICTURE" });
  const { url, picture } = await makeCard(await makePupil());
  const browser = open();
  const page = await browser.open(url!);
  expect([...page.html.matchAll(/name="answer" value="(\w+)"/g)]).toHaveLength(9);
  await browser.submit(page, "/card", { answer: picture! });
  expect(await isSignedIn(browser)).toBe(true);
});

test("one card is used twenty times in ten minutes at most", async () => {
  await setCards();
  const { url } = await makeCard(await makePupil());
  const statuses: number[] = [];
  for (let times = 0; times < 21; times++) {
    const browser = open();
    const page = await browser.open(url!);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)![1]!;
    const answer = await browser.once("/card", { method: "POST", body: new URLSearchParams({ csrf }) });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([...Array<number>(20).fill(303), 429]);
});

test("a school behind one address signs in by card however many it is; wrong PINs use the limit of the address up", async () => {
  await setCards({ secondStep: "PIN" });
  const newCard = async () => makeCard(await makePupil());
  const [first, second, third, last] = [await newCard(), await newCard(), await newCard(), await newCard()];
  const use = async ({ url, pin }: Schemas["MadeLoginCard"], answer = pin!) => {
    const browser = open("198.51.100.11");
    return (await browser.submit(await browser.open(url!), "/card", { answer })).status;
  };
  const { rateLimit } = service.db.prisma;
  const before = (await rateLimit.findMany()).map(({ key }) => key);
  expect(await use(first)).toBe(200);
  const oneTryLeft = new Date(service.clock().getTime() + 299_300);
  await rateLimit.updateMany({ where: { key: { notIn: before } }, data: { fullAt: oneTryLeft } });
  expect([await use(second), await use(third)]).toEqual([200, 200]);
  expect(await use(last, last.pin === "0000" ? "1111" : "0000")).not.toBe(429);
  expect(await use(last)).toBe(429);
});

const app = await make.app({ scopes: ["openid"] });
await make.grant({ app: app.clientId, school });
const appOrigin = new URL(app.redirectUri).origin;

/** Agrees where the app asks for it. */
const agree = async (browser: ReturnType<typeof open>, shown: Awaited<ReturnType<typeof browser.open>>) =>
  shown.html.includes("/consent") ? browser.submit(shown, "/consent") : shown;

test("who came from an app and signs in by card comes back to the app, which gets tokens", async () => {
  await setCards({ secondStep: "PIN" });
  const person = await makePupil();
  const { url, pin } = await makeCard(person);
  const browser = open();
  const asked = askFor(service, app);
  expect((await browser.open(asked.address)).html).toContain("/login");
  const page = await browser.open(url!);
  expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https: http:;");
  const again = await browser.submit(page, "/card", { answer: pin === "0000" ? "1111" : "0000" });
  const shown = await agree(browser, await browser.submit(again, "/card", { answer: pin! }));
  const back = new URL(shown.url);
  expect([back.origin, back.searchParams.get("state")]).toEqual([appOrigin, asked.state]);
  expect((await exchange(service, app, { browser, asked, back })).status).toBe(200);
  const row = await service.db.prisma.oidcArtifact.findFirstOrThrow({ where: { kind: "Session", personId: person } });
  expect(row.payload).toMatchObject({ amr: ["card"] });
  expect(await isSignedIn(browser)).toBe(true);
});

test("the card of another person takes the place of who is signed in, and the app gets the person of the card", async () => {
  await setCards();
  const [before, after] = [await makePupil(), await makePupil()];
  const login = await giveLogin(service.db, before);
  const browser = open();
  await signOn(service, app, login, { browser });
  const { url } = await makeCard(after);
  const asked = askFor(service, app, { params: { prompt: "login" } });
  await browser.open(asked.address);
  const shown = await agree(browser, await browser.submit(await browser.open(url!), "/card"));
  const { body } = await exchange(service, app, { browser, asked, back: new URL(shown.url) });
  const claims = JSON.parse(Buffer.from(body.id_token!.split(".")[1]!, "base64url").toString()) as { sub: string };
  expect(claims.sub).toBe(after);
  expect(await service.db.prisma.oidcArtifact.count({ where: { kind: "Session", personId: before } })).toBe(0);
});

test("without an app that still waits in this browser a card leads to the tiles, whatever its cookies say", async () => {
  await setCards();
  const { url } = await makeCard(await makePupil());
  const goesTo = async (browser: ReturnType<typeof open>) =>
    new URL((await browser.submit(await browser.open(url!), "/card")).url).href;
  const over = open();
  const login = await giveLogin(service.db, await makePupil());
  await signOn(service, app, login, { browser: over });
  expect(await goesTo(over)).toBe(`${service.url}/`);
  const waits = open();
  await waits.open(askFor(service, app).address);
  await service.db.prisma.oidcArtifact.deleteMany({ where: { kind: "Interaction" } });
  expect(await goesTo(waits)).toBe(`${service.url}/`);

  const strange = open();
  const page = await strange.open(url!);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)![1]!;
  const kept = strange.cookies().map(({ name, value }) => `${name}=${value}`);
  for (const forged of ["https://evil.example/", "//evil.example"]) {
    const cookie = [...kept, `_waiting_app=${forged}`, `_waiting_app.sig=${"A".repeat(43)}`].join("; ");
    const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams({ csrf });
    const sent = await fetch(`${service.url}/card?return=${forged}`, {
      method: "POST",
      headers,
      body,
      redirect: "manual" as const,
    });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, "/"]);
  }
});

test("a card asks for no password of one's own, and its session changes none without the present one", async () => {
  await setCards();
  const settings = {
    schoolId: school,
    userNameRule: "FIRST_DOT_LAST" as const,
    passwordKind: "LETTERS" as const,
    mustChangePassword: true,
    ownPasswordFromGrade: 5,
    helpText: null,
  };
  await withPrismaTransaction(service.db, (tx) => putSignInSettings(tx, settings, { at: service.clock() }));
  const person = await makePupil();
  const { url } = await makeCard(person);
  const where = { personId: person };
  await service.db.prisma.credential.update({ where, data: { mustChange: true } });
  const before = await service.db.prisma.credential.findUniqueOrThrow({ where });
  const browser = open();
  const done = await browser.submit(await browser.open(url!), "/card");
  expect(new URL(done.url).pathname).toBe("/");
  const page = await browser.open("/sign-in/password");
  expect(page.html).toContain('name="current"');
  const wanted = { password: "A meadow by the lake", repeated: "A meadow by the lake" };
  for (const current of ["", "wrong"])
    expect((await browser.submit(page, "/sign-in/password", { ...wanted, current })).status).toBe(422);
  const forged = new URLSearchParams({ ...wanted, pending: "x" });
  await browser.once("/sign-in/new-password", { method: "POST", body: forged });
  expect(await service.db.prisma.credential.findUniqueOrThrow({ where })).toEqual(before);
});
