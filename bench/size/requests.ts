// Requests to a service in each world: the IDM API, Schulconnex, sign-on and the pages of the staff.
import { Agent, request } from "undici";
import type { ClientId } from "../../src/access/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";
import { giveRole } from "../../src/staff/index.ts";
import { makeBrowser } from "../../test/support/browser.ts";
import { allScopes, makeMakers } from "../../test/support/make.ts";
import { getAppToken, getUserTokens, postToken, type TestApp } from "../../test/support/token.ts";
import { startSubject, type Subject } from "../harness.ts";
import { openSessions, signOn } from "../sign-on.ts";
import { appSecret, password } from "../world/shape.ts";
import { compareCost, type Sides, type Work } from "./cost.ts";
import { everywhere, type Sample, type World } from "./worlds.ts";

const app: TestApp = {
  clientId: everywhere as ClientId,
  clientSecret: appSecret,
  redirectUri: "http://127.0.0.1:4000/callback",
};
const agent = new Agent({ connections: 1 });

type Side = {
  service: Subject;
  sample: Sample;
  api: Record<string, string>;
  user: Record<string, string>;
  operator: Record<string, string>;
  admin: Record<string, string>;
};

export async function compareRequests(worlds: Sides<World>, samples: Sides<Sample>): Promise<void> {
  const services: Subject[] = [];
  const open = async (world: World, sample: Sample) => {
    const environment = { ROLE: "web", LOG_LEVEL: "error", STAFF_SECOND_FACTOR: "offered" };
    const service = await startSubject("service", "./subjects/service.ts", { ...environment, DATABASE_URL: world.url });
    services.push(service);
    return openSide(service, world, sample);
  };
  try {
    const sides = { small: await open(worlds.small, samples.small), large: await open(worlds.large, samples.large) };
    await compareReads(sides);
    await compareSignOn(sides);
    await compareStaff(sides);
  } finally {
    await agent.close();
    for (const service of services) await service.stop();
  }
}

const loginOf = (username: string) => ({ username, password });

async function openSide(service: Subject, world: World, sample: Sample): Promise<Side> {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const scopes = ["schools:read", "users:read", "groups:read", "people:read"] as const;
  const user = await getUserTokens(service, app, loginOf(sample.usernames[0]!), { scopes: allScopes });
  return {
    service,
    sample,
    api: bearer(await getAppToken(service, app, scopes)),
    user: bearer(user.access_token),
    operator: bearer(await getAppToken(service, await openOperator(world.db), ["admin:read"])),
    admin: { cookie: await openAdmin(service, sample) },
  };
}

/** An app that may read everything in the admin API. */
async function openOperator(db: PrismaDb): Promise<TestApp> {
  const operator = { ...app, clientId: "bench-operator" as ClientId };
  const { rowCount } = await db.pool.query("SELECT FROM app WHERE client_id = $1", [operator.clientId]);
  if (rowCount === 0) {
    await makeMakers(db).app({ clientId: operator.clientId, scopes: ["admin:read"] });
    const role = { role: "OPERATOR", holder: { clientId: operator.clientId }, schoolIds: [], clientIds: [] } as const;
    const by = { giver: null, origin: { at: new Date() } };
    await withPrismaTransaction(db, (tx) => giveRole(tx, { ...role, schoolIds: [], clientIds: [] }, by));
  }
  await db.pool.query("UPDATE app SET secret_hash = sha256($2::bytea) WHERE client_id = $1", [
    operator.clientId,
    appSecret,
  ]);
  return operator;
}

async function openAdmin({ url }: Subject, { admins }: Sample): Promise<string> {
  const browser = makeBrowser(url, { "accept-language": "de" });
  const shown = await browser.submit(await browser.open("/sign-in"), "/sign-in", loginOf(admins[0]!));
  if (shown.status !== 200) throw new Error(`sign-in was answered ${String(shown.status)}`);
  return cookiesOf(browser);
}

const cookiesOf = (browser: ReturnType<typeof makeBrowser>): string =>
  browser
    .cookies()
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");

/** Asks for one of the paths after another. Errors: an answer other than 200. */
function makeGet({ service }: Side, paths: string[], headers: Record<string, string>): Work {
  let n = 0;
  return async () => {
    const path = paths[n++ % paths.length]!;
    const { statusCode, body } = await request(service.url + path, { dispatcher: agent, headers });
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    if (statusCode !== 200) throw new Error(`${path} was answered ${String(statusCode)}`);
  };
}

const inBoth = async <T>({ small, large }: Sides<Side>, work: (side: Side) => T | Promise<T>): Promise<Sides<T>> => ({
  small: await work(small),
  large: await work(large),
});

async function compareReads(sides: Sides<Side>): Promise<void> {
  const get = async (title: string, pathsOf: (sample: Sample) => string[], token: "api" | "user" = "api") =>
    compareCost(title, await inBoth(sides, (side) => makeGet(side, pathsOf(side.sample), side[token])));
  const at = (path: string, ids: string[], rest = "") => ids.map((id) => `/idm/ep/v1/${path}/${id}${rest}`);

  await get("`GET /users/:id`", ({ people }) => at("users", people));
  await get("`GET /people/:id`", ({ people }) => at("people", people));
  await get("`GET /groups/:id`", ({ groups }) => at("groups", groups));
  await get("`GET /schools/:id`", ({ schools }) => at("schools", schools));
  for (const list of ["users", "people", "groups"])
    await get(`\`GET /schools/:id/${list}\``, ({ schools }) => at("schools", schools, `/${list}`));
  await get("`GET /schools/:id/people?limit=50`", ({ schools }) => at("schools", schools, "/people?limit=50"));
  await get("`GET /schools?limit=5`", () => ["/idm/ep/v1/schools?limit=5"]);
  const info = "/idm/schulconnex/v1/personen-info";
  await get("`personen-info` of one person", ({ people }) => people.map((id) => `${info}?pid=${id}`));
  await get("`personen-info` of one school", ({ schools }) => schools.map((id) => `${info}?organisation.id=${id}`));
  await get("`person-info`", () => ["/idm/schulconnex/v1/person-info"], "user");
  await get("`userinfo`", () => ["/oauth2/userinfo"], "user");
}

async function compareSignOn(sides: Sides<Side>): Promise<void> {
  const compareFlow = async (title: string, open: (side: Side) => Work | Promise<Work>) =>
    compareCost(title, await inBoth(sides, open));

  await compareFlow("sign-on with a session, code and PKCE", async ({ service, sample }) => {
    const flows = (await openSessions(service.url, app, sample.usernames.slice(0, 8).map(loginOf))).map(signOn);
    let n = 0;
    return () => flows[n++ % flows.length]!();
  });
  await compareFlow("sign-on with a password", ({ service, sample }) => {
    let n = 8;
    return async () => void (await openSessions(service.url, app, [loginOf(sample.usernames[n++ % 200]!)]));
  });
  await compareFlow("refresh", async ({ service, sample }) => {
    const scopes = ["openid", "profile", "offline_access"] as const;
    let { refresh_token: token } = await getUserTokens(service, app, loginOf(sample.usernames[0]!), { scopes });
    return async () => {
      const { body } = await postToken(service, app, { grant_type: "refresh_token", refresh_token: token! });
      if (body.refresh_token === undefined) throw new Error(`the refresh was answered ${JSON.stringify(body)}`);
      token = body.refresh_token;
    };
  });
  await compareFlow("client credentials", ({ service }) => async () => {
    const { status } = await postToken(service, app, { grant_type: "client_credentials" });
    if (status !== 200) throw new Error(`client credentials were answered ${String(status)}`);
  });
}

async function compareStaff(sides: Sides<Side>): Promise<void> {
  const page = async (name: string) =>
    compareCost(
      `page \`${name}\``,
      await inBoth(sides, (side) => makeGet(side, [`/admin/schools/${side.sample.schools[0]!}/${name}`], side.admin)),
    );
  for (const name of ["today", "people", "people?sort=-lastSignIn", "classes", "apps", "imports", "audit"])
    await page(name);

  const api = async (title: string, pathsOf: (sample: Sample) => string[]) =>
    compareCost(
      title,
      await inBoth(sides, (side) => {
        const paths = pathsOf(side.sample).map((path) => `/admin/v1/${path}`);
        return makeGet(side, paths, side.operator);
      }),
    );
  const atSchool = (rest: string) => (sample: Sample) => sample.schools.map((id) => `people?school=${id}${rest}`);
  await api("staff: a school's people by a part of the name", atSchool("&search=becker"));
  await api("staff: nobody of a school has the name", atSchool("&search=qqqq"));
  await api("staff: a person of all schools, by user name", ({ usernames }) =>
    usernames.map((name) => `people?search=${name}`),
  );
  await api("staff: people of all schools, by a common name", () => ["people?search=becker"]);
  await api("staff: the members of a group", ({ groups }) => groups.map((id) => `people?group=${id}`));
  await api("staff: a person", ({ people }) => people.map((id) => `people/${id}`));
  await api("staff: everything kept of a person", ({ people }) => people.map((id) => `people/${id}/data`));
  await api("staff: the newest audit lines of a person", ({ people }) => people.map((id) => `audit?person=${id}`));
  await api("staff: accounts at no school", () => ["staff-people"]);
}
