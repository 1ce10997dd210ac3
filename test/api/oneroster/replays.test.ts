import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pageFile, printPage } from "../../compatibility/page.ts";
import { rosterReplays, type RosterProgram, type RosterReplay } from "../../compatibility/rosters.ts";
import type { TestApp } from "../../support/token.ts";
import { appWithRoster, makeRosterWorld, type Row } from "./world.ts";

// What each program of test/compatibility/rosters.ts sends, in its order, and what its code does with the answers.

const { service, make, school, classId, courseId, club, teacher } = await makeRosterWorld();
// Some programs ask for the third school, or read pages of 200 people.
const more = await Promise.all(["Ost", "West"].map((name) => make.school({ name })));
await make.people({ school, count: 205, groups: [classId] });

type Answer = { status: number; headers: Headers; body: Record<string, unknown> };
type Client = {
  /** Asks for a token by client credentials, with the secret in the header as each of the programs does. */
  getToken(fields?: Record<string, string>): Promise<boolean>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body: object): Promise<Answer>;
  /** Whether a step got what the program expects. */
  say(step: string, isRight: boolean): void;
};

const rowsOf = ({ status, body }: Answer, name: string): Row[] => (status === 200 ? (body[name] as Row[]) : []);
const oneOf = ({ status, body }: Answer, name: string): Row | undefined =>
  status === 200 ? (body[name] as Row) : undefined;
const idOf = (row: Row | undefined, name: string) => (row?.[name] as Row | undefined)?.sourcedId;
const idsOf = (row: Row | undefined, name: string) => ((row?.[name] ?? []) as Row[]).map(({ sourcedId }) => sourcedId);
const hasAll = (row: Row | undefined, names: readonly string[]) =>
  row !== undefined && names.every((name) => Object.hasOwn(row, name) && row[name] !== "");

const v1p1 = "/ims/oneroster/v1p1";
const v1p2 = "/ims/oneroster/rostering/v1p2";
const active = "status='active'";
const scopes = (scheme: string, version: string, ...names: string[]) =>
  names.map((name) => `${scheme}://purl.imsglobal.org/spec/or/${version}/scope/${name}`).join(" ");

const base = ["sourcedId", "status", "dateLastModified"];
const types = ["department", "school", "district", "local", "state", "national", "org"];
const isRef = (row: Row | undefined, name: string, allowed: readonly string[]) =>
  allowed.includes((row?.[name] as { type?: string } | undefined)?.type ?? "") && typeof idOf(row, name) === "string";

/** The lists of Microsoft's collection in its order, with what it demands of the first record. */
const listsOfSds: Record<string, (row: Row) => boolean> = {
  academicSessions: (row) =>
    hasAll(row, ["title", "type", "schoolYear", "startDate", "endDate"]) && /^\d{4}$/.test(String(row["schoolYear"])),
  orgs: (row) => hasAll(row, ["name", "type", "identifier"]),
  users: (row) => hasAll(row, ["username", "givenName", "identifier"]) && idsOf(row, "orgs").length > 0,
  classes: (row) => hasAll(row, ["title"]) && isRef(row, "school", types) && idsOf(row, "terms").length > 0,
  enrollments: (row) =>
    ["student", "teacher"].includes(String(row["role"])) &&
    isRef(row, "school", types) &&
    isRef(row, "class", ["class"]) &&
    isRef(row, "user", ["user"]),
  courses: (row) => hasAll(row, ["title"]) && isRef(row, "org", types),
};

const programs: Record<RosterProgram, (client: Client) => Promise<void>> = {
  async "School Data Sync"({ getToken, get, say }) {
    say("Get OAuth2 Token", await getToken());
    const read = (query: string) => get(`${v1p1}/${query}`, { accept: "application/json" });
    for (const [list, isWhole] of Object.entries(listsOfSds)) {
      const call = `Get ${list.replace(/^./, (letter) => letter.toUpperCase())}`;
      const whole = await read(`${list}?offset=0&limit=5000&filter=${active}`);
      const [first] = rowsOf(whole, list);
      const { headers } = whole;
      const isJson = headers.get("content-type")?.includes("application/json") === true;
      const hasTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(String(first?.["dateLastModified"]));
      say(call, isJson && headers.has("x-total-count") && hasAll(first, base) && hasTime && isWhole(first!));
      const filter = ["classes", "enrollments", "courses"].includes(list) ? "" : `&filter=${active}`;
      const [third] = rowsOf(await read(`${list}?offset=2&limit=1${filter}`), list);
      say(`${call} - Paging`, third !== undefined && third.sourcedId !== first?.sourcedId);
      const none = await read(`${list}?filter=sourcedId='norecords'`);
      say(`${call} - No Records`, none.status === 200 && rowsOf(none, list).length === 0);
      const changed = rowsOf(await read(`${list}?filter=dateLastModified>'2025-01-01T00:00:00Z'`), list);
      say(`${call} - Delta`, changed.length > 0 && changed.every((row) => hasAll(row, ["dateLastModified"])));
    }
  },

  async "Moodle enrol_oneroster"({ getToken, get, say }) {
    say("The token is read", await getToken({ scope: scopes("https", "v1p1", "roster.readonly") }));
    // A page that is full is followed by another one.
    const readAll = async (path: string, name: string, sort = "") => {
      const found: Row[] = [];
      for (let [offset, count] = [0, 200]; count >= 200; offset += 200) {
        const answer = await get(`${v1p1}${path}?limit=200&offset=${offset}${sort}`);
        const page = rowsOf(answer, name);
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
        found.push(...page);
        count = page.length;
      }
      return found;
    };
    const orgs = await readAll("/orgs", "orgs");
    say("Test connection", orgs.length === 3 && orgs.every((org) => hasAll(org, ["sourcedId", "name"])));
    const users = await readAll("/users", "users", "&sort=familyName");
    const isUser = (user: Row) => idsOf(user, "orgs").length > 0 && Array.isArray(user["agents"]);
    say("Users are read page by page", users.length === 208 && users.every(isUser));
    const since = await readAll("/users", "users", `&sort=familyName&filter=dateLastModified>'2026-02-02'`);
    say("Users are read since a day", since.length === users.length);
    const account = users.find(({ identifier }) => identifier === "s-1");
    say("Accounts are created", hasAll(account, ["sourcedId", "identifier", "givenName", "familyName", "email"]));
    const org = oneOf(await get(`${v1p1}/orgs/${school}`), "org");
    const hasFraction = /T\d+:\d\d:\d\d\../.test(String(org?.["dateLastModified"]));
    say("The school is a category", org?.["type"] === "school" && org["status"] === "active" && hasFraction);
    say("The terms are read", (await readAll(`/schools/${school}/terms`, "academicSessions")).length === 1);
    const classes = await readAll(`/schools/${school}/classes`, "classes");
    let isRight = classes.length === 3;
    for (const found of classes) {
      const [term = ""] = idsOf(found, "terms");
      const session = oneOf(await get(`${v1p1}/academicSessions/${term}`), "academicSession");
      const days = [session?.["startDate"], session?.["endDate"]].every((day) => /^\d{4}-\d\d-\d\d$/.test(String(day)));
      isRight &&= days && hasAll(found, ["title", "sourcedId", "status"]) && idOf(found, "school") === org?.sourcedId;
    }
    say("The classes are courses", isRight);
    const enrollments = await readAll(`/schools/${school}/enrollments`, "enrollments");
    const known = {
      user: new Set(users.map((user) => user.sourcedId)),
      class: new Set(classes.map((c) => c.sourcedId)),
    };
    const fits = (row: Row) => known.user.has(idOf(row, "user")!) && known.class.has(idOf(row, "class")!);
    const [first] = enrollments;
    const [user, found] = [
      await get(`${v1p1}/users/${idOf(first, "user")}`),
      await get(`${v1p1}/classes/${idOf(first, "class")}`),
    ];
    const areRead = oneOf(user, "user") !== undefined && oneOf(found, "class") !== undefined;
    say("The enrolments are read", enrollments.length === 209 && enrollments.every(fits) && areRead);
  },

  "Google's conformance tests 1.1": (client) => callAsGoogle(client, "v1p1"),
  "Google's conformance tests 1.2": (client) => callAsGoogle(client, "v1p2"),

  async "HelloID OneRoster 1.2"(client) {
    const asked = ["roster.readonly", "roster-demographics.readonly", "resource.readonly"];
    const grades = ["gradebook.readonly", "gradebook-core.readonly", "gradebook.createput"];
    const scope = `${scopes("http", "v1p2", ...asked)} ${scopes("https", "v1p2", ...grades)}`;
    client.say("The token is read", await client.getToken({ scope }));
    await readAsHelloId(client, {
      base: v1p2,
      filter: `filter=${active}&`,
      lists: [...listsOfHelloId, "demographics"],
    });
  },

  async "HelloID OneRoster 1.1"(client) {
    client.say("The token is read", await client.getToken());
    await readAsHelloId(client, { base: v1p1, filter: "", lists: listsOfHelloId });
  },
};

/** The notebook stops at the first address that it cannot find; the rest is asked with the id of a teacher. */
async function callAsGoogle({ getToken, get, put, say }: Client, version: "v1p1" | "v1p2"): Promise<void> {
  const [rostering, gradebook] = version === "v1p1" ? [v1p1, v1p1] : [v1p2, "/ims/oneroster/gradebook/v1p2"];
  const names = ["roster.readonly", "gradebook.readonly", "gradebook.createput", "gradebook.delete"];
  say("Get OAuth Token", await getToken({ scope: scopes("https", version, ...names) }));
  say("GetAllTeachers", (await get(`${rostering}/teachers?limit=1`)).status === 200);
  const found = await get(`${rostering}/teachers?filter=email='ada@school.example'&limit=10000`);
  expect(found.status).toBe(400);
  say("GetAllTeachers w/ email filter", rowsOf(found, "users").length === 1);
  const classes = rowsOf(await get(`${rostering}/teachers/${teacher}/classes?limit=10000&filter=${active}`), "classes");
  const [[term = ""], own] = [idsOf(classes[0], "terms"), classes[0]?.sourcedId];
  say("GetClassesForTeacher", own === classId && idOf(classes[0], "school") === school && term !== "");
  const students = rowsOf(await get(`${rostering}/classes/${own}/students?limit=10000`), "users");
  expect(students).toHaveLength(207);
  say("GetStudentsForClass", hasAll(students[0], ["sourcedId", "email"]));
  const lineItem = { sourcedId: "item", title: "New test item", class: { sourcedId: own } };
  say("PutLineItem Create", (await put(`${gradebook}/lineItems/item`, { lineItem })).status === 201);
  const ofClass = version === "v1p1" ? "" : `/classes/${own}`;
  const categories = await get(`${gradebook}${ofClass}/categories?limit=10000`);
  expect(categories.status).toBe(404);
  say(version === "v1p1" ? "GetAllCategories" : "GetCategoriesForClass", categories.status === 200);
  if (version === "v1p1") {
    const filtered = rowsOf(await get(`${v1p1}/classes?filter=sourcedId='${own}'&limit=10000`), "classes");
    say("GetAllClasses w/ filter", filtered.length === 1 && idsOf(filtered[0], "terms").length > 0);
  }
  const periods = await get(`${rostering}/terms/${term}/gradingPeriods?limit=10000`);
  expect(periods.status).toBe(200);
  say("GetGradingPeriodsForTerm", rowsOf(periods, "academicSessions").length > 0);
}

const listsOfHelloId = ["orgs", "academicSessions", "enrollments", "classes", "courses", "students", "teachers"];

type HelloId = { base: string; filter: string; lists: readonly string[] };

async function readAsHelloId({ get, say }: Client, { base, filter, lists }: HelloId): Promise<void> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const read: Record<string, Map<string, Row>> = {};
  for (const list of lists) {
    const name = ["students", "teachers"].includes(list) ? "users" : list;
    // Version 1.2 filters all lists but the sessions.
    const query = `${list === "academicSessions" ? "" : filter}limit=1000&offset=0`;
    const answer = await get(`${base}/${list}?${query}`, headers);
    read[list] = new Map(rowsOf(answer, name).map((row) => [row.sourcedId, row]));
    say(list, answer.status === 200 && (read[list].size > 0 || list === "demographics"));
  }
  const at = (list: string, row: Row | undefined, name: string) => read[list]!.get(idOf(row, name) ?? "");
  const people = new Map([...read["students"]!, ...read["teachers"]!]);
  const isWhole = (enrollment: Row) => {
    const of = at("classes", enrollment, "class");
    const terms = idsOf(of, "terms").map((term) => read["academicSessions"]!.get(term));
    const others = [people.get(idOf(enrollment, "user") ?? ""), at("courses", of, "course"), at("orgs", of, "school")];
    return [of, ...terms, ...others].every((row) => row !== undefined) && terms.length > 0;
  };
  say("The contracts of each person", [...read["enrollments"]!.values()].every(isWhole) && people.size === 208);
}

test.each<RosterReplay>(rosterReplays)(
  "$name gets what it expects, or the page says what it does not",
  async (replay) => {
    const app = await appWithRoster(make, replay.registration);
    await make.grant({ app: app.clientId, school, groups: [classId, courseId, club] });
    for (const other of more) await make.grant({ app: app.clientId, school: other, groups: [] });
    const did: Record<string, boolean> = {};
    await programs[replay.name as RosterProgram](makeClient(app, (step, isRight) => (did[step] = isRight)));
    const failed = Object.keys(did).filter((step) => !did[step]);
    expect([Object.keys(did).length, failed.sort()]).toEqual([replay.steps, Object.keys(replay.fails).sort()]);
  },
);

test("the page of the documentation shows these results", () => {
  expect(readFileSync(pageFile, "utf8")).toBe(printPage());
});

function makeClient({ clientId, clientSecret }: TestApp, say: Client["say"]): Client {
  let bearer = "";
  const send = async (path: string, request: RequestInit): Promise<Answer> => {
    const headers = { ...(request.headers as Record<string, string>), authorization: `Bearer ${bearer}` };
    const response = await fetch(service.url + path, { ...request, headers });
    const body = (await response.json()) as Answer["body"];
    return { status: response.status, headers: response.headers, body };
  };
  return {
    say,
    async getToken(fields = {}) {
      const secret = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret!)}`);
      const headers = { authorization: `Basic ${secret.toString("base64")}`, accept: "application/json" };
      const body = new URLSearchParams({ grant_type: "client_credentials", ...fields });
      const response = await fetch(`${service.url}/oauth2/token`, { method: "POST", headers, body });
      const token = (await response.json()) as { access_token?: string; expires_in?: number };
      bearer = token.access_token ?? "";
      return response.status === 200 && bearer !== "" && token.expires_in! > 0;
    },
    get: (path, headers = {}) => send(path, { headers }),
    put: (path, body) =>
      send(path, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  };
}
