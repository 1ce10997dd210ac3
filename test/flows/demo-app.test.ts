import { afterAll, beforeAll, expect, test } from "vitest";
import { startDemoApp, type DemoApp } from "../../demo/app.ts";
import { demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import type { TestService } from "../support/service.ts";
import { makeTestClock } from "../support/service.ts";
import { passPages } from "../support/token.ts";

let service: TestService;
let demoApp: DemoApp;

beforeAll(async () => {
  // The app judges ID tokens by the real time.
  service = await startDemo({ clock: makeTestClock(new Date()) });
  demoApp = await startDemoApp({ issuerUrl: service.url, baseUrl: service.url, platform: "schultor", port: 0 });
  await service.db.pool.query(
    "UPDATE app SET redirect_uris = $1, post_logout_redirect_uris = $2 WHERE client_id = 'demo-lernapp'",
    [[`${demoApp.url}callback`], [demoApp.url]],
  );
});
afterAll(() => demoApp.close());

async function signIn(person: number) {
  const [app, platform] = [makeBrowser(demoApp.url), makeBrowser(service.url)];
  const { url } = await app.open("/login");
  const back = await passPages(platform, await platform.open(url), demoLogin(person));
  return { app, platform, back };
}

test("the demo app signs a pupil in and shows the claims and what it read in both contexts", async () => {
  const { app, back } = await signIn(2);
  const { html, status } = await app.open(back.url);
  expect(status).toBe(200);
  expect(html).toContain("You are signed in");
  for (const shown of ["Bo Emil", "STUDENT", "Klasse 5a", "Förderzentrum Süd", "personenkontexte"])
    expect(html).toContain(shown);
});

test("a tile opens the app with the person who is signed in to the platform, without another password", async () => {
  const platform = makeBrowser(service.url);
  const tiles = await platform.submit(await platform.open("/sign-in"), "/sign-in", demoLogin(1));
  const tile = /href="([^"]+)"[^>]*>Lernapp</.exec(tiles.html)![1]!.replaceAll("&amp;", "&");
  const app = makeBrowser(demoApp.url);
  const { url } = await app.open(`/login${new URL(tile).search}`);
  const consent = await platform.open(url);
  expect(consent.html).not.toContain('name="password"');
  const back = await platform.submit(consent, "/consent");
  expect((await app.open(back.url)).html).toContain("Ada Marie");
});

test("a callback that the app did not ask for starts over", async () => {
  const { back } = await signIn(2);
  expect((await makeBrowser(demoApp.url).open(back.url)).url).toContain(`${service.url}/oauth2/auth`);
});

test("someone whose school does not open the app is told by the platform, and the app shows the refusal", async () => {
  const { app, platform, back } = await signIn(9);
  expect(back.url).toContain(service.url);
  const action = /action="([^"]+)"/.exec(back.html)![1]!;
  const refused = await platform.submit(back, new URL(action, service.url).pathname);
  expect((await app.open(refused.url)).html).toContain("access_denied");
});

test("signing out in the app ends at the app again", async () => {
  const { app, platform, back } = await signIn(2);
  await app.open(back.url);
  const confirm = await platform.open((await app.open("/logout")).url);
  const done = await platform.submit(confirm, "/confirm", { logout: "yes" });
  expect(done.html + done.url).toContain(demoApp.url);
});
