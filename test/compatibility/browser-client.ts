import { equal, notEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import type { World } from "../api/sign-on/world.ts";
import { logIn, press } from "../browser/support/steps.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import type { Client } from "./clients.ts";
import type { Attempts } from "./server-client.ts";

const bundles = join(import.meta.dirname, "../../.cache/compatibility/bundles");

type User = { sub: string; accessToken: string };

/** A person uses an app that is a page alone. */
export async function startBrowserClient(client: Client, world: World, chromium: Browser): Promise<Attempts> {
  const { service, login, pupil } = world;
  const port = await findPort();
  const baseUrl = `http://localhost:${port}`;
  const { clientId } = await world.app({
    type: "PUBLIC",
    redirectUris: [baseUrl + client.callback],
    postLogoutRedirectUris: [`${baseUrl}/`],
    ...client.registration,
  });
  const settings = { ISSUER: service.url, CLIENT_ID: clientId, BASE_URL: baseUrl };
  await serve(
    port,
    `<!doctype html><link rel="icon" href="data:,"><title>app</title>
     <script>globalThis.settings = ${JSON.stringify(settings)}</script>
     <script type="module" src="/${client.program}.js"></script>`,
  );

  const context = await chromium.newContext({ locale: "de" });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const printed: string[] = [];
  page.on("console", (message) => printed.push(message.text()));
  page.on("pageerror", (error) => printed.push(error.message));
  let readUserinfo = false;
  page.on("response", (response) => (readUserinfo ||= response.ok() && response.url().endsWith("/oauth2/userinfo")));
  const isReady = () => page.waitForFunction("globalThis.app !== undefined");
  const call = async <T>(name: string): Promise<T> => page.evaluate<T>(`app.${name}()`);
  const leave = (name: string) => page.evaluate(`void app.${name}()`);

  const attempts: Attempts["attempts"] = {
    async signOn() {
      await page.goto(`${baseUrl}/`);
      await isReady();
      equal(await call("me"), null);
      await leave("signIn");
      await logIn(page, login);
      await press(page, "Ja, erlauben");
      await page.waitForURL(`${baseUrl}/**`);
      await isReady();
      equal((await call<User>("me")).sub, pupil);
    },
    async userinfo() {
      const userinfo = await call<{ sub: string; family_name: string }>("userinfo");
      equal(userinfo.sub, pupil);
      ok(userinfo.family_name);
      ok(readUserinfo);
    },
    async refresh() {
      const before = await call<User>("me");
      const { accessToken } = await call<User>("refresh");
      notEqual(accessToken, before.accessToken);
      const headers = { authorization: `Bearer ${accessToken}` };
      equal((await fetch(`${service.url}/oauth2/userinfo`, { headers })).status, 200);
    },
    async logout() {
      await leave("signOut");
      await press(page, "Ja, abmelden");
      await page.waitForURL(`${baseUrl}/`);
      await isReady();
      equal(await call("me"), null);
      await leave("signIn");
      await page.locator("#password").waitFor();
    },
    async backchannelLogout() {
      throw new Error("a page cannot be called");
    },
  };
  return { attempts, printed: () => printed.join("\n") };
}

/** Each address that is not of a script shows the page. */
async function serve(port: number, html: string): Promise<void> {
  const server = createServer(({ url = "/" }, res) => {
    if (url.endsWith(".js")) res.setHeader("content-type", "text/javascript").end(readFileSync(join(bundles, url)));
    else res.setHeader("content-type", "text/html").end(html);
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
}
