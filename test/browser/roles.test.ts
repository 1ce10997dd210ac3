import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers, type Make } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { readPdf } from "../support/read-cards.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { giveLogin, type Login } from "../support/token.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { expectHeading, logIn, press, search } from "./support/steps.ts";

const { newPage } = useBrowser();

let service: TestService;
let make: Make;

beforeAll(async () => {
  // Browsers judge cookies by the real time.
  service = await startService({ clock: makeTestClock(new Date()) });
  make = makeMakers(service.db, new Date());
});

const named = (first: string, last: string) => ({ name: { firstFull: first, firstCall: first, last } });

type Pupil = Login & { id: PersonId };
type School = { id: SchoolId; group: GroupId; other: GroupId; pupil: Pupil; foreign: Pupil; base: string };

/** A school with two classes and somebody in each. */
async function makeSchool(name = "Goethe-Gymnasium"): Promise<School> {
  const id = await make.school({ name });
  const [group, other] = [await make.group({ school: id, name: "5a" }), await make.group({ school: id, name: "9c" })];
  const makePupil = async (groupId: GroupId, first: string, last: string): Promise<Pupil> => {
    const person = await make.person({ school: id, groups: [groupId], ...named(first, last) });
    return { ...(await giveLogin(service.db, person)), id: person };
  };
  const [pupil, foreign] = [await makePupil(group, "Bo", "Zimmermann"), await makePupil(other, "Cem", "Yıldız")];
  return { id, group, other, pupil, foreign, base: `${service.url}/admin/schools/${id}` };
}

/** A browser of their own in which somebody is signed in, at the page where the administration begins. */
async function enter(login: Login, path = "/admin"): Promise<Page> {
  const page = await newPage();
  await page.goto(service.url + path);
  await logIn(page, login);
  await page.locator("nav.pages").waitFor();
  return page;
}

const pagesOf = (page: Page) => page.locator("nav.pages li:not(.me) a").allTextContents();

/** Whether somebody gets in with this user name and password. */
async function expectSignIn(login: Login, works: boolean): Promise<void> {
  const page = await newPage();
  await page.goto(`${service.url}/sign-in`);
  await logIn(page, login);
  if (works) await expectHeading(page, "Deine Apps");
  else await page.getByText("Benutzername oder Passwort stimmen nicht").waitFor();
}

async function readSecret(page: Page): Promise<Login> {
  await expectHeading(page, "Neues Passwort");
  await page.waitForLoadState();
  const [username = "", password = ""] = await page.locator(".secret code").allTextContents();
  return { username, password };
}

test("a secretary finds a person, gives them a password and prints their card", async () => {
  const { id, pupil, base } = await makeSchool();
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [id] });
  const settings = {
    enabled: true,
    grades: null,
    hours: null,
    networks: [],
    secondStep: "NONE",
    printSecondStep: false,
  };
  expect((await admin.call("PUT", `/schools/${id}/card-settings`, { body: settings })).status).toBe(204);
  const page = await enter(await makePortalUser(service, "SECRETARY", { schoolIds: [id] }));
  await page.waitForURL(`${base}/today`);
  await expect.poll(() => pagesOf(page)).toEqual(["Heute", "Personen", "Klassen", "Importe", "Hilfe"]);
  await expectAccessible(page, "today");

  await page.getByRole("link", { name: "Personen" }).click();
  await search(page, "zimmer");
  await expect.poll(() => page.locator("#results tbody th").allTextContents()).toEqual(["Bo Zimmermann"]);
  await expectAccessible(page, "people");
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await page.locator("summary", { hasText: "Neues Passwort" }).click();
  await expectAccessible(page, "person");
  await press(page, "Neues Passwort geben");
  const secret = await readSecret(page);
  await expectAccessible(page, "password");
  expect(secret.username).toBe(pupil.username);
  await expectSignIn(pupil, false);
  await expectSignIn(secret, true);

  await page.getByRole("link", { name: "Zurück" }).click();
  await page.getByRole("link", { name: "5a", exact: true }).click();
  await page.getByRole("link", { name: "Passwörter und Anmeldekarten" }).click();
  await page.getByLabel("Anmeldekarten mit QR-Code Frühere").check();
  await page.getByLabel("Nein, die Karten zeigen kein Passwort").check();
  await expectAccessible(page, "logins");
  await press(page, "Jetzt machen");
  await page.getByRole("img", { name: "QR-Code von Bo Zimmermann" }).waitFor();
  await page.getByRole("button", { name: "Drucken" }).waitFor();
  await expectAccessible(page, "cards");
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Als PDF")]);
  expect(readPdf(readFileSync(await download.path())).pages.join("\n")).toContain("Bo Zimmermann");
  await expectSignIn(secret, true);
});

test("a class teacher gives passwords in their own class, and gets nowhere near another", async () => {
  const { id, group, other, pupil, foreign, base } = await makeSchool();
  const elsewhere = await makeSchool("Gesamtschule Nord");
  const teacher = await makePortalUser(service, "CLASS_TEACHER", { schoolIds: [id] });
  await make.membership({ group, person: teacher.personId, role: "TEACHER" });
  const page = await enter(teacher);
  await page.waitForURL(`${base}/today`);
  await expect.poll(() => pagesOf(page)).toEqual(["Heute", "Klassen", "Hilfe"]);
  await expectAccessible(page, "today");
  await page.getByRole("link", { name: "Zu meinen Klassen" }).click();
  await expect.poll(() => page.locator("#results tbody th").allTextContents()).toEqual(["5a"]);
  await expectAccessible(page, "classes");
  await page.getByRole("link", { name: "5a", exact: true }).click();
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await expectAccessible(page, "member");
  await press(page, "Neues Passwort geben");
  const secret = await readSecret(page);
  await expectAccessible(page, "password");
  await expectSignIn(secret, true);

  await page.goto(`${base}/classes/${group}/logins`);
  await page.getByLabel("Neue Passwörter für alle").check();
  await expectAccessible(page, "logins");
  await press(page, "Jetzt machen");
  await expect.poll(() => page.locator(".login-cards h3").allTextContents()).toEqual(["Bo Zimmermann"]);
  await expectAccessible(page, "passwords");
  await expectSignIn(secret, false);

  for (const [path, status] of [
    ...[other, elsewhere.group].flatMap((foreignGroup): [string, number][] => [
      [`classes/${foreignGroup}`, 404],
      [`classes/${foreignGroup}/logins`, 404],
      [`classes/${foreignGroup}/members/${foreign.id}`, 404],
    ]),
    [`classes/${group}/members/${foreign.id}`, 404],
    ["credentials/letter", 403],
    ["people", 403],
    [`people/${pupil.id}`, 403],
    ["settings", 403],
    ["audit", 403],
  ] as [string, number][]) {
    const answer = await page.goto(`${base}/${path}`);
    expect([path, answer?.status()]).toEqual([path, status]);
    await expectHeading(page, "Das ging nicht");
    for (const name of ["Cem", "Zimmermann"])
      await expect.poll(() => page.locator("main").textContent()).not.toContain(name);
  }
  await expectAccessible(page, "refused");
  expect((await page.goto(`${elsewhere.base}/classes`))?.status()).toBe(404);

  // A form that was altered to be for somebody else's pupil.
  await page.goto(`${base}/classes/${group}/members/${pupil.id}`);
  const action = `/admin/schools/${id}/people/${foreign.id}/password`;
  await page.evaluate(`document.querySelector("form[action$='/password']").setAttribute("action", "${action}")`);
  await press(page, "Neues Passwort geben");
  await expectHeading(page, "Das ging nicht");
  await expectSignIn(foreign, true);
});

test("district staff see their schools and no other, and go from one to the next", async () => {
  const [goethe, nord] = [await makeSchool("Goethe-Gymnasium am Ring"), await makeSchool("Gesamtschule Nord am Ring")];
  const other = await makeSchool("Park-Schule am Ring");
  const page = await enter(await makePortalUser(service, "DISTRICT", { schoolIds: [goethe.id, nord.id] }));
  const listed = () => page.locator("#results tbody th").allTextContents();
  await expect.poll(listed).toEqual(["Gesamtschule Nord am Ring", "Goethe-Gymnasium am Ring"]);
  await expectAccessible(page, "schools");
  await search(page, "goethe");
  await expect.poll(listed).toEqual(["Goethe-Gymnasium am Ring"]);
  await search(page, "Park");
  await page.getByText("Keine Schule gefunden.").waitFor();
  for (const { base, name } of [
    { ...goethe, name: "Goethe-Gymnasium am Ring" },
    { ...nord, name: "Gesamtschule Nord am Ring" },
  ]) {
    await page.getByRole("link", { name: "Alle Schulen" }).click();
    await page.getByRole("link", { name }).click();
    await page.waitForURL(`${base}/today`);
    await expect.poll(() => page.locator(".place").textContent()).toBe(name);
    for (const tab of ["Heute", "Personen", "Klassen", "Apps", "Importe", "Protokoll", "Rollen", "Einstellungen"]) {
      await page.locator("nav.pages").getByRole("link", { name: tab, exact: true }).click();
      await page.locator("nav.pages [aria-current=page]", { hasText: tab }).waitFor();
      await expect.poll(() => page.locator(".place").textContent()).toBe(name);
      await expectAccessible(page, `${name}: ${tab}`);
    }
  }
  for (const path of ["today", "people", `classes/${other.group}`, "settings"])
    expect((await page.goto(`${other.base}/${path}`))?.status()).toBe(404);
  // A person and a class of one school below the address of the other.
  for (const path of [`people/${nord.pupil.id}`, `classes/${nord.group}`])
    expect((await page.goto(`${goethe.base}/${path}`))?.status()).toBe(404);
});

test("support only reads, for a reason that the school sees, and for a time that ends by itself", async () => {
  // Its clock goes on.
  const clock = makeTestClock(new Date());
  const own = await startService({ clock, env: { SESSION_SECONDS: String(7 * 86_400) } });
  const makeOwn = makeMakers(own.db, new Date());
  const school = await makeOwn.school({ name: "Goethe-Gymnasium" });
  const group = await makeOwn.group({ school, name: "5a" });
  const pupil = await makeOwn.person({ school, groups: [group], ...named("Bo", "Zimmermann") });
  await makeOwn.person({ school, ...named("Weg", "Gezogen"), status: "SOFT_DELETED" });
  const { clientId } = await makeOwn.app({ name: "Lernapp" });
  await makeOwn.grant({ app: clientId, school, groups: [group] });
  const base = `${own.url}/admin/schools/${school}`;
  const [operator, helper, admin] = [
    await makePortalUser(own, "OPERATOR"),
    await makePortalUser(own, null),
    await makePortalUser(own, "SCHOOL_ADMIN", { schoolIds: [school] }),
  ];
  const openAs = async (login: Login, path: string): Promise<Page> => {
    const page = await newPage();
    await page.goto(base + path);
    await logIn(page, login);
    return page;
  };

  const page = await openAs(operator, `/staff/new?person=${helper.personId}`);
  await page.getByRole("radio", { name: "Support" }).check();
  await press(page, "Rolle vergeben");
  await page.getByText("Für Support brauchen wir einen letzten Tag.").waitFor();
  await page.getByLabel("Letzter Tag").fill(new Date(clock().getTime() + 86_400_000).toISOString().slice(0, 10));
  await press(page, "Rolle vergeben");
  await page.getByText("Für Support brauchen wir einen Grund.").waitFor();
  await expectAccessible(page, "give");
  await page.getByRole("textbox", { name: "Grund" }).fill("Ticket 4711: Karten werden nicht erkannt");
  await press(page, "Rolle vergeben");
  await page.getByText("Die Rolle ist vergeben.").waitFor();

  const support = await openAs(helper, "/today");
  await expect
    .poll(() => pagesOf(support))
    .toEqual(["Heute", "Personen", "Klassen", "Apps", "Importe", "Protokoll", "Datenschutz", "Rollen", "Hilfe"]);
  const seen = await followLinks(support, base);
  const known = [
    "people",
    `people/${pupil}`,
    `people/${pupil}/sign-in`,
    `people/${pupil}/apps`,
    `people/${pupil}/data`,
    "classes",
  ];
  const more = [`classes/${group}`, `classes/${group}/members/${pupil}`, `apps/${clientId}`, "audit", "staff"];
  expect(seen).toEqual(expect.arrayContaining([...known, ...more].map((path) => `${new URL(base).pathname}/${path}`)));
  for (const path of [
    ...["people/new", ...["leave", "delete", "school"].map((one) => `people/${pupil}/${one}`)],
    ...["classes/new", "credentials", ...["logins", "add", "delete"].map((one) => `classes/${group}/${one}`)],
    ...[`apps/${clientId}/change`, `apps/${clientId}/withdrawal`, "staff/new"],
  ]) {
    expect([path, (await support.goto(`${base}/${path}`))?.status()]).toEqual([path, 403]);
    await expect.poll(() => support.locator(changes).count(), { message: path }).toBe(0);
  }

  const office = await openAs(admin, "/audit?action=staff_role_given");
  await office.locator("tbody tr", { hasText: "Rolle vergeben" }).locator("summary").click();
  await office.getByText("Ticket 4711: Karten werden nicht erkannt").waitFor();
  await office.getByText("Support", { exact: true }).waitFor();
  await expectAccessible(office, "audit");

  await support.goto(`${base}/people`);
  clock.forwardSeconds(3 * 86_400);
  await support.getByRole("link", { name: "Bo Zimmermann" }).click();
  await expectHeading(support, "Das ging nicht");
  await expect.poll(() => support.locator("main").textContent()).not.toContain("Zimmermann");
});

/** What sends a change: every form that posts, apart from a search. */
const changes = "main form[method=post]:not([role=search])";

/** Follows every link below an address. Shape: the paths of the pages; none of them is refused or changes anything. */
async function followLinks(page: Page, base: string): Promise<string[]> {
  const seen = new Set<string>();
  const open = [`${base}/today`];
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    const { pathname } = new URL(address);
    // A file is no page.
    if (seen.has(pathname) || !address.startsWith(base) || /\/(file|csv|json)$/.test(pathname)) continue;
    seen.add(pathname);
    expect([pathname, (await page.goto(address))?.status()]).toEqual([pathname, 200]);
    await expect.poll(() => page.locator(changes).count(), { message: pathname }).toBe(0);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    await expectAccessible(page, pathname);
    open.push(...(await page.evaluate<string[]>("[...document.querySelectorAll('nav a, main a')].map((a) => a.href)")));
  }
  return [...seen];
}

/** Somebody who is signed in beside another, at the same page. */
const openBoth = async (logins: [Login, Login], path: string): Promise<[Page, Page]> => [
  await enter(logins[0], path),
  await enter(logins[1], path),
];

test("of two who change the same person the second is told, and keeps what they typed", async () => {
  const { id, pupil } = await makeSchool();
  const logins: [PortalUser, PortalUser] = [
    await makePortalUser(service, "SECRETARY", { schoolIds: [id] }),
    await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [id] }),
  ];
  const [first, second] = await openBoth(logins, `/admin/schools/${id}/people/${pupil.id}`);
  const change = async (page: Page, field: string, text: string) => {
    await page.getByText("Name, Rolle und Kennung").click();
    await page.getByLabel(field, { exact: true }).fill(text);
  };
  const save = (page: Page) => page.locator("form[action$='/details'] button[type=submit]").click();
  await change(first, "Nachname", "Zimmermann-Probst");
  await change(second, "Rufname", "Bolle");
  await save(first);
  await first.getByText("Die Änderung ist gespeichert.").waitFor();
  await save(second);
  await second.getByText("Jemand anderes hat das inzwischen geändert.").waitFor();
  await expect.poll(() => second.locator("h2.name").textContent()).toContain("Bo Zimmermann-Probst");
  await expect.poll(() => second.getByLabel("Rufname", { exact: true }).inputValue()).toBe("Bolle");
  await expect.poll(() => second.getByLabel("Rufname", { exact: true }).isVisible()).toBe(true);
  await expectAccessible(second, "changed meanwhile");
  await second.getByLabel("Nachname", { exact: true }).fill("Zimmermann-Probst");
  await save(second);
  await expect.poll(() => second.locator("h2.name").textContent()).toContain("Bolle Zimmermann-Probst");
  await expect.poll(() => second.locator("[role=alert]").count()).toBe(0);
});

test("of two who change the settings of a school the second is told, and keeps what they typed", async () => {
  const { id } = await makeSchool();
  const logins: [PortalUser, PortalUser] = [
    await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [id] }),
    await makePortalUser(service, "DISTRICT", { schoolIds: [id] }),
  ];
  const [first, second] = await openBoth(logins, `/admin/schools/${id}/settings`);
  const write = async (page: Page, text: string) => {
    await page.locator("#helpText").fill(text);
    await page.locator("form[action$='/sign-in'] button[type=submit]").click();
  };
  await write(first, "Frag Frau Sommer.");
  await first.locator(".done").waitFor();
  await write(second, "Frag Herrn Winter.");
  await second.getByText("Jemand anderes hat das inzwischen geändert.").waitFor();
  await expect.poll(() => second.locator("#helpText").inputValue()).toBe("Frag Herrn Winter.");
  await expectAccessible(second, "changed meanwhile");
  await second.locator("form[action$='/sign-in'] button[type=submit]").click();
  await second.locator(".done").waitFor();
  await first.reload();
  await expect.poll(() => first.locator("#helpText").inputValue()).toBe("Frag Herrn Winter.");
});

test("a role that is taken away in one browser is gone at the next click in the other", async () => {
  const { id, pupil, base } = await makeSchool();
  const secretary = await makePortalUser(service, "SECRETARY", { schoolIds: [id] });
  const admin = await enter(await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [id] }));
  const [list, form] = await openBoth([secretary, secretary], `/admin/schools/${id}/people`);
  await form.goto(`${base}/people/${pupil.id}`);
  await form.locator("summary", { hasText: "Neues Passwort" }).click();

  await admin.goto(`${base}/staff`);
  const row = admin.locator("tbody tr", { hasText: "Sekretariat" });
  await row.locator("summary").click();
  await row.getByRole("button", { name: "Rolle entziehen" }).click();
  await admin.getByText("Die Rolle ist entzogen.").waitFor();

  await list.getByRole("link", { name: "Bo Zimmermann" }).click();
  await expectHeading(list, "Das ging nicht");
  await expect.poll(() => list.locator("main").textContent()).not.toContain("Zimmermann");
  await expectAccessible(list, "role taken away");
  await list.getByRole("link", { name: "Zur Übersicht" }).click();
  await expectHeading(list, "Hier ist für Sie nichts zu verwalten");
  await expectAccessible(list, "no role");
  await press(form, "Neues Passwort geben");
  await expectHeading(form, "Das ging nicht");
  await expectSignIn(pupil, true);
});
