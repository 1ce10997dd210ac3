import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, SchoolId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser } from "../support/portal.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { expectAccessibleEverywhere, useBrowser, type Look } from "./support/browser.ts";
import { expectHeading, press } from "./support/steps.ts";

const { newPageAs } = useBrowser();
let service: TestService;
let make: ReturnType<typeof makeMakers>;

beforeAll(async () => {
  // Browsers judge cookies by the real time.
  service = await startService({ clock: makeTestClock(new Date()) });
  make = makeMakers(service.db);
});

const fileOf = (rows: string[], name = "Schüler 5a.csv") => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(["id;role;first_name;last_name;classes", ...rows, ""].join("\r\n"), "latin1"),
});
const pupils = (many: number, group: string, first = 1) =>
  Array.from({ length: many }, (_, n) => `${first + n};student;Jörg;Müßig-${first + n};${group}`);

type Office = { page: Page; school: SchoolId; base: string };

/** Somebody of the office of a new school, at the page of its imports. */
async function openOffice(look: Look = {}): Promise<Office> {
  const school = await make.school({ name: "Goethe-Gymnasium" });
  const login = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  const base = `${service.url}/admin/schools/${school}/imports`;
  return { page: await newPageAs(login, base, look), school, base };
}

async function handIn({ page, base }: Office, file: ReturnType<typeof fileOf>): Promise<void> {
  if (page.url() !== base) await page.goto(base);
  await page.locator("#file").setInputFiles(file);
  await press(page, "Datei prüfen");
  await page.waitForURL(/\/imports\/[0-9a-f-]{36}$/);
}

async function apply(page: Page): Promise<void> {
  await press(page, "Import übernehmen");
  await page.getByText("Der Import ist übernommen.").waitFor();
}

const textIn = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).innerText()).replace(/\s+/g, " ");
const peopleOf = (school: SchoolId) =>
  service.db.prisma.person.count({
    where: { homeSchoolId: school, status: "ACTIVE", sourceSystemIdentifier: { not: null } },
  });

test("a class of 25 comes from a CSV file", async () => {
  const office = await openOffice();
  const { page, school } = office;
  const { clientId } = await make.app({ name: "Lernapp" });
  await make.grant({ app: clientId, school });
  await make.group({ school, name: "Klasse 5A", type: "KLASSE" });
  await expectAccessibleEverywhere(page, "imports-empty");
  await handIn(office, fileOf(pupils(25, "5a")));
  await expectHeading(page, "Import");
  await page.locator("#look-alikes button").waitFor();
  await page.locator("#changes table").waitFor();
  await expect.poll(() => page.title()).toMatch(/^Import ·/);
  await expect.poll(() => textIn(page, "#changes tbody")).toMatch(/5a wird angelegt, 25 neue/);
  await page.getByRole("link", { name: "Ausprobieren" }).click();
  await page.locator("#apps .card").waitFor();
  await expect.poll(() => textIn(page, "#apps")).toContain("25 Lernende werden sichtbar.");
  await expectAccessibleEverywhere(page, "import-ready");
  await press(page, "Zusammenführen: 5a und Klasse 5A");
  await page.getByText("Die Klassen sind zusammengeführt.").waitFor();
  await page.locator("#changes table").waitFor();
  await expect.poll(() => textIn(page, "#changes tbody")).toContain("hieß bisher Klasse 5A, 25 neue");
  expect(await peopleOf(school)).toBe(0);
  await apply(page);
  expect(await peopleOf(school)).toBe(25);
  await expectAccessibleEverywhere(page, "import-applied");
  await page.getByRole("link", { name: "Zugänge anlegen und Anmeldekarten drucken" }).click();
  await expect.poll(() => textIn(page, "#results")).toContain("5a");
  await page.goto(office.base);
  await expectAccessibleEverywhere(page, "imports-list");
});

test("each fault of a file stands beside its line", async () => {
  const office = await openOffice();
  await handIn(office, fileOf([...pupils(2, "5a"), "3;pinguin;Zoë;Ö;5a", "1;student;Än;Ö;5a", "5;student;;Ö;5a"]));
  const { page } = office;
  await page.locator("#faults .card").first().waitFor();
  await expect.poll(() => textIn(page, "#faults")).toMatch(/Zeile 4, Feld „role“.*3;pinguin;Zoë;Ö;5a.*Was zu tun ist/);
  await expectAccessibleEverywhere(page, "import-broken");
  await press(page, "Ohne diese 4 Zeilen weiter");
  await page.locator("#left-out table").waitFor();
  await expect.poll(() => textIn(page, "#left-out")).toContain("3; pinguin; Zoë; Ö; 5a");
  await expectAccessibleEverywhere(page, "import-left-out");
  await page.goto(office.base);
  await page.getByText("Weitere Angaben").click();
  await expectAccessibleEverywhere(page, "imports-options");
});

test("a file that takes much away is held until the number is typed", async () => {
  const office = await openOffice();
  const { page, school } = office;
  await handIn(office, fileOf([...pupils(30, "5a"), ...pupils(10, "5b", 101)]));
  await apply(page);
  const { id: groupId } = await service.db.prisma.group.findFirstOrThrow({ where: { schoolId: school, name: "5a" } });
  const { clientId } = await make.app({ name: "Lernapp" });
  await make.grant({ app: clientId, school, groups: [groupId as GroupId] });
  await handIn(office, fileOf(pupils(18, "6a")));
  const movesUp = page.getByLabel("5a → 6a (18 Personen wechseln) Die Freigabe für Lernapp gilt danach für die 6a.");
  await expect.poll(() => movesUp.isChecked()).toBe(true);
  await page.locator("#people table").waitFor();
  await page.locator("#changes table").waitFor();
  await expect.poll(() => page.locator("#people tbody tr").count()).toBe(22);
  await expectAccessibleEverywhere(page, "import-held");
  await page.getByLabel("Wie viele Personen gehen?").fill("21");
  await page.getByLabel("Wie viele Klassen und Gruppen enden?").fill("1");
  await page.getByLabel("Wie viele Klassen enden oder sind danach leer?").fill("1");
  await press(page, "Import übernehmen");
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("Eine Zahl stimmt nicht");
  expect(await peopleOf(school)).toBe(40);
  await page.getByLabel("Wie viele Personen gehen?").fill("22");
  await apply(page);
  expect(await peopleOf(school)).toBe(18);
  await expect
    .poll(() => textIn(page, "#moves"))
    .toContain("5a → 6a (18 Personen) Die Freigabe für Lernapp gilt jetzt");
  await expectAccessibleEverywhere(page, "import-moved-up");
});

test("the page of a file that is being read shows by itself how far it is, and ends asking", async () => {
  const office = await openOffice();
  const { page } = office;
  await handIn(office, fileOf(pupils(2, "5a")));
  const id = page.url().split("/").at(-1)!;
  const { prisma } = service.db;
  const setProgress = (progressPercent: number) =>
    prisma.import.update({
      where: { id },
      data: { state: "READING", progressPhase: "READING", progressPercent, progressAt: service.clock() },
    });
  await setProgress(20);
  await page.reload();
  await expectAccessibleEverywhere(page, "import-reading");
  await setProgress(70);
  await page.getByText("70 %").waitFor();
  const done = { state: "READY", progressPhase: null, progressPercent: null, progressAt: null } as const;
  await prisma.import.update({ where: { id }, data: done });
  await page.locator("#changes table").waitFor();
  await expect.poll(() => page.locator("[hx-trigger^=every]").count()).toBe(0);
  await apply(page);
});

test("everything works without JavaScript", async () => {
  const office = await openOffice({ javaScript: false });
  const { page, school } = office;
  await handIn(office, fileOf(pupils(3, "5a")));
  await page.locator("#changes").getByRole("link", { name: "Anzeigen" }).click();
  await expect.poll(() => textIn(page, "#changes tbody")).toMatch(/5a wird angelegt, 3 neue/);
  await page.getByRole("link", { name: "Zurück zum Import" }).click();
  await apply(page);
  expect(await peopleOf(school)).toBe(3);
});
