// @module-tag slow
import { expect, test } from "vitest";
import { appAttributes, type AppAttribute } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { makeBrowser, type Shown } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, giveLogin, issueAppToken, type Login, type TestApp } from "../support/token.ts";
import english from "../../src/sign-on/forms/pages/locales/en.json" with { type: "json" };
import { makeMatrixWorld } from "./matrix-world.ts";

// What the page of consent says that an app gets of a person, and does not get, beside what the app then gets.

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db, service.clock());
const world = await makeMatrixWorld(make, "SHARED");
const readers: Record<string, TestApp> = { ...world.apps, ...(await makeOthers()) };

/** Apps without one attribute each, and one from which a school withholds each. */
async function makeOthers() {
  const made: Record<string, TestApp> = {};
  const everything = [
    "PERSON_NAME",
    "SCHOOL_ADDRESS",
    "SCHOOL_LOCATION",
    "SCHOOL_OFFICIAL_ID",
    "SCHOOLING_LEVEL",
  ] as const;
  for (const without of everything) {
    made[`without ${without}`] = await make.app({ attributes: everything.filter((name) => name !== without) });
    made[`south withholds ${without}`] = await make.app();
    for (const [name, app] of Object.entries(made).slice(-2))
      for (const school of ["north", "south"]) {
        await make.grant({ app: app.clientId, school: world.schools[school]!, groups: [] });
        if (school === "south" && name.startsWith("south"))
          await make.withheld({ app: app.clientId, school: world.schools["south"]!, attributes: [without] });
      }
  }
  return made;
}

type Claims = Record<string, unknown>;
type Scope = keyof typeof english.consent.short;
const scopes = Object.keys(english.consent.short) as Scope[];
const offered = scopes.filter((scope) => !scope.startsWith("admin:"));

await service.db.prisma.app.updateMany({ data: { scopes: offered } });

const callName = "urn:schulconnex:de:person:name:rufname";
const schoolCode = "urn:schulconnex:de:personenkontext:organisation:kennung";

const claimsOf: Partial<Record<Scope, string[]>> = {
  profile: ["name", "given_name", "call_name", "family_name"],
  role: ["role"],
  school: ["school", "school_name", "school_official_id", "school_location", "schooling_level"],
  groups: ["groups"],
  pseudonym: ["pseudonym"],
  school_name: ["school_name"],
  school_official_id: ["school_official_id"],
  school_location: ["school_location"],
  school_address: ["school_address"],
  schooling_level: ["schooling_level"],
  "person-info": ["given_name", "family_name", callName, "urn:schulconnex:de:personenkontext:rolle", schoolCode],
};
const claimsOfAttribute: Partial<Record<AppAttribute, string[]>> = {
  PERSON_NAME: [...claimsOf.profile!, callName],
  SCHOOL_ADDRESS: ["school_address"],
  SCHOOL_LOCATION: ["school_location"],
  SCHOOL_OFFICIAL_ID: ["school_official_id", schoolCode],
  SCHOOLING_LEVEL: ["schooling_level"],
};

const fieldOfSchool: Partial<Record<AppAttribute, string>> = {
  SCHOOL_ADDRESS: "address",
  SCHOOL_LOCATION: "location",
  SCHOOL_OFFICIAL_ID: "officialId",
  SCHOOLING_LEVEL: "schoolingLevel",
};

const plain = (text: string) => text.replaceAll("&#39;", "'").replaceAll("&amp;", "&").replaceAll("&quot;", '"');

/** The items of the page by scope, and the attributes that it says the app does not get. */
function readConsent({ html }: Shown) {
  const rows = [...html.matchAll(/<li[^>]*><strong>([^<]*)<\/strong> <span>([^<]*)<\/span>/g)];
  const items = new Map(
    rows.map(([, short, value]) => {
      const scope = scopes.find((one) => english.consent.short[one] === plain(short!));
      return [scope!, plain(value!)] as const;
    }),
  );
  const lacking = /does not get:([^<]*)</.exec(plain(html))?.[1] ?? "";
  const attributes = Object.entries(english.consent.withheld).filter(([name]) => name !== "lead");
  return {
    items,
    withheld: attributes.filter(([, text]) => lacking.includes(text)).map(([name]) => name as AppAttribute),
  };
}

type SignedOn = { consent: ReturnType<typeof readConsent>; claims: Claims };

/** The way of a person who chooses the nth of their schools; null where there is none. */
async function signOn(app: TestApp, login: Login, nth: number): Promise<SignedOn | null> {
  const browser = makeBrowser(service.url, { "accept-language": "en" });
  const asked = askFor(service, app, { scopes: offered });
  let page = await browser.submit(await browser.open(asked.address), "/login", login);
  const schools = [...page.html.matchAll(/name="schoolId" value="([^"]*)"/g)].map(([, id]) => id!);
  if (nth >= Math.max(1, schools.length)) return null;
  if (schools.length > 0) page = await browser.submit(page, "/school", { schoolId: schools[nth]! });
  if (!page.html.includes("/consent")) return null;
  const consent = readConsent(page);
  const back = new URL((await browser.submit(page, "/consent")).url);
  const { body } = await exchange(service, app, { browser, asked, back });
  const answer = await fetch(`${service.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${body.access_token}` },
  });
  const claims = (await answer.json()) as Claims;
  return { consent, claims };
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);
const saysNothing = [
  english.consent.name.none,
  english.consent.school.none,
  english.consent.school.noLevel,
  english.consent.noGroups,
];

/** Faults of what the page said to a person, by what the app got then. */
async function findFaults(app: TestApp, personId: PersonId, { consent, claims }: SignedOn): Promise<string[]> {
  const faults: string[] = [];
  const { attributes } = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  const { last } = await service.db.prisma.person.findUniqueOrThrow({ where: { id: personId } });
  const given = Object.values(claimsOf)
    .flat()
    .filter((claim) => !isEmpty(claims[claim]));
  const promised = [...consent.items.keys()].flatMap((scope) => claimsOf[scope] ?? []);
  for (const [scope, value] of consent.items) {
    const isGiven = claimsOf[scope]?.some((claim) => given.includes(claim));
    if (isGiven === saysNothing.includes(value)) faults.push(`${scope} says "${value}"`);
  }
  for (const claim of given) if (!promised.includes(claim)) faults.push(`gets ${claim}, which is not in the list`);
  for (const attribute of appAttributes)
    for (const claim of claimsOfAttribute[attribute] ?? []) {
      if (consent.withheld.includes(attribute) && given.includes(claim)) faults.push(`gets ${claim}`);
      const isSaid =
        promised.includes(claim) && attributes.includes(attribute) && !consent.withheld.includes(attribute);
      if (isSaid && last !== null && !isEmpty(claims["school"]) && !given.includes(claim))
        faults.push(`does not get ${claim}`);
    }
  // With its own token.
  const token = await issueAppToken(service, app, ["people:read", "users:read", "schools:read"]);
  const read = async (path: string) => {
    const answer = await fetch(`${service.url}/idm/ep/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status === 200 ? ((await answer.json()) as Record<string, unknown>) : null;
  };
  const school = await read(`schools/${String(claims["school"])}`);
  for (const [attribute, field] of Object.entries(fieldOfSchool) as [AppAttribute, string][])
    if (school !== null && !isEmpty(school[field]) && consent.withheld.includes(attribute))
      faults.push(`reads ${field} of the school`);
  for (const kind of ["people", "users"]) {
    const person = await read(`${kind}/${personId}`);
    if (person === null) continue;
    const { name } = person;
    const record = consent.items.get("people:read") ?? "";
    if (name !== null && consent.withheld.includes("PERSON_NAME")) faults.push(`reads the name in ${kind}`);
    if (name === null && last !== null && record.includes("Your name")) faults.push(`no name in ${kind}: ${record}`);
  }
  return faults;
}

test.each(Object.keys(readers))("what the consent says that an app gets is what it gets: %s", async (name) => {
  const app = readers[name]!;
  const faults: Record<string, string[]> = {};
  const { prisma } = service.db;
  for (const [label, personId] of Object.entries(world.people)) {
    const found = await prisma.person.findUniqueOrThrow({ where: { id: personId }, include: { affiliations: true } });
    if (found.status !== "ACTIVE" || found.blockedAt !== null) continue;
    if (!(name in world.apps) && found.affiliations.length === 1 && !label.endsWith("-pupil")) continue;
    const login = await giveLogin(service.db, personId);
    for (const nth of found.affiliations.keys()) {
      const where = { personId, clientId: app.clientId };
      await prisma.consent.deleteMany({ where });
      await prisma.schoolChoice.deleteMany({ where });
      const way = await signOn(app, login, nth);
      const wrong = way === null ? [] : await findFaults(app, personId, way);
      if (wrong.length > 0) faults[`${label} ${nth}`] = wrong;
    }
  }
  expect(faults).toEqual({});
});
