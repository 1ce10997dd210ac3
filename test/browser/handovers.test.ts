import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { startService, type TestService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";
import { expectAccessible, useBrowser, type Look } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const shots = process.env["SCREENSHOTS"];
const nameOf = (firstFull: string, last: string) => ({ firstFull, firstCall: firstFull, last });

let service: TestService;
let [from, to] = ["", ""] as SchoolId[];
let sender: PortalUser;
let receiver: PortalUser;

beforeAll(async () => {
  service = await startService();
  const make = makeMakers(service.db);
  from = await make.school({ name: "Goethe-Gymnasium Musterstadt" });
  const address = { address: "Weg 1", addressAddition: null, zipCode: "26603", city: "Aurich" };
  to = await make.school({ name: "Schule am Meer", address });
  const group = await make.group({ school: from, name: "5a" });
  await make.group({ school: to, name: "5c" });
  for (const last of ["Schmidt", "Weber", "Aydın"])
    await make.person({ school: from, groups: [group], name: nameOf("Mia", last) });
  for (const last of ["Alt", "Neu"]) {
    const teacher = await make.person({ school: from, role: "TEACHER", name: nameOf("Kim", last) });
    await make.membership({ group, person: teacher, role: "TEACHER" });
    if (last === "Alt") await giveLogin(service.db, teacher);
  }
  sender = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [from] });
  receiver = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [to] });
});

async function look(page: Page, name: string): Promise<void> {
  if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  await expectAccessible(page, name);
}

const looks: (Look & { last: string })[] = [
  { last: "Schmidt", size: "desk" },
  { last: "Weber", size: "phone", colorScheme: "dark" },
];

test.each(looks)("one school hands over Mia $last, and the other accepts: $size", async ({ last, ...of }) => {
  const page = await newPage(of);
  await page.goto(`${service.url}/admin/schools/${from}/classes`);
  await logIn(page, sender);
  await page.getByRole("link", { name: "5a", exact: true }).click();
  await page.getByRole("link", { name: "An andere Schule übergeben" }).click();
  await page.getByLabel(`Mia ${last}`).check();
  await page.getByLabel("Neue Schule suchen (Name oder Ort)").fill("aurich");
  await press(page, "Suchen");
  await page.getByLabel("Schule am Meer").check();
  await look(page, `offer-${of.size}`);
  await press(page, "Dieser Schule anbieten");
  await page.getByText("1 Person ist angeboten.").waitFor();
  await look(page, `offered-${of.size}`);

  const other = await newPage(of);
  await other.goto(`${service.url}/admin/schools/${to}/today`);
  await logIn(other, receiver);
  await look(other, `today-${of.size}`);
  await other.getByRole("link", { name: new RegExp(`Mia ${last}|Goethe-Gymnasium`) }).click();
  await other.getByLabel(`Neue Klasse von Mia ${last}`).selectOption("5c");
  await other.getByLabel(`Nummer von Mia ${last}`).fill(`M-${last}`);
  await look(other, `answer-${of.size}`);
  await press(other, "Annehmen");
  await other.getByText("1 Person ist jetzt an Ihrer Schule.").waitFor();
  await look(other, `accepted-${of.size}`);

  await page.getByRole("link", { name: "Übergaben" }).click();
  await expect.poll(() => page.getByText("angenommen").count()).toBeGreaterThan(0);
  await look(page, `list-${of.size}`);
});

test("a teacher with a class is proposed as class teacher, and gets the role", async () => {
  for (const one of [{ size: "phone", colorScheme: "dark" }, { size: "desk" }] satisfies Look[]) {
    const page = await newPage(one);
    await page.goto(`${service.url}/admin/schools/${from}/staff`);
    await logIn(page, sender);
    await page.getByRole("heading", { name: "Klassenleitungen ohne Rolle" }).waitFor();
    await look(page, `teachers-${one.size}`);
    if (one.size === "phone") continue;
    await press(page, "Rolle vergeben");
    await page.getByText("1 Person hat jetzt die Rolle Klassenleitung.").waitFor();
    await look(page, "teachers-given");
  }
});
