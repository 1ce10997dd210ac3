import { beforeAll, expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { listPages } from "../docs/snippets.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const { prisma } = service.db;
const redirectUri = "https://lernapp.example/signed-in?from=<school>";
const guides = listPages();

let clientId: ClientId;
let partner: PortalUser["browser"];
let docs: string;
let real: { school: string; person: string };

beforeAll(async () => {
  clientId = (await make.app({ name: "Lernapp" })).clientId;
  await prisma.app.update({
    where: { clientId },
    data: { redirectUris: [redirectUri], loginUrl: "https://lernapp.example/in" },
  });
  const school = await make.school();
  const group = await make.group({ school });
  const name = { firstFull: "Wirkliche", firstCall: "Wirkliche", last: "Person" };
  const person = await make.person({ school, groups: [group], name });
  await make.grant({ app: clientId, school, groups: [group] });
  real = { school, person };
  partner = (await makePortalUser(service, "PARTNER", { clientIds: [clientId] })).browser;
  docs = `/partner/apps/${clientId}/docs`;
});

const answerOf = (html: string) => /<div role="status">[^]*?<\/div>/.exec(html)?.[0] ?? "";

test("every guide is there for the app, and its links stay with the app", async () => {
  const list = await partner.open(docs);
  expect(list.status).toBe(200);
  for (const name of guides) {
    const { html, status } = await partner.open(`${docs}/${name}`);
    expect([name, status]).toEqual([name, 200]);
    expect(html).not.toContain("demo-lernapp-secret");
    for (const [, linked] of html.matchAll(/href="\/docs\/([\w-]+)["#]/g)) expect(guides).not.toContain(linked);
  }
  expect((await partner.open(`${docs}/unknown`)).status).toBe(404);
  const { clientId: other } = await make.app();
  for (const path of ["", "/first-steps"])
    expect((await partner.open(`/partner/apps/${other}/docs${path}`)).status).toBe(404);
});

test("programs have the values of the app, and never a secret", async () => {
  const steps = (await partner.open(`${docs}/first-steps`)).html;
  expect(steps).toContain(`export CLIENT_ID=${clientId}\nexport CLIENT_SECRET=…\n`);
  const signOn = (await partner.open(`${docs}/sign-on-server`)).html;
  expect(signOn).toContain("https://lernapp.example/signed-in?from=&lt;school&gt;");
  expect(signOn).not.toContain("from=<school>");
  expect(signOn).not.toContain("localhost:4000/callback&quot;");
  for (const name of guides) {
    const { html } = await partner.open(`${docs}/${name}`);
    const programs = [...html.matchAll(/<code class="language-(?!output)\w*">([^]*?)<\/code>/g)].map(
      ([, code]) => code,
    );
    for (const program of programs) {
      expect([name, program]).toEqual([
        name,
        expect.not.stringMatching(/demo-lernapp|demo-spa|\$CLIENT_ID|environ\[.CLIENT_ID/),
      ]);
    }
  }
});

test("a call answers what the app gets, without names of real people", async () => {
  const page = await partner.open(`${docs}/client-credentials`);
  const ran = await partner.submit(page, "/client-credentials/calls/1#answer-1");
  expect(answerOf(ran.html)).toMatch(/HTTP\/1\.1 200\nContent-Type: application\/json/);
  expect(answerOf(ran.html)).toContain(real.school);
  const year = await partner.submit(await partner.open(`${docs}/school-year`), "/school-year/calls/1#answer-1");
  expect(answerOf(year.html)).toContain("ACTIVE");
  const lists = await partner.open(`${docs}/not-found`);
  expect(lists.html).toContain(`/idm/ep/v1/schools/${real.school}/people?show-deleted=true`);
  const people = await partner.submit(lists, "/not-found/calls/4#answer-4");
  expect(answerOf(people.html)).toContain("1 Datensatz");
  expect(people.html).toContain("Der Inhalt nennt Personen einer echten Schule.");
  expect(people.html).not.toContain("Wirkliche");
  expect(people.html).not.toContain(real.person);
  expect((await partner.submit(lists, "/not-found/calls/4#answer-4", { token: "x" })).status).toBe(403);
  expect((await partner.open(`${docs}/not-found/calls/4`)).html).not.toContain('<div role="status">');
});

test("with a sandbox the calls of OneRoster read its people", async () => {
  const { clientId: app } = await make.app({ name: "Leser", scopes: [...allScopes, "oneroster:read"] });
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [app] });
  await browser.submit(await browser.open(`/partner/apps/${app}/sandbox`), "/sandbox");
  const page = await browser.open(`/partner/apps/${app}/docs/connect-oneroster`);
  for (const [number, shown] of [
    [2, "&quot;homeroom&quot;"],
    [3, "&quot;role&quot;: &quot;student&quot;"],
  ] as const) {
    const ran = await browser.submit(page, `/connect-oneroster/calls/${number}#answer-${number}`);
    expect(answerOf(ran.html)).toContain(shown);
  }
});

test("with a sandbox the calls read its people, whole", async () => {
  const { clientId: app } = await make.app({ name: "Lernapp" });
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [app] });
  await browser.submit(await browser.open(`/partner/apps/${app}/sandbox`), "/sandbox");
  for (const [name, number, shown] of [
    ["people", 1, "&quot;name&quot;: null"],
    ["not-found", 1, "&quot;role&quot;: &quot;OTHER&quot;"],
    ["not-found", 2, "HTTP/1.1 404"],
    ["not-found", 3, "user_not_found"],
    ["not-found", 4, "Muster"],
    ["schulconnex-spelling", 1, "&quot;LERN&quot;"],
  ] as const) {
    const page = await browser.open(`/partner/apps/${app}/docs/${name}`);
    const ran = await browser.submit(page, `/${name}/calls/${number}#answer-${number}`);
    expect([name, number, answerOf(ran.html)]).toEqual([name, number, expect.stringContaining(shown)]);
  }
});

test("an app without a secret is offered no calls", async () => {
  const { clientId: app } = await make.app({ type: "PUBLIC" });
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [app] });
  const { html } = await browser.open(`/partner/apps/${app}/docs/first-load`);
  expect(html).toContain("Eine App ohne Geheimnis hat kein eigenes Token.");
  expect(html).not.toContain("/calls/");
});
