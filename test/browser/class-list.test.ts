import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { makeClassroom, rabbitCode } from "../support/class-list.ts";
import { expectAccessible, useBrowser } from "./support/browser.ts";
import { startDemoService, type DemoService } from "./support/demo-service.ts";
import { expectHeading, press } from "./support/steps.ts";

const { newPage } = useBrowser();
let service: DemoService;
let room: Awaited<ReturnType<typeof makeClassroom>>;

beforeAll(async () => {
  service = await startDemoService();
  room = await makeClassroom(service);
});

const german = new Map([
  ["rabbit", "Hase"],
  ["cake", "Kuchen"],
]);

async function tapPictures(page: Page): Promise<void> {
  for (const name of rabbitCode) await press(page, german.get(name)!);
}

async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

test.each([
  ["phone", true],
  ["desk", false],
] as const)(
  "a pupil of nine chooses pictures and signs in with two taps and three pictures: %s, scripts %s",
  async (size, javaScript) => {
    const name = `Mia${size}${javaScript ? "" : "ohne"}`;
    const pupil = await room.makePupil(name);
    const own = await newPage({ size, javaScript });
    await own.goto(pupil.card.url!);
    await press(own, "Ja, anmelden");
    await expectHeading(own, "Such dir drei Bilder aus");
    if (javaScript) await expectAccessible(own);
    await tapPictures(own);
    await expectHeading(own, "Tippe deine drei Bilder noch einmal");
    await keep(own, `choose-${size}-${javaScript}`);
    await tapPictures(own);
    await own.waitForURL(`${service.url}/`);

    const { code } = await room.openList();
    const device = await newPage({ size, javaScript });
    await device.goto(`${service.url}/class`);
    if (javaScript) await expectAccessible(device);
    await device.getByLabel("Code von der Tafel").fill(code);
    await press(device, "Meine Klasse zeigen");
    await expectHeading(device, "Wer bist du?");
    if (javaScript) await expectAccessible(device);
    await keep(device, `names-${size}-${javaScript}`);
    await device.getByRole("link", { name: `${name} M.` }).click();
    await expectHeading(device, `Hallo ${name} M.!`);
    if (javaScript) await expectAccessible(device);
    await press(device, "Hase");
    await device.getByText("1 von 3 Bildern getippt").waitFor();
    await press(device, "Hund");
    await press(device, "Letztes Bild zurücknehmen");
    await device.getByText("1 von 3 Bildern getippt").waitFor();
    await keep(device, `pictures-${size}-${javaScript}`);
    await press(device, "Kuchen");
    await device.getByText("2 von 3 Bildern getippt").waitFor();
    await device.getByRole("button", { name: "Hase" }).focus();
    await device.keyboard.press("Enter");
    await device.waitForURL(`${service.url}/`);
    await expect.poll(() => device.locator("body").textContent()).toContain(name);
  },
);
