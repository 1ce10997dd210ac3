import { afterAll, beforeAll, expect, test } from "vitest";
import { startDemoApps, type DemoApps } from "../../demo/app.ts";
import type { PartnerApp } from "../../demo/partner-app.ts";
import { demoLogin, startDemo } from "../support/api.ts";
import { makeBrowser } from "../support/browser.ts";
import type { TestService } from "../support/service.ts";
import { makeTestClock } from "../support/service.ts";
import { passPages } from "../support/token.ts";

let service: TestService;
let demoApps: DemoApps;
let demoApp: PartnerApp;

beforeAll(async () => {
  // The apps check ID tokens by the real time.
  service = await startDemo({ clock: makeTestClock(new Date()) });
  demoApps = await startDemoApps({
    issuerUrl: service.url,
    baseUrl: service.url,
    platform: "schultor",
    portOf: () => 0,
  });
  demoApp = demoApps.running.find(({ clientId }) => clientId === "demo-lernapp")!;
  for (const { clientId, url } of demoApps.running)
    await service.db.prisma.app.update({
      where: { clientId },
      data: { redirectUris: [`${url}callback`], loginUrl: `${url}login` },
    });
  await service.db.prisma.app.update({
    where: { clientId: "demo-lernapp" },
    data: { postLogoutRedirectUris: [demoApp.url] },
  });
});
afterAll(() => demoApps.close());

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
  const first = await platform.open(url);
  expect(first.html).not.toContain('name="password"');
  const back = await passPages(platform, first, demoLogin(1));
  expect((await app.open(back.url)).html).toContain("Ada Marie");
});

test("every tile leads to an app that signs the person in with its own client", async () => {
  const platform = makeBrowser(service.url);
  const { html } = await platform.submit(await platform.open("/sign-in"), "/sign-in", demoLogin(1));
  const tiles = [...html.matchAll(/href="(http:[^"]+)"[^>]*>([^<]+)</g)];
  expect(tiles.map(([, , name]) => name).sort()).toEqual(["Altapp", "Browserapp", "Lernapp", "Mathewelt"]);
  for (const [, href, name] of tiles) {
    const tile = new URL(href!.replaceAll("&amp;", "&"));
    const app = makeBrowser(tile.origin);
    const { url } = await app.open(tile.pathname + tile.search);
    const back = await passPages(platform, await platform.open(url), demoLogin(1));
    const { html: page, status } = await app.open(back.url);
    expect([status, page]).toEqual([200, expect.stringContaining(`${name} has checked the ID token`)]);
  }
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
