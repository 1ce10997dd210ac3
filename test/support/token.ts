import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { scopeToWire } from "../../src/access/index.ts";
import type { ClientId, ScopeName } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import type { Db } from "../../src/platform/database/db.ts";
import { setPasswordHash } from "../../src/accounts/index.ts";
import { type Browser, makeBrowser, readForm, type Shown } from "./browser.ts";
import { hashQuickly } from "./quick-hash.ts";

export type TestApp = { clientId: ClientId; clientSecret: string | null; redirectUri: string };
export type Login = { username: string; password: string };
type Service = { url: string };

export type TokenBody = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  id_token?: string;
  refresh_token?: string;
  error?: string;
  error_description?: string;
};

const platform = "schultor";
const wire = (scopes: readonly ScopeName[]): string => scopes.map((scope) => scopeToWire(platform, scope)).join(" ");

/** Gives a person a user name and a password. */
export async function giveLogin(db: Pick<Db, "pool">, personId: PersonId): Promise<Login> {
  const login = { username: `user-${personId}`, password: "correct horse battery staple" };
  const passwordHash = await hashQuickly(login.password);
  const now = new Date("2026-02-03T08:00:00Z");
  await setPasswordHash(db.pool, { personId, username: login.username, passwordHash, now });
  return login;
}

export const basic = ({ clientId, clientSecret }: TestApp): Record<string, string> =>
  clientSecret === null
    ? {}
    : { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` };

/** Posts to the token endpoint as the app would. */
export async function postToken(
  { url }: Service,
  app: TestApp,
  fields: Record<string, string>,
): Promise<{ status: number; headers: Headers; body: TokenBody }> {
  const body = new URLSearchParams({ ...fields, ...(app.clientSecret === null && { client_id: app.clientId }) });
  const response = await fetch(`${url}/oauth2/token`, { method: "POST", headers: basic(app), body });
  return { status: response.status, headers: response.headers, body: (await response.json()) as TokenBody };
}

/** A token in the app context, from the token endpoint. */
export async function getAppToken(service: Service, app: TestApp, scopes: readonly ScopeName[]): Promise<string> {
  const { body } = await postToken(service, app, { grant_type: "client_credentials", scope: wire(scopes) });
  if (!body.access_token) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.access_token;
}

type StoredIn = { db: Pick<Db, "pool">; clock: () => Date };

/** A token in the app context as the token endpoint stores it: a fifth of the time of asking for it. */
export const issueAppToken = (service: StoredIn, app: TestApp, scopes: readonly ScopeName[]): Promise<string> =>
  storeToken(service, app, { kind: "ClientCredentials", scopes, person: null });

/** A token in the user context, of a person who gets a new login and did not sign in. */
export async function issueUserToken(
  service: StoredIn,
  app: TestApp,
  { person, scopes }: { person: PersonId; scopes: readonly ScopeName[] },
): Promise<string> {
  await giveLogin(service.db, person);
  return storeToken(service, app, { kind: "AccessToken", scopes, person });
}

async function storeToken(
  { db, clock }: StoredIn,
  { clientId }: TestApp,
  { kind, scopes, person }: { kind: string; scopes: readonly ScopeName[]; person: PersonId | null },
): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const iat = Math.floor(clock().getTime() / 1000);
  const account = person === null ? {} : { accountId: person };
  const payload = { kind, jti: token, clientId, scope: wire(scopes), iat, exp: iat + 3600, ...account };
  const expiresAt = new Date((iat + 3600) * 1000);
  await db.pool.query(
    `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, expires_at, generation)
     VALUES ($1, $2, $3, $4, $5, $6, (SELECT generation FROM credential WHERE person_id = $5))`,
    [kind, createHash("sha256").update(token).digest(), payload, clientId, person, expiresAt],
  );
  return token;
}

export type Wishes = { scopes?: readonly ScopeName[]; pkce?: boolean; params?: Record<string, string> };

export type Asked = { address: string; verifier: string; state: string; nonce: string };

/** An authorization request as an app makes it. */
export function askFor(
  { url }: Service,
  app: TestApp,
  { scopes = ["openid"], pkce = true, params = {} }: Wishes = {},
): Asked {
  const [verifier, state, nonce] = [randomBytes(32), randomBytes(8), randomBytes(8)].map((bytes) =>
    bytes.toString("base64url"),
  ) as [string, string, string];
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: wire(scopes),
    state,
    nonce,
    ...(pkce && {
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    }),
    ...params,
  });
  return { address: `${url}/oauth2/auth?${query.toString()}`, verifier, state, nonce };
}

/**
 * Logs in, agrees and goes on until the browser is sent back to the app or is asked something else. On a busy machine
 * it waits for its turn as the page does.
 */
export async function passPages(browser: Browser, page: Shown, login: Login): Promise<Shown> {
  let shown = page;
  if (isFormPost(shown)) return shown;
  if (shown.html.includes("/login")) shown = await browser.submit(shown, "/login", login);
  for (let turns = 0; turns < 50 && shown.html.includes('name="waiting"'); turns++) {
    await sleep(Number(shown.headers.get("retry-after")) * 1000);
    shown = await browser.submit(shown, "/login");
  }
  if (!isFormPost(shown) && shown.html.includes("/consent")) shown = await browser.submit(shown, "/consent");
  return shown;
}

export type Callback = { address: string; params: URLSearchParams };

/** The page whose form goes to the app. */
const isFormPost = ({ html }: Pick<Shown, "html">): boolean => html.includes(" data-form-post");

/** What arrives at the app, in whichever response mode; null for a page of the service. */
export function readCallback({ url }: Service, shown: Pick<Shown, "url" | "html">): Callback | null {
  if (isFormPost(shown)) {
    const { action, fields } = readForm(shown, "");
    return { address: action, params: new URLSearchParams(fields) };
  }
  const { origin, pathname, search, hash } = new URL(shown.url);
  return origin === url ? null : { address: origin + pathname, params: new URLSearchParams(hash.slice(1) || search) };
}

export type SignedOn = { browser: Browser; asked: Asked; back: URL };

/** The way of a person through the pages; ends back at the app. */
export async function signOn(
  service: Service,
  app: TestApp,
  login: Login,
  wishes: Wishes & { browser?: Browser } = {},
): Promise<SignedOn> {
  const browser = wishes.browser ?? makeBrowser(service.url);
  const asked = askFor(service, app, wishes);
  const shown = await passPages(browser, await browser.open(asked.address), login);
  return { browser, asked, back: new URL(shown.url) };
}

export const exchange = (service: Service, app: TestApp, { asked, back }: SignedOn) =>
  postToken(service, app, {
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    redirect_uri: app.redirectUri,
    ...(asked.address.includes("code_challenge") && { code_verifier: asked.verifier }),
  });

/** Tokens in the user context, through the pages and the token endpoint. */
export async function getUserTokens(
  service: Service,
  app: TestApp,
  login: Login,
  wishes: Wishes & { browser?: Browser } = {},
): Promise<TokenBody & { browser: Browser }> {
  const signedOn = await signOn(service, app, login, wishes);
  const { status, body } = await exchange(service, app, signedOn);
  if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)} ${signedOn.back.href}`);
  return { ...body, browser: signedOn.browser };
}
