import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { chromium, type BrowserContextOptions, type Page } from "playwright-core";
import demo from "../demo.json" with { type: "json" };

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
  const password = demo.people.find((person) => person.username === username)?.password ?? "";
  await page.locator("#username").fill(username);
  await page.locator("#password").fill(password);
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
await browser.close();
