import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, preview } from "vite";
import { beforeAll, expect, test } from "vitest";
import { demoLogin, startDemo } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeTestClock } from "../support/service.ts";
import { useBrowser } from "./support/browser.ts";
import { logIn, press } from "./support/steps.ts";

// The single-page app of examples/, as vite builds it.

const { newPage } = useBrowser();
const root = join(import.meta.dirname, "../../examples/spa");
const outDir = mkdtempSync(join(tmpdir(), "example-spa-"));
let app: string;
let issuer: string;

beforeAll(async () => {
  atFileEnd(() => rmSync(outDir, { recursive: true }));
  const service = await startDemo({ clock: makeTestClock(new Date()) });
  issuer = service.url;
  process.env["VITE_ISSUER"] = issuer;
  await build({ root, logLevel: "silent", build: { outDir, emptyOutDir: true } });
  const server = await preview({ root, build: { outDir }, preview: { host: "127.0.0.1", port: 0 } });
  atFileEnd(() => server.close());
  app = server.resolvedUrls!.local[0]!.replace(/\/$/, "");
  await service.db.prisma.app.update({
    where: { clientId: "demo-spa" },
    data: { redirectUris: [`${app}/callback`], loginUrl: `${app}/login` },
  });
});

test("the single-page app signs a pupil in from its Login URL, shows userinfo, and signs out", async () => {
  const page = await newPage();
  await page.goto(`${app}/login?iss=${encodeURIComponent(issuer)}`);
  await page.waitForURL(/\/interaction\//);
  await logIn(page, demoLogin(2));
  await press(page, "Ja, erlauben");
  await expect.poll(() => page.locator("main").textContent()).toBe("Hello Bo Emil! Sign out");
  await page.waitForURL(`${app}/`);
  await expect.poll(() => page.evaluate("JSON.stringify([localStorage, sessionStorage])")).toBe("[{},{}]");
  await press(page, "Sign out");
  await press(page, "Ja, abmelden");
  await page.goto(app);
  await press(page, "Sign in");
  await page.locator("#password").waitFor();
});

test("the single-page app refuses another issuer, and an answer that its tab did not ask for", async () => {
  const page = await newPage();
  for (const path of ["/login?iss=https://other.example", "/callback?code=c&state=s"]) {
    await page.goto(app + path);
    await expect.poll(() => page.locator("main").textContent()).toBe("That did not work. Try again");
  }
});
