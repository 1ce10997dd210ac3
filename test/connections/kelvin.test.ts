import { expect, test } from "vitest";
import { kelvin } from "../../src/connections/sources/kelvin.ts";
import { failureOf, lineOf, readRoster, type Asked, type Given, type Reply } from "./replayed.ts";
import { makeKelvinUser, replayKelvin, type KelvinUser } from "./replayed-kelvin.ts";

const mitte = { id: "0195c0de-0000-7000-8000-000000000002", officialId: "654321", name: "Gymnasium Mitte" };
const park = { id: "0195c0de-0000-7000-8000-000000000003", officialId: "123456", name: "Realschule am Park" };

const pupils = ["aydin", "berger", "claassen", "dietz", "ebert"].map((name) =>
  makeKelvinUser(name, { classes: { "GYM-Mitte": ["7a"] }, groups: { "GYM-Mitte": ["Robotik"] } }),
);

type Replayed = { users?: KelvinUser[]; hasPages?: boolean; answer?: (asked: Asked) => Reply | undefined };

async function read({ users = pupils, ...rest }: Replayed = {}, given: Partial<Given> = {}) {
  const { url, asked } = await replayKelvin({ users, ...rest });
  const settings = {
    address: url,
    userName: "schultor",
    ...(given.schools === undefined && { sourceSchool: "gym-mitte" }),
    ...given.settings,
  };
  const people = await readRoster(kelvin, { schools: [mitte], now: "2026-11-29T12:00:00Z", ...given, settings });
  return { people, asked };
}
const failure = (replayed: Replayed, given?: Partial<Given>) => failureOf(read(replayed, given));

test("users come with their role at the school, their classes and work groups", async () => {
  const users = [
    pupils[0]!,
    makeKelvinUser("fischer", { roles: ["teacher", "staff"], classes: { "GYM-Mitte": ["7a", "8b"] } }),
    makeKelvinUser("groß", { roles: ["staff"] }),
    makeKelvinUser("hahn", { roles: ["school_admin"] }),
    makeKelvinUser("iqbal", { roles: ["legal_guardian"] }),
    makeKelvinUser("exam-aydin", { roles: [] }),
    makeKelvinUser("jansen", { schools: ["GYM-Mitte", "123456"], roles: ["teacher"], classes: { "123456": ["5c"] } }),
  ];
  const { people } = await read({ users });
  expect(people.map(lineOf)).toEqual([
    "SIS:rec-aydin Ada aydin: Lern at Gymnasium Mitte, 7a (-), Robotik (-)",
    "SIS:rec-fischer Ada fischer: Lehr at Gymnasium Mitte, 7a (-), 8b (-)",
    "SIS:rec-groß Ada groß: NLehr at Gymnasium Mitte",
    "SIS:rec-hahn Ada hahn: OrgAdmin at Gymnasium Mitte",
    "SIS:rec-iqbal Ada iqbal: SorgBer at Gymnasium Mitte",
    "SIS:rec-jansen Ada jansen: Lehr at Gymnasium Mitte",
  ]);
  expect(JSON.stringify(people)).not.toMatch(/2012-05-04|@schulen|\+49/);
});

test("somebody is known by both ids of the source, and without them by the login", async () => {
  const users = [
    makeKelvinUser("aydin", { record_uid: "17", source_uid: "ASV" }),
    makeKelvinUser("berger", { record_uid: "17", source_uid: "LUSD" }),
    makeKelvinUser("claassen", { record_uid: null, source_uid: null }),
  ];
  const { people } = await read({ users });
  expect(people.map(({ pid }) => pid)).toEqual(["ASV:17", "LUSD:17", "login:claassen"]);
});

test("accounts that are switched off or have expired are not at the school", async () => {
  const users = [
    makeKelvinUser("aydin", { disabled: true }),
    makeKelvinUser("berger", { expiration_date: "2026-11-29" }),
    makeKelvinUser("claassen", { expiration_date: "2026-11-30" }),
  ];
  const { people } = await read({ users });
  expect(people.map(({ pid }) => pid)).toEqual(["SIS:rec-claassen"]);
});

test("a server with pages is read page by page, and one without them at once", async () => {
  const listed = async (hasPages: boolean, version: string) => {
    const { people, asked } = await read({ hasPages }, { settings: { version } });
    expect(people).toHaveLength(5);
    return asked.map(({ method, path }) => `${method} ${path}`);
  };
  expect(await listed(false, "v1")).toEqual([
    "POST /ucsschool/kelvin/token",
    "GET /ucsschool/kelvin/v1/schools/gym-mitte",
    "GET /ucsschool/kelvin/v1/users/?school=GYM-Mitte&limit=500",
  ]);
  expect((await listed(true, "v2")).slice(2)).toEqual([
    "GET /ucsschool/kelvin/v2/users/?school=GYM-Mitte&limit=500",
    "GET /ucsschool/kelvin/v2/users/?school=GYM-Mitte&limit=500&cursor=2",
    "GET /ucsschool/kelvin/v2/users/?school=GYM-Mitte&limit=500&cursor=4",
  ]);
});

test("of a district, each school is found by its official id, and nobody comes twice", async () => {
  const users = [
    ...pupils.slice(0, 2),
    makeKelvinUser("fischer", {
      schools: ["123456", "GYM-Mitte"],
      roles: [],
      ucsschool_roles: ["teacher:school:GYM-Mitte", "staff:school:123456", "other:club:123456"],
    }),
    makeKelvinUser("kaya", { schools: ["123456"], classes: { "123456": ["7a"] } }),
  ];
  const given = { schools: [{ ...mitte, officialId: "GYM-Mitte" }, park], settings: {} };
  const { people } = await read({ users }, given);
  expect(people.map(lineOf)).toEqual([
    "SIS:rec-aydin Ada aydin: Lern at GYM-Mitte, 7a (-), Robotik (-)",
    "SIS:rec-berger Ada berger: Lern at GYM-Mitte, 7a (-), Robotik (-)",
    "SIS:rec-fischer Ada fischer: Lehr at GYM-Mitte; NLehr at 123456",
    "SIS:rec-kaya Ada kaya: Lern at 123456, 7a (-)",
  ]);
  expect(people[2]!.person.stammorganisation.kennung).toBe("123456");
  // Classes of two schools with the same name are two.
  const ids = people.flatMap(({ personenkontexte }) => personenkontexte.flatMap(({ gruppen }) => gruppen));
  expect(new Set(ids.map(({ gruppe }) => gruppe.id)).size).toBe(3);
});

test("each way in which the server fails has its name", async () => {
  const users = (reply: Reply) => ({
    answer: ({ path }: Asked) => (path.includes("/users/") ? reply : undefined),
  });
  const nextPage = (next: string) => users({ body: { results: pupils.slice(0, 2), next_page_url: next } });
  const json = JSON.stringify(pupils);
  const own = "https://ucs.schulen.example/ucsschool/kelvin/v1/users/?school=GYM-Mitte&limit=500";
  const cases: Record<string, Promise<string>> = {
    "wrong password": failure({}, { secret: "falsch" }),
    "no member of the group": failure(users({ status: 403 })),
    "token that ended": failure(users({ status: 401 })),
    "no such school": failure({}, { settings: { sourceSchool: "GYM-Nord" } }),
    "another school's users": failure(users({ body: [makeKelvinUser("kaya", { schools: ["123456"] })] })),
    "server error": failure(users({ status: 500, body: { detail: "Internal Server Error" } })),
    "a page instead of JSON": failure(users({ body: "<html>Wartung</html>" })),
    "a list cut short": failure(users({ body: json, cutAt: 900 })),
    "half the JSON": failure(users({ body: json.slice(0, 900) })),
    "a missing page": failure({
      hasPages: true,
      answer: ({ path }) => (path.includes("cursor=2") ? { status: 404 } : undefined),
    }),
    "pages in a circle": failure(nextPage(own)),
    "a page elsewhere": failure(nextPage("https://elsewhere.example/people")),
    "a longer answer than allowed": failure({}, { bytes: 1000 }),
    nobody: failure({ users: [] }),
    "a user without schools": failure(users({ body: [{ ...pupils[0]!, schools: null }] })),
  };
  const found = await Promise.all(Object.entries(cases).map(async ([name, code]) => [name, await code]));
  expect(Object.fromEntries(found)).toEqual({
    "wrong password": "REFUSED_CREDENTIALS",
    "no member of the group": "REFUSED_CREDENTIALS",
    "token that ended": "REFUSED_CREDENTIALS",
    "no such school": "NOT_FOUND",
    "another school's users": "OTHER_SCHOOL",
    "server error": "UNREACHABLE",
    "a page instead of JSON": "ANSWERED_BADLY",
    "a list cut short": "HALF",
    "half the JSON": "HALF",
    "a missing page": "NOT_FOUND",
    "pages in a circle": "ANSWERED_BADLY",
    "a page elsewhere": "ANSWERED_BADLY",
    "a longer answer than allowed": "TOO_LARGE",
    nobody: "EMPTY",
    "a user without schools": "ANSWERED_BADLY",
  });
});

test("the token goes to no other host, whatever the next page is called", async () => {
  const elsewhere = await replayKelvin({ users: [] });
  const next = `${elsewhere.url}/ucsschool/kelvin/v1/users/?school=GYM-Mitte&limit=500&cursor=2`;
  let pages = 0;
  const answer = ({ path }: Asked) => {
    if (!path.includes("/users/")) return undefined;
    pages += 1;
    return { body: { results: pupils.slice(0, 2), next_page_url: pages === 1 ? next : null } };
  };
  await read({ answer });
  expect([pages, elsewhere.asked]).toEqual([2, []]);
});
