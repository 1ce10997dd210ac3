import { beforeAll, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];

let service: TestService;
let office: PortalUser;
let school: SchoolId;
let pupil: PersonId;
let base: string;
let withCards: GroupId;

beforeAll(async () => {
  service = await startService({ clock: makeTestClock(new Date()) });
  const make = makeMakers(service.db, new Date());
  school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  const group = await make.group({ school, name: "Klasse 5a" });
  await make.group({ school, name: "Klasse 5b" });
  withCards = await make.group({ school, name: "Klasse 5c" });
  await make.people({ school, count: 3, groups: [withCards] });
  await make.group({ school, name: "Schach-AG", type: "SONSTIG" });
  await make.people({ school, count: 24, groups: [group] });
  pupil = await make.person({
    school,
    groups: [group],
    name: { firstFull: "Bo Emil", firstCall: "Bo", last: "Zimmermann" },
  });
  const { clientId } = await make.app({ name: "Lernapp" });
  await make.grant({ app: clientId, school, groups: [group] });
  await make.signIn({ app: clientId, person: pupil });
  const day = (days: number) => new Date(Date.now() + days * 86_400_000);
  for (const [days, askedBy] of [
    [12, "GUARDIAN"],
    [-3, "AUTHORITY"],
  ] as const) {
    const known = { personId: pupil, schoolId: school, askedBy, receivedOn: day(days - 30) };
    await service.db.prisma.dataRequest.create({ data: { id: crypto.randomUUID(), ...known, dueOn: day(days) } });
  }
  office = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  base = `${service.url}/admin/schools/${school}`;
  const cards = {
    enabled: true,
    grades: null,
    hours: null,
    networks: [],
    secondStep: "PICTURE",
    printSecondStep: true,
  };
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await call("PUT", `/schools/${school}/card-settings`, { body: cards })).status).toBe(204);
});

async function enter(look: Look, path: string) {
  const page = await newPage(look);
  await page.goto(`${base}/${path}`);
  await logIn(page, office);
  return page;
}

const looks: Look[] = [
  { colorScheme: "light", size: "desk" },
  { colorScheme: "dark", size: "phone" },
  { colorScheme: "light", size: "whiteboard" },
];

test.each(looks)("people and classes are accessible and fit: $colorScheme, $size", async (look) => {
  const page = await enter(look, "people");
  const groupId = (await service.db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name: "Klasse 5a" } }))
    .id;
  const person = `people/${pupil}`;
  const paths = [
    ...["people", "people/new", person, `${person}/leave`, `${person}/sign-in?app=x`, `${person}/sign-in`],
    ...[`${person}/disclosures`, `${person}/data`, `${person}/retention`, "privacy/requests", "today"],
    ...[`${person}/apps`, `classes`, `classes/new`, `credentials`, `classes/${groupId}`, `classes/${groupId}/delete`],
    ...[`classes/${groupId}/logins`, `classes/${groupId}/add`, `classes/${groupId}/members/${pupil}`],
  ];
  for (const [index, path] of paths.entries()) {
    await page.goto(`${base}/${path}`);
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    if (shots !== undefined)
      await page.screenshot({ path: `${shots}/${look.size}-${String(index).padStart(2, "0")}.png`, fullPage: true });
    await expectAccessible(page, path);
  }
  await page.goto(`${base}/classes/${withCards}/logins`);
  await page.locator("input[name=kind][value=cards]").check();
  await press(page, "Jetzt machen");
  await page.locator(".login-cards .code").first().waitFor();
  await expectAccessible(page, "cards");
});

test("a person is found as one types, gets a password, leaves and comes back", async () => {
  const page = await enter({}, "people");
  await page.locator("#search").waitFor();
  // Nothing is sent for what is typed before the scripts of the page ran.
  await page.waitForLoadState();
  await page.locator("#search").pressSequentially("zimmer");
  await page.waitForURL(/[?&]q=/);
  await expect.poll(() => page.locator("#results tbody tr").count()).toBe(1);
  expect(page.url().toLowerCase()).not.toContain("zimmer");
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await page.goBack();
  await expect.poll(() => page.locator("#search").inputValue()).toBe("zimmer");
  await page.getByRole("link", { name: "Bo Zimmermann" }).click();
  await page.locator("#username").fill("bo.muster.neu");
  await press(page, "Benutzernamen und neues Passwort geben");
  await page.getByText("bo.muster.neu").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Drucken" }).isVisible()).toBe(true);
  if (shots !== undefined) await page.screenshot({ path: `${shots}/password.png`, fullPage: true });
  await expectAccessible(page);
  await page.getByRole("link", { name: "Zurück" }).click();
  await page.getByRole("link", { name: "Hat die Schule verlassen …" }).click();
  await press(page, "Hat die Schule verlassen");
  await page.getByRole("button", { name: "Wiederherstellen" }).waitFor();
  await expectAccessible(page);
  await press(page, "Wiederherstellen");
  await page.getByText("Die Person ist wieder an der Schule.").waitFor();
});

test.each(["desk", "phone"] as const)("a principal answers a parent: %s", async (size) => {
  const page = await enter({ size }, "people");
  const shot = async (name: string) => {
    if (shots !== undefined) await page.screenshot({ path: `${shots}/answer-${size}-${name}.png`, fullPage: true });
  };
  const { id } = await service.db.prisma.person.findFirstOrThrow({
    where: { homeSchoolId: school, dataRequests: { none: {} } },
    orderBy: { id: "asc" },
  });
  await page.goto(`${base}/people/${id}`);
  await page.getByRole("link", { name: "Auskunft über gespeicherte Daten" }).click();
  await page.getByLabel("Wer fragt?").selectOption({ label: "Eltern oder Sorgeberechtigte" });
  await shot("1-empty");
  await press(page, "Anfrage eintragen");
  await page.getByText("Die Anfrage ist eingetragen.").waitFor();
  await shot("2-recorded");
  await page.goto(`${base}/today`);
  await shot("3-today");
  await page.locator(`a[href$="/people/${id}/data"]`).click();
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Als PDF")]);
  if (shots !== undefined) await download.saveAs(`${shots}/answer-${size}.pdf`);
  await page.reload();
  await page.getByText("Daten ausgegeben am").waitFor();
  await page.locator("summary", { hasText: "Anfrage abschließen" }).click();
  await shot("4-exported");
  await press(page, "Anfrage abschließen");
  await page.getByText("Beantwortet am").waitFor();
  await shot("5-closed");
  await expectAccessible(page);
  await page.goto(`${base}/privacy/requests`);
  await page.locator(`a[href$="/people/${id}/data"]`).waitFor();
  await shot("6-list");
});

test("a class gets its passwords on a page to print, with JavaScript off too", async () => {
  const page = await enter({ javaScript: false }, "classes");
  await page.getByRole("link", { name: "Klasse 5a" }).click();
  await page.getByRole("link", { name: "Passwörter und Anmeldekarten" }).click();
  await page.locator('input[value="missing"]').check();
  await press(page, "Jetzt machen");
  await expect.poll(() => page.locator(".login-cards li").count()).toBeGreaterThanOrEqual(24);
  if (shots !== undefined) {
    await page.screenshot({ path: `${shots}/cards.png`, fullPage: true });
    await page.emulateMedia({ media: "print" });
    await page.screenshot({ path: `${shots}/cards-print.png`, fullPage: true });
  }
});
