// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import { listPeople } from "../../src/directory/index.ts";
import { storeOf } from "../../src/platform/database/db.ts";
import { countRead, explainQuery, listScanned, recordQueries, type Plan, type Query } from "../support/explain.ts";
import { fillDatabase, filledApps, findFilled } from "../support/fill.ts";
import { allScopes } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { askFor, getAppToken, getUserTokens, giveLogin, postToken } from "../support/token.ts";
import type { Login } from "../support/token.ts";

/** Tables that grow with people: no request may read one from end to end. */
const large = new Set([
  ...["person", "affiliation", "group", "membership", "synced_group", "grant_sign_on_group", "sign_in"],
  ...["credential", "consent", "school_choice", "sign_in_place", "oidc_artifact", "audit"],
]);
const size = { schools: 100, people: 20_000 };

const service = await startService();
const app = { clientId: filledApps.few, clientSecret: "secret", redirectUri: "https://app.example/callback" };
const seen = new Map<string, Query>();

beforeAll(async () => {
  await fillDatabase(service.db, size);
  // Person 300 is at school 0 and at no other.
  const { person } = await findFilled(service.db, size.schools);
  const login = await giveLogin(service.db, person);
  for (const statement of await recordQueries(/./, () => callEverything(login))) seen.set(statement.text, statement);
});

/** Signs a person in, reads every endpoint, lists whole and in pages, and gives the tokens back. */
async function callEverything(login: Login): Promise<void> {
  const { school, group } = await findFilled(service.db, 0);
  const { person } = await findFilled(service.db, size.schools);
  const user = await getUserTokens(service, app, login, { scopes: allScopes });
  const { body: refreshed } = await postToken(service, app, {
    grant_type: "refresh_token",
    refresh_token: user.refresh_token!,
  });
  const token = await getAppToken(service, app, ["schools:read", "users:read", "groups:read", "people:read"]);
  const get = async (path: string, bearer = token): Promise<Response> => {
    const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${bearer}` } });
    expect(response.status, path).toBe(200);
    return response;
  };
  for (const path of ["/schools", ...["users", "groups", "people"].map((kind) => `/schools/${school}/${kind}`)]) {
    await get(`/idm/ep/v1${path}`);
    const page = await get(`/idm/ep/v1${path}?limit=1`);
    await get(/<([^>]+)>/.exec(page.headers.get("link")!)![1]!);
  }
  for (const kind of ["groups", "people"]) await get(`/idm/ep/v1/schools/${school}/${kind}?show-deleted=true`);
  for (const path of [`/schools/${school}`, `/users/${person}`, `/groups/${group}`, `/people/${person}`])
    await get(`/idm/ep/v1${path}`);
  for (const filter of [
    "",
    `?pid=${person}`,
    `?gruppe.id=${group}`,
    `?organisation.id=${school}`,
    `?personenkontext.id=${person}`,
  ]) {
    await get(`/idm/schulconnex/v1/personen-info${filter}`);
    for (const page of ["limit=1", `offset=${person}&limit=1`, `offset=${person}`])
      await get(`/idm/schulconnex/v1/personen-info${filter === "" ? "?" : `${filter}&`}${page}`);
  }
  await get("/idm/schulconnex/v1/person-info", refreshed.access_token);
  await get("/oauth2/userinfo", refreshed.access_token);
  await user.browser.open(`${service.url}/`);
  await user.browser.open(askFor(service, app).address);
  const give = { client_id: app.clientId, client_secret: app.clientSecret, token: refreshed.refresh_token! };
  await fetch(`${service.url}/oauth2/revoke`, { method: "POST", body: new URLSearchParams(give) });
}

const scannedTables = (plan: Plan): string[] => listScanned(plan).filter((table) => large.has(table));

const statements = (): Query[] =>
  [...seen.values()].filter(
    ({ text }) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(text) && /\b(FROM|INTO|UPDATE)\b/.test(text),
  );
const isList = ({ text }: Query): boolean => /\) AS t\b/.test(text);

function asApp({ text, values, name }: Query, clientId: string): Query {
  const replace = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(replace) : value === app.clientId ? clientId : value;
  return { name, text, values: values.map(replace) };
}

test("the statements of sign-on, of both APIs and of the tiles are among those that were seen", () => {
  const texts = statements().map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(40);
  expect(statements().map(({ name }) => name)).toEqual(
    expect.arrayContaining(["sign-on.findSessions", "sign-on.findTokensWithSubject"]),
  );
  const tables = [
    "school",
    "person",
    "membership",
    "synced_group",
    "sign_in",
    "oidc_artifact",
    "consent",
    "credential",
    "app",
  ];
  expect(tables.filter((table) => !texts.some((text) => new RegExp(`\\b${table}\\b`).test(text)))).toEqual([]);
});

test("staff who look for a person read the people of the schools or the group only, or those who have the word", async () => {
  const { school, group } = await findFilled(service.db, 0);
  const narrowed = {
    schoolId: { schoolId: school },
    among: { among: [school] },
    groupId: { groupId: group },
    everywhere: {},
  };
  for (const by of [{ sort: "name" }, { sort: "lastSignIn", order: "desc" }] as const)
    for (const [what, of] of Object.entries(narrowed)) {
      const sent = await recordQueries(/./, () =>
        listPeople(storeOf(service.db), { ...of, words: ["nobody"], limit: 50, ...by }),
      );
      const search = sent.find(({ text }) => text.includes("unnest"))!;
      for (const mode of ["force_custom_plan", "force_generic_plan"] as const) {
        const plan = await explainQuery(service.db, search, mode);
        expect(scannedTables(plan), what).toEqual([]);
        // A school has 204 people.
        expect(countRead(plan), `${what} by ${by.sort}`).toBeLessThan(2000);
      }
    }
});

test("a page of schools reads those of the page, however many the app has", async () => {
  const pages = statements().filter(({ name }) => /^idm_schools_(next_)?page$/.test(name ?? ""));
  expect(pages).toHaveLength(2);
  for (const page of pages)
    for (const mode of ["force_custom_plan", "force_generic_plan"] as const)
      expect(countRead(await explainQuery(service.db, asApp(page, filledApps.everywhere), mode)), mode).toBeLessThan(
        100,
      );
});

async function listFaults(checked: Query[], mode: "force_custom_plan" | "force_generic_plan"): Promise<string[]> {
  const faults: string[] = [];
  for (const statement of checked) {
    const plan = await explainQuery(service.db, statement, mode);
    const [scanned, rows] = [scannedTables(plan), countRead(plan)];
    // A list is of a school with 204 people in three groups each, or of two such schools.
    if (scanned.length > 0 || rows > (isList(statement) ? 40_000 : 400))
      faults.push(`${rows} rows, all of ${scanned.join()}: ${statement.text}`);
  }
  return faults;
}

test("a statement that reads a large table from end to end is found", async () => {
  const scan = { text: "SELECT id FROM person WHERE last = $1", values: ["Last7"] };
  expect(await listFaults([scan], "force_custom_plan")).toEqual([`${size.people} rows, all of person: ${scan.text}`]);
});

test("no request reads one, for an app that sees two schools of many", async () => {
  expect(await listFaults(statements(), "force_custom_plan")).toEqual([]);
});

test("neither do the plans that are kept for named statements", async () => {
  expect(
    await listFaults(
      statements().filter(({ name }) => name !== undefined),
      "force_generic_plan",
    ),
  ).toEqual([]);
});

test.each([filledApps.everywhere, filledApps.byGroups])(
  "neither does reading a school, group or person for the app %s, which every school has",
  async (clientId) => {
    const reads = statements().filter(
      ({ text, values }) =>
        /FROM (person|affiliation|"group")/.test(text) &&
        /^\s*SELECT/.test(text) &&
        JSON.stringify(values).includes(app.clientId),
    );
    // Without a filter and a limit the list of all people is all people, or all after one.
    const isRest = ({ name }: Query) => /^schulconnex_personen_info_\d+000010(?!\d)/.test(name ?? "");
    expect(reads.some(isRest)).toBe(true);
    const ofOne = reads
      .filter((read) => read.values.length > 1 && !isRest(read))
      .map((statement) => asApp(statement, clientId));
    expect(ofOne.length).toBeGreaterThan(15);
    expect(await listFaults(ofOne, "force_custom_plan")).toEqual([]);
    expect(
      await listFaults(
        ofOne.filter(({ name }) => name !== undefined),
        "force_generic_plan",
      ),
    ).toEqual([]);
  },
);
