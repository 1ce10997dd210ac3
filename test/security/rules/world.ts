import { beforeAll, expect, test } from "vitest";
import type { NewApp } from "../../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import { makeMakers, type Make } from "../../support/make.ts";
import { makeTestClock, startService, type TestService } from "../../support/service.ts";
import {
  askFor,
  basic,
  getUserTokens,
  giveLogin,
  signOn,
  type Login,
  type TestApp,
  type TokenBody,
} from "../../support/token.ts";

/** Parameters of a request; null leaves one out. */
export type Params = Record<string, string | null>;

export type Authorized = {
  status: number;
  headers: Headers;
  text: string;
  /** Where the browser is sent; null for a page. */
  to: URL | null;
  /** What the app reads there. */
  error: string | null;
  code: string | null;
  verifier: string;
  state: string;
  nonce: string;
};

export type Answer = { status: number; headers: Headers; body: TokenBody };

/** What a rule is tried with: a confidential app, a public one, and a browser whose person agreed to both. */
export type RuleWorld = {
  service: TestService;
  make: Make;
  school: SchoolId;
  pupil: PersonId;
  login: Login;
  app: TestApp;
  spa: TestApp;
  browser: Browser;
  makeApp(wishes?: Partial<NewApp>): Promise<TestApp>;
  /** Makes another person sign in, with a browser of their own. */
  makePerson(): Promise<{ personId: PersonId; login: Login }>;
  /** One authorization request of a browser, the signed-in one unless another is given. */
  authorize(params?: Params, of?: { app?: TestApp; browser?: Browser; scope?: string }): Promise<Authorized>;
  /** A request to the token endpoint, with the app's authentication unless other headers are given. */
  token(fields: Params, of?: { app?: TestApp; headers?: Record<string, string> }): Promise<Answer>;
  /** The fields that exchange a code as the app would. */
  fieldsOf(authorized: Authorized, app?: TestApp): Record<string, string>;
  /** Tokens of the signed-in person. */
  tokens(scope?: string, of?: { app?: TestApp; params?: Params }): Promise<TokenBody>;
  /** A read with a token. */
  read(path: string, token: string): Promise<Response>;
};

export const peopleRead = "urn:schultor:idm:v1:people:read";
export const schoolsRead = "urn:schultor:idm:v1:schools:read";

const given = (params: Params): Record<string, string> =>
  Object.fromEntries(Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== null));

/** Starts the service once for a file of rules. */
export function startRuleWorld(env: Record<string, string> = {}): RuleWorld {
  const world = {} as RuleWorld;
  beforeAll(async () => {
    const service = await startService({ env, clock: makeTestClock(new Date()) });
    const make = makeMakers(service.db);
    const school = await make.school();
    Object.assign(world, { service, make, school, browser: makeBrowser(service.url) }, makeCalls(world));
    const { personId, login } = await world.makePerson();
    Object.assign(world, { pupil: personId, login });
    world.app = await world.makeApp();
    world.spa = await world.makeApp({ type: "PUBLIC" });
    for (const app of [world.app, world.spa]) {
      const scopes = ["openid", "offline_access", "profile", "people:read"] as const;
      await signOn(service, app, login, { browser: world.browser, scopes });
    }
  });
  return world;
}

function makeCalls(world: RuleWorld): Partial<RuleWorld> {
  return {
    async makeApp(wishes = {}) {
      const app = await world.make.app(wishes);
      await world.make.grant({ app: app.clientId, school: world.school });
      return app;
    },
    async makePerson() {
      const personId = await world.make.person({ school: world.school });
      return { personId, login: await giveLogin(world.service.db, personId) };
    },
    async authorize(params = {}, { app = world.app, browser = world.browser, scope = "openid" } = {}) {
      const asked = askFor(world.service, app);
      const url = new URL(asked.address);
      for (const [name, value] of Object.entries({ scope, ...params }))
        if (value === null) url.searchParams.delete(name);
        else url.searchParams.set(name, value);
      const response = await browser.once(url.href);
      const location = response.headers.get("location");
      const to = location === null ? null : new URL(location, url);
      const { verifier, state, nonce } = asked;
      const [error, code] = ["error", "code"].map((name) => to?.searchParams.get(name) ?? null) as [string, string];
      const { status, headers } = response;
      return { status, headers, text: await response.text(), to, error, code, verifier, state, nonce };
    },
    async token(fields, { app = world.app, headers = basic(app) } = {}) {
      const own = app.clientSecret === null ? { client_id: app.clientId } : {};
      const response = await fetch(`${world.service.url}/oauth2/token`, {
        method: "POST",
        headers,
        body: new URLSearchParams(given({ ...own, ...fields })),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as TokenBody };
    },
    fieldsOf: ({ code, verifier }, app = world.app) => ({
      grant_type: "authorization_code",
      code: code ?? "",
      redirect_uri: app.redirectUri,
      code_verifier: verifier,
    }),
    async tokens(scope = "openid", { app = world.app, params = {} } = {}) {
      const { status, body } = await world.token(world.fieldsOf(await world.authorize(params, { app, scope }), app), {
        app,
      });
      if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`);
      return body;
    },
    read: (path, token) => fetch(world.service.url + path, { headers: { authorization: `Bearer ${token}` } }),
  };
}

/** Tokens of somebody else, in a browser of their own. */
export async function signInAnother({
  service,
  app,
  makePerson,
}: RuleWorld): Promise<TokenBody & { browser: Browser }> {
  const { login } = await makePerson();
  return getUserTokens(service, app, login, { scopes: ["openid", "offline_access", "people:read"] });
}

/** The status and the error of an answer of the token endpoint. */
export const refusalOf = ({ status, body }: Answer): [status: number, error: string | undefined] => [
  status,
  body.error,
];

/** What discovery says. */
export const discover = async ({ service }: RuleWorld): Promise<Record<string, unknown>> =>
  (await (await fetch(`${service.url}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;

/** Tries each rule in a test of its own, named by standard, section and one sentence. */
export function tryRules(rules: Record<string, () => unknown>): void {
  for (const [name, run] of Object.entries(rules)) test(name, run);
}

/** Tries what breaks a rule, by the error that it gets at the token endpoint. */
export function tryFaults(faults: Record<string, Record<string, () => Promise<Answer>>>): void {
  test.each(Object.entries(faults))("%s is answered in JSON that nobody keeps, without a token", async (error, all) => {
    for (const [rule, run] of Object.entries(all)) {
      const answer = await run();
      expect([...refusalOf(answer), answer.body.access_token], rule).toEqual([400, error, undefined]);
      // RFC 6749 5.2: printable ASCII without quote and backslash.
      expect(answer.body.error_description, rule).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      expect(answer.headers.get("content-type"), rule).toMatch(/^application\/json/);
      expect(answer.headers.get("cache-control"), rule).toContain("no-store");
    }
  });
}
