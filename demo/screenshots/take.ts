import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import jsQR from "jsqr";
import { PNG } from "pngjs";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";
import demo from "../demo.json" with { type: "json" };
import firstLook from "../first-look.json" with { type: "json" };

// Takes the pictures of the README from a service that runs with the demo world: `npm start`, then `npm run
// screenshots`.
const serviceUrl = process.argv[2] ?? "http://localhost:3000";
const folder = import.meta.dirname;

const phone = { width: 360, height: 740 };
const desk = { width: 1100, height: 720 };
const whiteboard = { width: 1920, height: 1080 };

function authorizationUrl(clientId: string, scope: string): string {
  const redirectUri = demo.apps.find((app) => app.clientId === clientId)?.redirectUris[0] ?? "";
  const challenge = createHash("sha256").update(randomBytes(32)).digest("base64url");
  const parameters = { response_type: "code", client_id: clientId, redirect_uri: redirectUri, scope };
  return `${serviceUrl}/oauth2/auth?${new URLSearchParams({ ...parameters, code_challenge: challenge, code_challenge_method: "S256" }).toString()}`;
}

async function logIn(page: Page, username: string): Promise<void> {
  await page.locator("#username").fill(username);
  await page.locator("#password").fill(`demo-${username.replace(".", "-")}`);
  await page.keyboard.press("Enter");
  await page.locator("#password").waitFor({ state: "detached" });
}

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic"],
});

async function visit(
  options: BrowserContextOptions,
  walk: (page: Page, shoot: (name: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await walk(page, (name) =>
    page.screenshot({ path: join(folder, `${name}.png`), fullPage: options.viewport === phone }),
  );
  await context.close();
}

await visit({ viewport: phone, locale: "de" }, async (page, shoot) => {
  await page.goto(authorizationUrl("demo-lernapp", "openid profile school groups"));
  await shoot("login");
  await logIn(page, "student.goethe");
  // The buttons stick to the bottom of the window: only a window as tall as the page shows them in their place.
  await page.setViewportSize({ ...phone, height: 1232 });
  await shoot("consent");
});
await visit({ viewport: whiteboard, locale: "en" }, async (page, shoot) => {
  await page.goto(authorizationUrl("demo-mathe", "openid school"));
  await logIn(page, "teacher.two");
  await shoot("choose-school");
});
await visit({ viewport: desk, locale: "de", colorScheme: "dark" }, async (page, shoot) => {
  await page.goto(authorizationUrl("demo-lernapp", "openid"));
  await logIn(page, "student.nord");
  await shoot("refusal");
});
await visit({ viewport: desk, locale: "de" }, async (page, shoot) => {
  await page.goto(`${serviceUrl}/sign-in`);
  await logIn(page, "student.goethe");
  await shoot("tiles");
});
await visit({ viewport: desk, locale: "de" }, async (page, shoot) => {
  await page.goto(demo.apps[0]?.loginUrl ?? "");
  await logIn(page, "teacher.goethe");
  // Asked only the first time.
  await page
    .locator("button.primary")
    .click({ timeout: 2_000 })
    .catch(() => undefined);
  await page.getByRole("heading", { name: "You are signed in" }).waitFor();
  await shoot("demo-app");
});

// The pages of staff, at the schools of the demo world. Each run prints new cards of a class, and imports nothing.
const wald = `${serviceUrl}/admin/schools/${firstLook.school.id}`;
const goethe = `${serviceUrl}/admin/schools/${demo.schools[0]!.id}`;
const staffPage = { viewport: { width: 1280, height: 800 }, locale: "en" };

const visitAsStaff = (
  username: string,
  walk: (page: Page, shoot: (name: string) => Promise<unknown>) => Promise<void>,
) =>
  visit(staffPage, async (page) => {
    await page.goto(`${serviceUrl}/admin`);
    await logIn(page, username);
    await walk(page, async (name) => {
      const height = await page.evaluate<number>("document.documentElement.scrollHeight");
      const clip = { x: 0, y: 0, width: staffPage.viewport.width, height: Math.min(height, 1000) };
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip });
    });
  });

await visitAsStaff("schooladmin.goethe", async (page, shoot) => {
  await page.goto(`${goethe}/apps/demo-lernapp/view`);
  await shoot("app-view");
});
await visitAsStaff("schooladmin.wald", async (page, shoot) => {
  await page.goto(`${wald}/apps/demo-lernapp/change`);
  await page.locator("input[name=sync]").check();
  await page.getByText("Select the groups that the app can see").click();
  await page.locator("input[name=syncedGroup]").first().check();
  await page.getByRole("button", { name: "Show preview" }).click();
  await page.getByRole("heading", { name: "What the app will see" }).waitFor();
  await shoot("dry-run");

  await page.goto(`${wald}/people`);
  await page.getByRole("link", { name: "Ben Fischer", exact: true }).click();
  await page.getByRole("link", { name: "Why can't this person sign in?" }).click();
  await page.getByLabel("Which app?").selectOption({ label: "Mathewelt" });
  await page.getByRole("button", { name: "Check" }).click();
  await shoot("explanation");

  await page.goto(`${wald}/imports`);
  const rows = readFileSync(join(folder, "../roster/realschule-later.csv"), "utf8").split("\n");
  const changed = rows.slice(0, -3).map((row, at) => (at > 0 && at < 4 ? row.replace(";5a;", ";5b;") : row));
  const file = { name: "realschule-today.csv", mimeType: "text/csv", buffer: Buffer.from(changed.join("\n")) };
  await page.locator("input[type=file]").setInputFiles(file);
  await page.getByRole("button", { name: "Check file" }).click();
  await page.getByRole("button", { name: "Apply the import" }).waitFor();
  await page.locator("body:not(:has-text('Loading …'))").waitFor();
  await shoot("import-difference");
  await page.getByText("Discard the import").click();
  await page.getByRole("button", { name: "Discard" }).click();
});
let cardUrl = "";
await visitAsStaff("classteacher.wald", async (page, shoot) => {
  await page.goto(`${wald}/classes`);
  await page.getByRole("link", { name: "5a", exact: true }).click();
  await page.getByRole("link", { name: "Passwords and login cards" }).click();
  await page.getByLabel("Login cards with a QR code").check();
  await page.getByRole("button", { name: "Create now" }).click();
  await page.getByRole("heading", { name: "Cards" }).waitFor();
  await shoot("login-cards");
  const code = PNG.sync.read(await page.locator(".login-cards .code").first().screenshot());
  cardUrl = jsQR.default(new Uint8ClampedArray(code.data), code.width, code.height)?.data ?? "";
});
await visit({ viewport: phone, locale: "en" }, async (page, shoot) => {
  await page.goto(cardUrl);
  await shoot("card");
});
await browser.close();
