import { beforeAll, expect, test } from "vitest";
import { useBrowser } from "./support/browser.ts";
import { people, platform, startDemoService, type DemoService } from "./support/demo-service.ts";
import { answerToApp, logIn, press } from "./support/steps.ts";

const { newPage } = useBrowser();
const scope = `openid profile offline_access urn:${platform}:idm:v1:people:read`;
let service: DemoService;

beforeAll(async () => {
  service = await startDemoService();
});

/** Runs in the page, where oidc-client-ts has been loaded; `manager` is its UserManager. */
function withManager(code: string): string {
  const settings = {
    authority: service.url,
    client_id: "demo-spa",
    redirect_uri: `${service.appUrl}/callback`,
    scope,
    loadUserInfo: true,
    automaticSilentRenew: false,
  };
  return `(async () => { const manager = new oidc.UserManager(${JSON.stringify(settings)}); ${code} })()`;
}

test("oidc-client-ts signs a pupil in from a page, reads person-info and renews", async () => {
  const page = await newPage();
  await page.goto(`${service.appUrl}/`);
  await page.addScriptTag({ url: "/oidc-client-ts.js" });
  await page.evaluate(withManager("manager.signinRedirect();"));
  await page.waitForURL(/\/interaction\//);
  await logIn(page, people.student);
  await press(page, "Ja, erlauben");
  expect(await answerToApp(page)).toMatchObject({ code: expect.any(String), iss: service.url });

  await page.addScriptTag({ url: "/oidc-client-ts.js" });
  const user = await page.evaluate(withManager("return (await manager.signinCallback());"));
  expect(user).toMatchObject({
    token_type: "bearer",
    profile: { sub: "c0000000-0000-4000-8000-000000000002", given_name: "Bo Emil", family_name: "Muster" },
    refresh_token: expect.any(String),
  });

  const personInfo = await page.evaluate(
    withManager(`const { access_token } = await manager.getUser();
      const answer = await fetch("${service.url}/idm/schulconnex/v1/person-info", { headers: { Authorization: "Bearer " + access_token } });
      return answer.json();`),
  );
  expect(personInfo).toMatchObject({
    pid: "c0000000-0000-4000-8000-000000000002",
    person: { name: { familienname: "Muster" } },
  });

  const renewed = await page.evaluate(withManager("return (await manager.signinSilent());"));
  expect(renewed).toMatchObject({
    access_token: expect.not.stringMatching((user as { access_token: string }).access_token),
  });

  await page.evaluate(withManager(`manager.signoutRedirect({ post_logout_redirect_uri: "${service.appUrl}/bye" });`));
  await page.waitForURL(/\/oauth2\/sessions\/logout/);
  await press(page, "Ja, abmelden");
  await page.waitForURL(`${service.appUrl}/bye`);
});
