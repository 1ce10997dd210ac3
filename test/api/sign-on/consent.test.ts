import { expect, test } from "vitest";
import { renderVisit, type Visit } from "../../../src/sign-on/forms/interaction/show.ts";
import { makeBrowser } from "../../support/browser.ts";
import { askFor, giveLogin } from "../../support/token.ts";
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
    "Dein Name: Die App darf das nicht lesen.",
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
  const params = { redirect_uri: "http://127.0.0.1:4999/callback" };
  const visit = {
    deps: { db, clock, findPersonName: async () => null, secrets: { csrf: Buffer.alloc(32) } },
    req: { headers: {}, query: {} },
    interaction: { uid: "uid", params, prompt: { name: "consent", reasons: [] } },
    app: { name: "App" },
    clientId,
    personId: crypto.randomUUID(),
    scopes: [],
    browser: "browser",
  } as unknown as Visit;
  expect((await renderVisit(visit)).html).toContain("Dein Konto ist nicht mehr aktiv.");
});
