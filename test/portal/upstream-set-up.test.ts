import { beforeEach, describe, expect, test } from "vitest";
import type { GroupId, SchoolId } from "../../src/directory/index.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";
import {
  makeTravellingBrowser,
  refuseAll,
  signInThere,
  spoil,
  type TravellingBrowser,
} from "../support/upstream-browser.ts";
import { clientId, clientSecret, startUpstreamProvider } from "../support/upstream-provider.ts";

const clock = makeTestClock(new Date());
const service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const provider = await startUpstreamProvider();
provider.clock = clock;
const make = makeMakers(service.db);

let group: GroupId;
let admin: PortalUser;
let own: string;
let made = 0;

beforeEach(async () => {
  const school: SchoolId = await make.school({ name: "Goethe-Gymnasium" });
  own = `/admin/schools/${school}/own-login`;
  group = await make.group({ school, name: "5a" });
  await make.person({
    school,
    groups: [group],
    name: { firstFull: "Ada", firstCall: "Ada", last: "Beispiel" },
    sourceSystemIdentifier: "4711",
  });
  await make.person({ school, groups: [group], sourceSystemIdentifier: "4712" });
  await make.person({ school, groups: [] });
  admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
});

const inBrowser = () => makeTravellingBrowser(service, provider, { "accept-language": "de" });

/** A connection of another provider, and the address of its set-up link. */
async function makeSetUp(): Promise<{ page: string; link: string; name: string }> {
  const name = `Portal ${(made += 1)}`;
  const overview = await admin.browser.open(own);
  const connection = await admin.browser.submit(overview, "/own-login", { profile: "OIDC", name });
  expect(connection.html).toContain("Die Verbindung ist angelegt.");
  const created = await admin.browser.submit(connection, "/set-up-links", { days: "7" });
  expect(created.html).toContain("Der Link wird nur jetzt angezeigt.");
  const link = /value="([^"]*\/set-up\/[^"]*)"/.exec(created.html)![1]!;
  return { page: connection.url.split("?")[0]!, link, name };
}

async function openSetUp(browser: TravellingBrowser, link: string) {
  const first = await browser.open(link);
  expect(first.url).toBe(`${service.url}/set-up`);
  return browser.submit(first, "/set-up");
}

/** Fills the values in, after the client is registered at the provider. */
async function enterValues(browser: TravellingBrowser, started: { url: string }, more: Record<string, string> = {}) {
  const address = started.url.replace(/\/[\w-]+$/, "");
  const steps = await browser.open(`${address}/provider`);
  const redirectUri = /id="copy-redirectUri" value="([^"]*)"/.exec(steps.html)![1]!;
  provider.redirectUris.push(redirectUri);
  const values = await browser.open(`${address}/values`);
  const checked = await browser.submit(values, "/values", {
    issuer: provider.issuer,
    clientId,
    secret: clientSecret,
    scopes: "openid profile",
    subjectClaim: "sub",
    authMethod: "client_secret_basic",
    ...more,
  });
  return { address, checked };
}

test("a school goes from the set-up link to the first pupil without an account for its IT contact", async () => {
  const { page, link, name } = await makeSetUp();
  const browser = inBrowser();
  signInThere(provider, { import_id: "4711", name: "Ada Beispiel" });
  const started = await openSetUp(browser, link);
  expect(started.url).toMatch(/\/set-up\/links\/[0-9a-f-]{36}\/start$/);
  expect(started.html).toContain(`Goethe-Gymnasium möchte, dass sich alle mit ${name} anmelden.`);
  expect(started.headers.get("referrer-policy")).toBe("no-referrer");
  expect(started.headers.get("cache-control")).toBe("no-store");
  const { address, checked } = await enterValues(browser, started);
  expect(checked.url).toBe(`${address}/check`);
  const reached = await browser.submit(checked, "/check");
  expect(reached.html).toContain("Der Anbieter antwortet, und seine Angaben passen zur Verbindung.");
  expect(reached.html).toContain(`${provider.issuer}/token`);

  const result = await browser.open(`${address}/sign-in`);
  expect(result.url).toBe(`${address}/result`);
  expect(result.html).toContain("<code>import_id</code>");
  expect(result.html).toContain("Es gibt noch keine Regel.");
  const ruled = await browser.submit(result, "/result", {});
  expect(ruled.html).toContain("Mit der Regel unten wäre das: Ada Beispiel.");
  expect(ruled.html).toContain("2 von 4 Personen haben: Kennung aus dem Schulverwaltungsprogramm.");

  const switching = await browser.open(`${address}/switch-on`);
  const without = await browser.submit(switching, "/switch-on", { for: "classes" });
  expect(without.status).toBe(400);
  expect(without.html).toContain("Wählen Sie mindestens eine Klasse");
  const done = await browser.submit(switching, "/switch-on", { for: "classes", group });
  expect(done.html).toContain(`Fertig: ${name} ist eingeschaltet.`);
  expect(done.html).toContain("Die gewählten Klassen können sich jetzt so anmelden.");
  expect((await admin.browser.open(page)).html).toContain("nur eine Klasse");

  const pupil = inBrowser();
  await admin.browser.submit(await admin.browser.open(own), "/way-in", { linkName: "goethe", localPasswords: "on" });
  const door = await pupil.open("/s/goethe");
  const inside = await pupil.submit(door, "/sign-in/upstream", { connection: page.split("/").at(-1)! });
  expect(inside.url).toBe(`${service.url}/`);
  expect(inside.html).toContain("Ada");
  expect((await admin.browser.open(`${page}/links`)).html).toContain("Ada Beispiel");
});

test("the contact of one of several schools sees which value arrived, which was typed, and where to correct it", async () => {
  const { link } = await makeSetUp();
  const browser = inBrowser();
  signInThere(provider, { import_id: "4711", school_ids: ["DE-1", "DE-2"], "iserv:groups": ["DE-4"] });
  const started = await openSetUp(browser, link);
  const half = await enterValues(browser, started, { schoolClaim: "school_ids" });
  expect(half.checked.status).toBe(400);
  expect(half.checked.html).toContain("Die Angabe, welche die Schule nennt, und ihr Wert gehören zusammen");
  expect(half.checked.html).toContain('value="school_ids"');
  const { address } = await enterValues(browser, started, { schoolClaim: "school_ids", schoolValue: "DE-3" });
  const other = await browser.open(`${address}/sign-in`);
  expect(other.html).toContain("Das Konto gehört zu einer anderen Schule");
  expect(other.html).toContain("Die Angabe „school_ids“ kam an mit: DE-1, DE-2. Eingetragen ist „DE-3“.");
  expect(other.html).not.toContain("Nehmen Sie einen der Vorschläge, oder");
  expect(other.html).toContain(`href="${new URL(address).pathname}/values#schoolClaim"`);
  const refused = "würde das Konto der letzten Testanmeldung abgewiesen";
  expect((await browser.open(`${address}/switch-on`)).html).toContain(refused);
  const values = await browser.open(`${address}/values`);
  expect(values.html).toMatch(/<details open>\s*<summary>Scopes, Konten, Abmelden/);
  await enterValues(browser, started, { schoolClaim: "school_id", schoolValue: "DE-1" });
  expect((await browser.open(`${address}/result`)).html).toContain("Die Angabe „school_id“ kam nicht an.");
  await enterValues(browser, started, { schoolClaim: "groups", schoolValue: "DE-1" });
  const spelled = await browser.open(`${address}/result`);
  expect(spelled.html).toContain("Die Angabe „groups“ kam an mit: DE-4.");
  expect(spelled.html).toMatch(/<code>iserv:groups<\/code> <span class="badge calm">Schule<\/span>/);
  await enterValues(browser, started, { schoolClaim: "school_ids", schoolValue: "DE-1" });
  const own = await browser.open(`${address}/result`);
  expect(own.html).not.toContain("OTHER_SCHOOL");
  expect(own.html).toMatch(/<code>school_ids<\/code> <span class="badge calm">Schule<\/span>/);
  await browser.submit(own, "/result", {});
  expect((await browser.open(`${address}/switch-on`)).html).not.toContain(refused);
  const page = await browser.open(`${address}/result`);
  for (const fields of [{ ruleField: "BOGUS" }, { ruleField: "USERNAME", normalisation: "BOGUS" }])
    for (const preview of [{}, { preview: "1" }]) {
      const answer = await browser.submit(page, "/result", { form: "rule", ruleClaim: "sub", ...fields, ...preview });
      expect([answer.status, answer.html.includes("<code>school_ids</code>")]).toEqual([400, true]);
    }
  // A reason that there is not, in an address that somebody made up.
  const madeUp = await browser.open(`${address}/check?failure=constructor`);
  expect([madeUp.status, madeUp.html.includes("<code>constructor")]).toEqual([200, false]);
});

describe("a set-up link", () => {
  test("is not opened by a program that follows links, leaves the address bar, and works in one browser", async () => {
    const { link } = await makeSetUp();
    const [scanner, contact, other] = [inBrowser(), inBrowser(), inBrowser()];
    const looked = await scanner.once(link);
    expect([looked.status, looked.headers.get("location")]).toEqual([303, "/set-up"]);
    expect(looked.headers.get("referrer-policy")).toBe("no-referrer");
    const started = await openSetUp(contact, link);
    expect((await contact.open(started.url)).status).toBe(200);
    const elsewhere = await openSetUp(other, link);
    expect([elsewhere.status, elsewhere.html.includes("Dieser Link führt nicht weiter")]).toEqual([404, true]);
    expect((await other.open(started.url)).status).toBe(404);
  });

  test("ends when the school closes it, and when its days are over", async () => {
    for (const end of ["closed", "expired"]) {
      const { page, link } = await makeSetUp();
      const browser = inBrowser();
      const started = await openSetUp(browser, link);
      const now = clock();
      if (end === "expired") clock.forwardSeconds(8 * 86_400);
      else await admin.browser.submit(await admin.browser.open(page), "/close");
      expect((await browser.open(started.url)).status, end).toBe(404);
      // The provider signs tokens by the clock of this machine.
      clock.set(now);
    }
  });

  test("refuses a form without the token of its browser", async () => {
    const { link } = await makeSetUp();
    const browser = inBrowser();
    const started = await openSetUp(browser, link);
    const values = started.url.replace(/\/start$/, "/values");
    const answer = await browser.once(values, { method: "POST", body: new URLSearchParams({ clientId: "other" }) });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("Bitte noch einmal");
  });

  test("says in words what is wrong at the provider, and keeps what was typed when a value is refused", async () => {
    const { link } = await makeSetUp();
    const browser = inBrowser();
    const started = await openSetUp(browser, link);
    const { address, checked } = await enterValues(browser, started);
    spoil(provider, { path: "/.well-known/openid-configuration", status: 502 });
    const down = await browser.submit(checked, "/check");
    spoil(provider, null);
    expect(down.html).toContain("Der Anbieter antwortet nicht");
    expect(down.html).toContain("<code>UPSTREAM_DOWN</code>");
    refuseAll(provider, "access_denied");
    const cancelled = await browser.open(`${address}/sign-in`);
    expect(cancelled.url).toBe(`${address}/check?failure=CANCELLED`);
    expect(cancelled.html).toContain("Die Anmeldung wurde beim Anbieter abgebrochen");
    spoil(provider, null);
    const values = await browser.open(`${address}/values`);
    const refused = await browser.submit(values, "/values", {
      issuer: "https://portal.example/?x=1",
      clientId: "typed-id",
      scopes: "profile",
      subjectClaim: "sub",
      authMethod: "client_secret_basic",
    });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('value="typed-id"');
    expect(refused.html).toContain("Die Adresse des Anbieters (Issuer) muss mit https:// beginnen");
    const early = await browser.submit(await browser.open(`${address}/switch-on`), "/off").catch(() => null);
    expect(early).toBeNull();
  });
});
