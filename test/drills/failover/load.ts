import { setTimeout as sleep } from "node:timers/promises";
import { askFor, exchange, getAppToken, signOn, type TestApp, type TokenBody } from "../../support/token.ts";
import type { Browser } from "../../support/browser.ts";
import type { World } from "./world.ts";

const ends = ["revocation", "logout", "new password"] as const;
export const kinds = ["sign-on", "refresh", "client credentials", "read", "change", ...ends] as const;
export type Kind = (typeof kinds)[number];

export type Ended = { begun: number; ended: number; isAnswered: boolean };

/** What the service has acknowledged, to be compared with what it knows at the end. */
export type Ledger = {
  /** Each request, by kind. Units: performance.now(). */
  ended: Record<Kind, Ended[]>;
  failed: Record<Kind, Record<string, number>>;
  /** Exchanges of codes that were answered with tokens, and when. Units: performance.now(). */
  usedCodes: { code: string; verifier: string; at: number }[];
  created: string[];
  /** The number in the last name that was acknowledged, and in the last that was sent, by person; how often it was. */
  renamed: Map<string, { acknowledged: number; sent: number; times: number }>;
  /** Access tokens that were acknowledged, and those whose revocation was. */
  accessTokens: string[];
  revoked: string[];
  /** Cookies of sessions whose logout was acknowledged, and whose they were. */
  loggedOut: { personId: string; cookie: string }[];
  passwords: Map<string, Password>;
  /** Families whose refresh was refused. */
  broken: string[];
};

/**
 * A password that was acknowledged, and the one before it.
 *
 * Shape: `isUncertain` after a change without an answer, which nobody knows the new password of.
 */
export type Password = {
  username: string;
  acknowledged: string;
  previous: string | null;
  isUncertain: boolean;
  times: number;
};

export const makeLedger = (): Ledger => ({
  ended: Object.fromEntries(kinds.map((kind) => [kind, [] as Ended[]])) as Ledger["ended"],
  failed: Object.fromEntries(kinds.map((kind) => [kind, {}])) as Ledger["failed"],
  usedCodes: [],
  created: [],
  renamed: new Map(),
  broken: [],
  accessTokens: [],
  revoked: [],
  loggedOut: [],
  passwords: new Map(),
});

export const countAnswered = ({ ended }: Ledger, kind: Kind): number =>
  ended[kind].filter(({ isAnswered }) => isAnswered).length;

class Refused extends Error {}

/** Whether the service refused for good. The token endpoint answers every failure with 400, and says which it is. */
export const isFinal = (error: unknown): boolean =>
  error instanceof Refused &&
  error.message.startsWith("4") &&
  error.message !== "429" &&
  !String(error.cause).includes('"server_error"');

const patienceMs = 20_000;
const pauseMs = 40;
const slowMs = 400;

type Load = { ledger: Ledger; stop(): Promise<void> };

/** Runs one loop of each kind, each against both processes in turn, until stopped. */
export async function startLoad(urls: readonly string[], world: World): Promise<Load> {
  const ledger = makeLedger();
  const flows = await makeFlows(urls, world, ledger);
  const stopping = new AbortController();
  const repeat = async (kind: Kind, flow: (url: string) => Promise<void>): Promise<void> => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const begun = performance.now();
      const end = (isAnswered: boolean) => ledger.ended[kind].push({ begun, ended: performance.now(), isAnswered });
      try {
        await flow(urls[n % urls.length]!);
        end(true);
      } catch (error) {
        end(false);
        const reason = error instanceof Refused ? error.message : (error as Error).name;
        ledger.failed[kind][reason] = (ledger.failed[kind][reason] ?? 0) + 1;
      }
      await sleep(pauseMs);
    }
  };
  const loops = flows.map(([kind, flow]) => repeat(kind, flow));
  return {
    ledger,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

type Flow = [kind: Kind, flow: (url: string) => Promise<void>];

async function makeFlows(urls: readonly string[], world: World, ledger: Ledger): Promise<Flow[]> {
  const first = { url: urls[0]! };
  const token = await getAppToken(first, world.app, ["schools:read", "people:read", "users:read"]);
  const staff = await getAppToken(first, world.automation, ["admin:read", "admin:write"]);
  const half = Math.ceil(world.logins.length / 2);
  const sessions = await openSessions(first, world, world.logins.slice(0, half));
  const families = await openFamilies(first, world, world.logins.slice(half));
  return [
    ...sessions.map((browser): Flow => ["sign-on", makeSignOn(world, browser, ledger)]),
    ...families.map((refreshToken): Flow => ["refresh", makeRefresh(world.app, refreshToken, ledger)]),
    ["client credentials", async (url) => void ledger.accessTokens.push(await takeAppToken(url, world.app))],
    ["read", (url) => get(`${url}/idm/ep/v1/schools/${world.school}/people?limit=10`, token)],
    ["change", makeCreate(world, staff, ledger)],
    ["change", makeRename(world, staff, ledger)],
    ["revocation", slowly((url) => revokeToken(url, world.app, ledger))],
    ["logout", slowly(makeLogout(world, ledger))],
    ["new password", slowly(makeNewPassword(world, staff, ledger))],
  ];
}

/** Leaves processors to the others, and gives up what is not answered. */
const slowly =
  (flow: (url: string) => Promise<void>) =>
  async (url: string): Promise<void> => {
    await sleep(slowMs);
    const late = new AbortController();
    const patience = sleep(patienceMs, undefined, { signal: late.signal });
    const tooLate = patience.then(() => Promise.reject(new Error("not answered")));
    tooLate.catch(() => undefined);
    await Promise.race([flow(url), tooLate]).finally(() => late.abort());
  };

const scopes = ["openid", "offline_access"] as const;

async function openSessions(service: { url: string }, { app }: World, logins: World["logins"]): Promise<Browser[]> {
  const browsers = [];
  for (const login of logins) browsers.push((await signOn(service, app, login, { scopes })).browser);
  return browsers;
}

async function openFamilies(service: { url: string }, { app }: World, logins: World["logins"]): Promise<string[]> {
  const tokens = [];
  for (const login of logins) {
    const signedOn = await signOn(service, app, login, { scopes });
    tokens.push((await exchange(service, app, signedOn)).body.refresh_token!);
  }
  return tokens;
}

/** Sends a request; anything but 2xx is refused, and what nobody answers ends. */
async function send(url: string, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
  const text = await answer.text();
  if (!answer.ok) throw new Refused(`${answer.status}`, { cause: text });
  return text === "" ? null : (JSON.parse(text) as unknown);
}

const get = async (url: string, token: string): Promise<void> =>
  void (await send(url, { headers: { authorization: `Bearer ${token}` } }));

const basic = ({ clientId, clientSecret }: TestApp) => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`,
});

export const requestTokens = (url: string, app: TestApp, fields: Record<string, string>): Promise<TokenBody> =>
  send(`${url}/oauth2/token`, {
    method: "POST",
    headers: basic(app),
    body: new URLSearchParams(fields),
  }) as Promise<TokenBody>;

async function takeAppToken(url: string, app: TestApp): Promise<string> {
  const fields = { grant_type: "client_credentials", scope: "urn:schultor:idm:v1:schools:read" };
  return (await requestTokens(url, app, fields)).access_token;
}

export async function revokeToken(url: string, app: TestApp, ledger: Ledger): Promise<void> {
  const token = await takeAppToken(url, app);
  await send(`${url}/oauth2/revoke`, { method: "POST", headers: basic(app), body: new URLSearchParams({ token }) });
  ledger.revoked.push(token);
}

export const cookieOf = (browser: Browser): string =>
  browser
    .cookies()
    .map(({ name, value }) => `${name}=${value}`)
    .join("; ");

/** Signs in with the password and logs out again. */
export function makeLogout({ app, leaving }: World, ledger: Ledger): (url: string) => Promise<void> {
  return async (url) => {
    const { browser } = await signOn({ url }, app, leaving.login, { scopes });
    const cookie = cookieOf(browser);
    if ((await useSession(url, app, cookie)) === null) throw new Refused("no session");
    const ended = await browser.submit(await browser.open(`${url}/oauth2/sessions/logout`), "/confirm", {
      logout: "yes",
    });
    if (ended.status !== 200) throw new Refused(`${ended.status} of the logout`);
    ledger.loggedOut.push({ personId: leaving.personId, cookie });
  };
}

export function makeNewPassword({ people }: World, token: string, ledger: Ledger): (url: string) => Promise<void> {
  // The first of the people gets a login by it, which the others keep without one.
  const [personId] = people;
  let isFirst = true;
  return async (url) => {
    const known = ledger.passwords.get(personId!);
    const path = `${url}/admin/v1/people/${personId!}/login`;
    const wanted = { username: "drill.password" };
    if (known !== undefined) known.isUncertain = true;
    const made = (await (isFirst
      ? send(path, asStaff(token, "PUT", wanted))
      : send(`${path}/password`, asStaff(token, "POST", {})))) as { username: string; password: string };
    isFirst = false;
    ledger.passwords.set(personId!, {
      username: made.username,
      acknowledged: made.password,
      previous: known?.acknowledged ?? null,
      isUncertain: false,
      times: (known?.times ?? 0) + 1,
    });
  };
}

/** Signs on with a session. A code whose exchange was not answered is given up, as an app does. */
function makeSignOn({ app }: World, session: Browser, ledger: Ledger): (url: string) => Promise<void> {
  const cookie = cookieOf(session);
  return async (url) => {
    const used = await useSession(url, app, cookie);
    if (used === null) throw new Refused("no code");
    const { code, verifier } = used;
    await requestTokens(url, app, exchangeOf(app, { code, verifier }));
    ledger.usedCodes.push({ code, verifier, at: performance.now() });
  };
}

/**
 * Asks for a code with the cookie of a session; null where a page is shown instead.
 *
 * Errors: Refused for every other answer.
 */
export async function useSession(url: string, app: TestApp, cookie: string) {
  const { address, verifier } = askFor({ url }, app, { scopes });
  const answer = await fetch(address, {
    headers: { cookie },
    redirect: "manual",
    signal: AbortSignal.timeout(patienceMs),
  });
  await answer.arrayBuffer();
  const location = answer.headers.get("location");
  if (location === null) throw new Refused(`${answer.status} without a code`);
  const code = new URL(location, url).searchParams.get("code");
  return code === null ? null : { code, verifier };
}

export const exchangeOf = (app: TestApp, { code, verifier }: { code: string; verifier: string }) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: app.redirectUri,
  code_verifier: verifier,
});

/** Refreshes; a refresh that was not answered is repeated with the same token. */
function makeRefresh(app: TestApp, first: string, ledger: Ledger): (url: string) => Promise<void> {
  let current = first;
  let isBroken = false;
  return async (url) => {
    if (isBroken) throw new Refused("family broken before");
    try {
      const answered = await requestTokens(url, app, { grant_type: "refresh_token", refresh_token: current });
      current = answered.refresh_token!;
    } catch (error) {
      if (isFinal(error)) {
        isBroken = true;
        ledger.broken.push(`${(error as Refused).message} ${String((error as Refused).cause)}`);
      }
      throw error;
    }
  };
}

const asStaff = (token: string, method: string, body: object): RequestInit => ({
  method,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  body: JSON.stringify(body),
});

function makeCreate({ school }: World, token: string, ledger: Ledger): (url: string) => Promise<void> {
  let count = 0;
  return async (url) => {
    const name = { firstFull: "New", firstCall: "New", last: `Person ${count++}` };
    const wanted = { schoolIds: [school], role: "STUDENT", name };
    const made = (await send(`${url}/admin/v1/people`, asStaff(token, "POST", wanted))) as { id: string };
    ledger.created.push(made.id);
  };
}

function makeRename({ people }: World, token: string, ledger: Ledger): (url: string) => Promise<void> {
  let count = 0;
  for (const id of people) ledger.renamed.set(id, { acknowledged: -1, sent: -1, times: 0 });
  return async (url) => {
    const number = count++;
    const id = people[number % people.length]!;
    const noted = ledger.renamed.get(id)!;
    noted.sent = number;
    const name = { firstFull: "Kim", firstCall: "Kim", last: `Name ${number}` };
    await send(`${url}/admin/v1/people/${id}`, asStaff(token, "PATCH", { name }));
    noted.acknowledged = number;
    noted.times += 1;
  };
}
