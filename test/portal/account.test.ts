import { describe, expect, test } from "vitest";
import { putSignInSettings } from "../../src/accounts/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, signIn } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

const service = await startService();
const make = makeMakers(service.db);
const { prisma } = service.db;

const isSignedIn = async (browser: ReturnType<typeof makeBrowser>) => (await browser.once("/account")).status === 200;

describe("the account of somebody without a staff role", () => {
  test("shows where they are signed in, marks this browser, and ends another one alone", async () => {
    const { browser, username, password } = await makePortalUser(service, null);
    const other = makeBrowser(service.url);
    await signIn(other, { username, password });
    const page = await browser.open("/account");
    expect(page.status).toBe(200);
    const cards = page.html.split('<li class="card">').slice(1);
    expect(cards.map((card) => card.includes("dieses Gerät")).sort()).toEqual([false, true]);
    const foreign = cards.find((card) => !card.includes("dieses Gerät"))!;
    await browser.submit(page, /action="\/account(\/sessions\/[\w-]+\/end)"/.exec(foreign)![1]!);
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, false]);
  });

  test("signs out everywhere at once", async () => {
    const { browser, username, password } = await makePortalUser(service, null);
    const other = makeBrowser(service.url);
    await signIn(other, { username, password });
    await browser.submit(await browser.open("/account"), "/sign-out");
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([false, false]);
  });

  test("lists what they agreed to, and withdraws one with the tokens of that app", async () => {
    const { browser, personId } = await makePortalUser(service, null);
    const { homeSchoolId } = await prisma.person.findUniqueOrThrow({ where: { id: personId } });
    const app = await make.app({ name: "Zeichen-App" });
    await make.grant({ app: app.clientId, school: homeSchoolId as never });
    await make.signIn({ app: app.clientId, person: personId });
    await prisma.consent.create({
      data: { personId, clientId: app.clientId, scopes: ["openid", "profile"], grantedAt: service.clock() },
    });
    const page = await browser.open("/account");
    expect(page.html).toContain("Zeichen-App");
    const done = await browser.submit(page, "/withdraw");
    expect(done.html).toContain("Die Zustimmung ist zurückgenommen.");
    expect(await prisma.consent.count({ where: { personId } })).toBe(0);
  });

  test("ends nothing of anybody else", async () => {
    const [mine, theirs] = [await makePortalUser(service, null), await makePortalUser(service, null)];
    const page = await theirs.browser.open("/account");
    const action = /action="(\/account\/sessions\/[\w-]+\/end)"/.exec(page.html)![1]!;
    const own = await mine.browser.open("/account");
    const token = /name="token" value="([^"]+)"/.exec(own.html)![1]!;
    const sent = await mine.browser.once(action, { method: "POST", body: new URLSearchParams({ token }) });
    expect(sent.status).toBe(404);
    expect(await isSignedIn(theirs.browser)).toBe(true);
  });
});

test("every page of staff and the account signs out with one click", async () => {
  const { browser } = await makePortalUser(service, "OPERATOR");
  const { html } = await browser.open("/admin");
  const places = [.../<nav class="pages"[\s\S]*?<\/nav>/.exec(html)![0].matchAll(/<a href="([^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(places).toEqual(expect.arrayContaining(["/admin", "/account"]));
  for (const path of places) {
    const page = await browser.open(path);
    const forged = await browser.once("/account/sign-out-here", { method: "POST", body: new URLSearchParams() });
    expect([path, page.html.includes(">Abmelden</button>"), forged.status]).toEqual([path, true, 403]);
  }
  const gone = await browser.submit(await browser.open("/admin"), "/sign-out-here");
  expect([new URL(gone.url).pathname, await isSignedIn(browser)]).toEqual(["/oauth2/sessions/logout/success", false]);
});

test("the tiles lead to the account, and staff to their pages", async () => {
  const pupil = await makePortalUser(service, null);
  expect((await pupil.browser.open("/")).html).toContain('href="/account"');
  expect((await pupil.browser.open("/")).html).not.toContain('href="/admin"');
  const admin = await makePortalUser(service, "OPERATOR");
  expect((await admin.browser.open("/")).html).toContain('href="/admin"');
  const app = await make.app({});
  const partner = await makePortalUser(service, "PARTNER", { clientIds: [app.clientId] });
  expect((await partner.browser.open("/")).html).toContain('href="/partner"');
  await withPrismaTransaction(service.db, async (tx) => void (await tx.prisma.staffRole.deleteMany()));
  expect((await admin.browser.open("/")).html).not.toContain('href="/admin"');
});

describe("the own password", () => {
  const signInSettings = {
    userNameRule: "FIRST_DOT_LAST",
    passwordKind: "LETTERS",
    mustChangePassword: false,
    helpText: null,
  } as const;
  const setFrom = (schoolId: SchoolId, ownPasswordFromGrade: number | null) =>
    withPrismaTransaction(service.db, (tx) =>
      putSignInSettings(tx, { ...signInSettings, schoolId, ownPasswordFromGrade }, { at: service.clock() }),
    );

  test("is offered in the account exactly to those who may change it", async () => {
    const school = await make.school();
    const places = { "4c": await make.group({ school, name: "4c" }), "5a": await make.group({ school, name: "5a" }) };
    const people: [who: string, from: number | null, mayChange: boolean, Awaited<ReturnType<typeof giveLogin>>][] = [];
    for (const from of [null, 5] as const)
      for (const [role, className, mayChange] of [
        ["STUDENT", "4c", false],
        ["STUDENT", "5a", from !== null],
        ["STUDENT", null, false],
        ["TEACHER", null, true],
        ["OTHER", null, true],
      ] as const) {
        const person = await make.person({ school, role, groups: className === null ? [] : [places[className]] });
        people.push([`${role} ${className ?? "without class"}`, from, mayChange, await giveLogin(service.db, person)]);
      }
    for (const [who, from, mayChange, login] of people) {
      await setFrom(school, from);
      const browser = makeBrowser(service.url, { "accept-language": "en" });
      await signIn(browser, login);
      const { html } = await browser.open("/account");
      const { status } = await browser.open("/sign-in/password");
      const offers = [/href="\/sign-in\/password"/.test(html), /change (my|your) password/i.test(html), status === 200];
      expect([who, from, ...offers]).toEqual([who, from, mayChange, mayChange, mayChange]);
      if (!mayChange) expect(html, who).toContain("and ask your school for a new password");
    }
  });

  test("is not offered to a pupil with a card alone", async () => {
    const pupil = await makePortalUser(service, null);
    await prisma.credential.update({ where: { personId: pupil.personId }, data: { passwordHash: null } });
    expect((await pupil.browser.open("/account")).html).not.toContain("/sign-in/password");
  });
});
