import { readFile, writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { readPdfText } from "../support/read-cards.ts";
import { startService, type TestService } from "../support/service.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];

let service: TestService;
let office: PortalUser;
let school: SchoolId;

beforeAll(async () => {
  service = await startService();
  const make = makeMakers(service.db);
  school = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  for (const name of ["10a", "5a", "5b"])
    await make.people({ school, count: 12, groups: [await make.group({ school, name })] });
  office = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
});

const prepare = () => service.runJob("accounts.prepareCredentials");

async function look(page: Page, name: string): Promise<void> {
  if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  await expectAccessible(page, name);
}

const looks: Look[] = [{ size: "desk" }, { size: "phone", colorScheme: "dark" }];

test.each(looks)(
  "passwords of two classes are prepared with the page closed, and downloaded once: $size",
  async (of) => {
    const page = await newPage(of);
    await page.goto(`${service.url}/admin/schools/${school}/classes`);
    await logIn(page, office);
    await page.getByRole("link", { name: "Karten und Passwörter für mehrere Klassen" }).click();
    await page.getByLabel("Die Lernenden dieser Klassen:").check();
    for (const name of ["5a", "10a"]) await page.getByLabel(name, { exact: true }).check();
    await page.getByLabel("Sie bekommen ein neues").check();
    await page.getByLabel(/ein Brief an die Eltern/).check();
    await look(page, `start-${of.size}`);
    const letter = await page.context().newPage();
    await letter.goto(`${service.url}/admin/schools/${school}/credentials/letter`);
    await letter.getByText("Ersetzt werden {Name}").waitFor();
    await look(letter, `letter-${of.size}`);
    await letter.close();
    await press(page, "Vorbereiten");
    await page.getByText("0 von 24 vorbereitet").waitFor();
    await look(page, `preparing-${of.size}`);
    const address = page.url();
    const context = page.context();
    await page.close();

    const back = await context.newPage();
    await back.goto(address);
    await back.getByText("0 von 24 vorbereitet").waitFor();
    await prepare();
    await back.getByText("Das Dokument liegt bereit.").waitFor();
    await look(back, `ready-${of.size}`);
    const other = await context.newPage();
    await other.goto(address);
    const download = back.waitForEvent("download");
    await press(back, "Als PDF herunterladen, Klasse für Klasse");
    const pdf = await readFile(await (await download).path());
    if (shots !== undefined) await writeFile(`${shots}/letters.pdf`, pdf);
    const letters = [...readPdfText(pdf).matchAll(/An die Eltern von\n.*\n\s*Klasse (\S+)/g)].map(([, name]) => name);
    expect(letters).toEqual([...Array<string>(12).fill("5a"), ...Array<string>(12).fill("10a")]);

    await press(other, "Als PDF herunterladen, Klasse für Klasse");
    await other.getByText("ist schon heruntergeladen worden und wird nicht noch einmal ausgegeben").waitFor();
    await look(other, `refused-${of.size}`);
    await back.reload();
    await back.getByText("Das Dokument wird nur einmal ausgegeben.").waitFor();
    await expect.poll(() => back.getByRole("button", { name: /herunterladen/ }).count()).toBe(0);
  },
);
