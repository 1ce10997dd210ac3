import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import type { AppAttribute } from "../../../src/access/index.ts";
import { renderVisit, type Visit } from "../../../src/sign-on/forms/interaction/show.ts";
import { makeBrowser, type Shown } from "../../support/browser.ts";
import { askFor, exchange, giveLogin, type Asked } from "../../support/token.ts";
import { startWorld } from "./world.ts";

const world = startWorld();

const itemsOf = (html: string): string[] =>
  [...html.matchAll(/<li[^>]*><strong>([^<]*)<\/strong> <span>([^<]*)<\/span>/g)].map(
    ([, name = "", value = ""]) => `${name}: ${value}`,
  );

test("the consent shows what the app will get of this person, each thing once, and nothing else", async () => {
  const { service, make } = world;
  const school = await make.school({ name: "Goethe-Gymnasium", officialId: "DE-NI-4711" });
  const other = await make.school({ name: "Gesamtschule Nord" });
  const [shown, hidden] = [await make.group({ school, name: "5a" }), await make.group({ school, name: "Förderkurs" })];
  const name = { firstFull: "Bo Benedikt", firstCall: "Bo", last: "Muster" };
  const personId = await make.person({ schools: [school, other], name, groups: [shown, hidden] });
  const login = await giveLogin(service.db, personId);
  const app = await make.app({ name: "Lernapp" });
  await make.grant({ app: app.clientId, school, groups: [shown] });

  const scopes = ["openid", "profile", "school", "role", "groups"] as const;
  const ask = async (language: string, asked: readonly (typeof scopes)[number][]) => {
    const browser = makeBrowser(service.url, { "accept-language": language });
    const page = await browser.open(askFor(service, app, { scopes: asked }).address);
    return (await browser.submit(page, "/login", login)).html;
  };
  const german = await ask("de", scopes);
  expect(itemsOf(german)).toEqual([
    "Dein Name: Bo Benedikt Muster, Rufname Bo",
    "Deine Schule: Goethe-Gymnasium, Nummer DE-NI-4711, Gymnasium, Niedersachsen",
    "Deine Rolle: Schülerin oder Schüler",
    "Deine Klassen und Gruppen: 5a",
    "Dass du es bist: Eine Nummer, an der die App dich beim nächsten Mal wiedererkennt.",
  ]);
  expect(german.match(/Muster/g)).toHaveLength(1);
  expect(german).not.toMatch(/Förderkurs|Gesamtschule Nord/);
  expect(itemsOf(await ask("en", ["openid", "role"]))).toEqual([
    "Your role: Student",
    "Your identity: An ID by which the app recognizes you next time.",
  ]);
  const little = await ask("de", ["openid"]);
  expect(little).toContain("Du bist angemeldet als <strong>Bo Muster</strong>");
  // Without the tags, whose random values may hold two characters by chance.
  expect(little.replaceAll(/<[^>]*>/g, " ")).not.toMatch(/Goethe|5a/);
});

test("the consent says what the app does not get, and shows none of it", async () => {
  const { service, make } = world;
  const school = await make.school({ name: "Schule am Deich", officialId: "DE-NI-4712" });
  const name = { firstFull: "Ada", firstCall: "Ada", last: "Beispiel" };
  const login = await giveLogin(service.db, await make.person({ school, name }));
  const app = await make.app({ name: "Stille App", attributes: ["SCHOOLING_LEVEL"] });
  await make.grant({ app: app.clientId, school });
  const scopes = ["openid", "profile", "school", "schools:read", "people:read"] as const;
  const ask = async (language: string) => {
    const browser = makeBrowser(service.url, { "accept-language": language });
    const page = await browser.open(askFor(service, app, { scopes }).address);
    return (await browser.submit(page, "/login", login)).html;
  };
  const german = await ask("de");
  expect(itemsOf(german)).toEqual([
    "Deine Schule: Schule am Deich, Gymnasium",
    "Dass du es bist: Eine Nummer, an der die App dich beim nächsten Mal wiedererkennt.",
    "Angaben zu Schulen: Name deiner Schule, soweit sie das freigibt.",
    "Dein Eintrag bei der Schule: Deine Schule, deine Rolle und deine Klassen, soweit deine Schule das freigibt.",
  ]);
  expect(german).toContain("Das bekommt Stille App nicht: die Anschrift der Schule, das Bundesland der Schule");
  expect(german).not.toContain("DE-NI-4712");
  // Who is signed in is said by the service, not by the app.
  expect(german).toContain("Du bist angemeldet als <strong>Ada Beispiel</strong>");
  expect(await ask("en")).toContain("Stille App does not get: the address of the school, the state");
});

test("a person who is deleted for good while the page is made is refused", async () => {
  const { db, clock } = world.service;
  const { clientId } = await world.app();
  const visit = {
    deps: { db, clock, findPersonName: async () => null },
    interaction: { prompt: { name: "consent", reasons: [] } },
    context: { locale: "de", languageUrl: null, formTargets: [] },
    stepsOf: (step: string) => ({ action: `/${step}`, cancel: "/cancel", csrf: "" }),
    app: { name: "App" },
    clientId,
    personId: crypto.randomUUID(),
    scopes: [],
  } as unknown as Visit;
  expect((await renderVisit(visit)).html).toContain("Dein Konto ist nicht mehr aktiv.");
});

const makeAsker = async (attributes: AppAttribute[]) => {
  const { service, make } = world;
  const school = await make.school();
  const login = await giveLogin(service.db, await make.person({ school }));
  const app = await make.app({ attributes });
  await make.grant({ app: app.clientId, school });
  const browser = makeBrowser(service.url);
  const scopes = ["openid", "profile", "role", "offline_access", "people:read"] as const;
  const ask = (params: Record<string, string> = {}) => askFor(service, app, { scopes, params });
  const askSilently = async () => new URL((await browser.open(ask({ prompt: "none" }).address)).url).searchParams;
  const signIn = async (asked: Asked) => browser.submit(await browser.open(asked.address), "/login", login);
  const take = async (asked: Asked, shown: Shown) => {
    const back = new URL(shown.url);
    return (await exchange(service, app, { browser, asked, back })).body as { scope: string; id_token: string };
  };
  return { service, make, school, app, browser, ask, askSilently, signIn, take, clientId: app.clientId };
};

const allowedBy = async (clientId: string) =>
  (await world.service.db.prisma.consent.findFirst({ where: { clientId } }))?.scopes.map(String).sort();

const lacks: [string, (side: Awaited<ReturnType<typeof makeAsker>>) => Promise<() => Promise<unknown>>, string[]][] = [
  [
    "the school withholds the attribute of",
    async ({ make, clientId: app, school }) => {
      await make.withheld({ app, school, attributes: ["PERSON_NAME"] });
      return () => make.withheld({ app, school, attributes: [] });
    },
    ["profile"],
  ],
  [
    "the app lacks the attribute of",
    async ({ service, clientId }) => {
      const set = (attributes: AppAttribute[]) =>
        service.db.prisma.app.update({ where: { clientId }, data: { attributes } });
      await set([]);
      return () => set(["PERSON_NAME"]);
    },
    ["profile"],
  ],
  [
    "the school withholds",
    async ({ service, make, clientId: app, school }) => {
      await make.notAgreed({ app, school, items: ["profile", "role", "offline_access", "people:read"] });
      return () => service.db.prisma.withheldItem.deleteMany({ where: { clientId: app } });
    },
    ["profile", "role", "offline_access", "people:read"],
  ],
];

test.each(lacks)("what the consent did not show, because %s it, is asked for later", async (_why, withhold, hidden) => {
  const side = await makeAsker(["PERSON_NAME"]);
  const { browser, ask, askSilently, signIn, take, clientId } = side;
  const give = await withhold(side);
  const all = ["offline_access", "openid", "people:read", "profile", "role"];
  const asked = ask();
  const consent = await signIn(asked);
  const first = await take(asked, await browser.submit(consent, "/consent"));
  expect(await allowedBy(clientId)).toEqual(all.filter((scope) => !hidden.includes(scope)));
  // Nothing is left to ask for, and the app gets nothing by what was not shown.
  const again = ask();
  const second = await take(again, await browser.open(again.address));
  for (const { scope, id_token } of [first, second]) {
    expect(decodeJwt(id_token)).toMatchObject({ family_name: null });
    expect(scope.includes("people:read") && hidden.includes("people:read")).toBe(false);
  }
  await give();
  expect((await askSilently()).get("error")).toBe("consent_required");
  expect((await browser.submit(await browser.open(ask().address), "/consent")).url).toContain("code=");
  expect(await allowedBy(clientId)).toEqual(all);
  const last = ask({ prompt: "none" });
  const { id_token } = await take(last, await browser.open(last.address));
  expect(decodeJwt(id_token)).toMatchObject({ family_name: expect.any(String) as string });
});

test("a token from before the person was asked gives nothing of it", async () => {
  const { service, make, browser, ask, signIn, take, clientId: app, school } = await makeAsker(["PERSON_NAME"]);
  await make.withheld({ app, school, attributes: ["PERSON_NAME"] });
  const asked = ask();
  const tokens = await take(asked, await browser.submit(await signIn(asked), "/consent"));
  await make.withheld({ app, school, attributes: [] });
  const headers = { authorization: `Bearer ${(tokens as unknown as { access_token: string }).access_token}` };
  const info = await (await fetch(`${service.url}/oauth2/userinfo`, { headers })).json();
  expect(info).toMatchObject({ family_name: null, role: "STUDENT" });
});

test("what is given to the app while the consent is shown is asked for in a page of its own", async () => {
  const { make, browser, ask, signIn, clientId: app, school } = await makeAsker(["PERSON_NAME"]);
  await make.withheld({ app, school, attributes: ["PERSON_NAME"] });
  const shown = await signIn(ask());
  await make.withheld({ app, school, attributes: [] });
  const next = await browser.submit(shown, "/consent");
  expect(await allowedBy(app)).not.toContain("profile");
  expect(itemsOf(next.html).join()).toContain("Dein Name");
  expect((await browser.submit(next, "/consent")).url).toContain("code=");
  expect(await allowedBy(app)).toContain("profile");
});

test("a form says which scopes were shown, and no others than the app asks for", async () => {
  const { browser, ask, signIn, clientId } = await makeAsker(["PERSON_NAME"]);
  await browser.submit(await signIn(ask()), "/consent", { shown: "openid groups admin:write" });
  expect(await allowedBy(clientId)).toEqual(["openid"]);
});
