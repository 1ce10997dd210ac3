import express, { type Request, type RequestHandler, type Response } from "express";
import { type Page, readLocale } from "../../platform/pages/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { hintCookies } from "../protocol/login-hint.ts";
import type { LeavingContext } from "./pages/index.ts";
import { timingSafeEqual, randomBytes } from "node:crypto";
import { hmac, makeSealed } from "../../platform/crypto/seal.ts";
import type { SharedSecrets } from "../protocol/keys/shared-secrets.ts";
import type { PersonId } from "../../directory/index.ts";
import { type SecondMethod, withSecondFactor } from "../../accounts/index.ts";
import { raiseSession } from "../protocol/storage/artifact.ts";

export type PageRequest = { deps: InteractionDeps; req: Request; res: Response };

export const onPage =
  (deps: InteractionDeps, handle: (request: PageRequest) => void | Promise<void>): RequestHandler =>
  (req, res) =>
    handle({ deps, req, res });

export const readForm = express.urlencoded({ extended: false, limit: "16kb" });
/** For forms with the response of a passkey. */
export const readLargeForm = express.urlencoded({ extended: false, limit: "32kb" });

export function fieldOf({ req }: PageRequest, name: string): string {
  const body = req.body as Record<string, unknown> | undefined;
  const value = body?.[name];
  return typeof value === "string" ? value : "";
}

export function sendPage({ res }: PageRequest, page: Page): void {
  res.status(page.status).set(page.headers).send(page.html);
}

export const redirect = ({ res }: PageRequest, path: string): void => res.redirect(303, path);

export const requestIdOf = ({ res }: PageRequest): string | undefined => res.locals["requestId"] as string | undefined;

export const providerContextOf = ({ deps, req, res }: PageRequest) => deps.provider().createContext(req, res);

export const cookiesOf = (request: PageRequest) => providerContextOf(request).cookies;

export const sessionOf = (request: PageRequest) => request.deps.provider().Session.get(providerContextOf(request));

/** Without `seconds` the cookie ends with the browser. */
type CookieOptions = { signed: boolean; path?: string; seconds?: number | undefined };

/** Sets a cookie of a page; null deletes it. */
export function setCookie(
  request: PageRequest,
  name: string,
  value: string | null,
  { signed, path, seconds }: CookieOptions,
): void {
  const lasting = { ...(path !== undefined && { path }), ...(seconds !== undefined && { maxAge: seconds * 1000 }) };
  cookiesOf(request).set(name, value, { httpOnly: true, sameSite: "lax", signed, ...lasting });
}

export const readCookie = (request: PageRequest, name: string, { signed }: { signed: boolean }): string | null =>
  cookiesOf(request).get(name, { signed }) ?? null;

type SealedCookie<Value> = {
  read(request: PageRequest): Value | null;
  /** The cookie ends with the browser unless it `outlives` it. */
  write(request: PageRequest, value: Value, options?: { outlives: boolean }): void;
  forget(request: PageRequest): void;
};

/** A cookie that only the service can read; after `seconds` it reads as missing. */
export function makeSealedCookie<Value extends object>(
  name: string,
  { secret, purpose, seconds }: { secret: keyof SharedSecrets; purpose: string; seconds: number },
): SealedCookie<Value> {
  const options = { signed: false, path: "/" };
  const sealed = ({ deps }: PageRequest) => makeSealed<Value>(deps.secrets[secret], purpose, seconds);
  return {
    read(request) {
      const text = readCookie(request, name, options);
      return text === null ? null : sealed(request).read(text, request.deps.clock());
    },
    write(request, value, { outlives } = { outlives: false }) {
      const text = sealed(request).write(value, request.deps.clock());
      setCookie(request, name, text, { ...options, seconds: outlives ? seconds : undefined });
    },
    forget: (request) => setCookie(request, name, null, options),
  };
}

/** Where a silent trip to the login of a school goes on: the app's request. */
export const appRequestPath = "/oauth2/auth";

const longest = 2000;
const base = "http://localhost";

/** Returns where to go after signing in: a path that starts with one slash (two would name another host), else `/`. */
export function readReturnPath(path: unknown): string {
  if (typeof path !== "string" || path.length > longest || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)) return "/";
  if (!URL.canParse(path, base)) return "/";
  const { origin, pathname, search } = new URL(path, base);
  return origin === base && !pathname.startsWith("//") ? pathname + search : "/";
}

type Registered = {
  redirectUris?: readonly string[] | undefined;
  postLogoutRedirectUris?: readonly string[] | undefined;
};

type Way = {
  issuerUrl: string;
  /** The redirect URI of the request. */
  to?: string | undefined;
  app?: Registered | undefined;
};

/**
 * Lets the form of a page lead to an app, or to the login of a school. Every page whose form may lead there needs it.
 *
 * Browsers apply form-action to every redirect after a form. Apps and logins redirect to other origins of theirs, so
 * only the schemes are known: https, in development http, and what the app has registered.
 */
export function formTargetsOf({ issuerUrl, to, app }: Way): string[] {
  const registered = [...(app?.redirectUris ?? []), ...(app?.postLogoutRedirectUris ?? [])];
  const addresses = [issuerUrl, ...(to === undefined ? [] : [to]), ...registered.filter((uri) => !/^http:/i.test(uri))];
  return ["https:", ...addresses.map((address) => new URL(address).protocol)];
}

export const signInPath = "/sign-in";
export const setUpPath = `${signInPath}/second-factor`;
export const passkeyOfferPath = `${signInPath}/passkey`;
export const confirmPath = `${signInPath}/confirm`;

export const returnPathOf = ({ req }: PageRequest): string => readReturnPath(req.query["return"]);

/** The address of a page below `signInPath` that continues at `path`. */
export function addressWith(page: string, path: string, query: Record<string, string> = {}): string {
  const all = new URLSearchParams({ ...(path !== "/" && { return: path }), ...query });
  return all.size === 0 ? page : `${page}?${all.toString()}`;
}

export const addressOf = (request: PageRequest, page: string, query: Record<string, string> = {}): string =>
  addressWith(page, returnPathOf(request), query);

export const contextOf = (request: PageRequest, page: string): LeavingContext => ({
  locale: readLocale(request.req),
  languageUrl: (lang) => addressOf(request, page, { lang }),
  formTargets: returnPathOf(request).startsWith(appRequestPath) ? formTargetsOf(request.deps) : [],
});

/** Bound to an interaction and to the browser that has its cookie. */
type Bound = { interaction: string; browser: string };

export function makeCsrfToken(key: Buffer, { interaction, browser }: Bound): string {
  return hmac(key)
    .update(JSON.stringify([interaction, browser]))
    .digest("base64url");
}

export function checkCsrfToken(key: Buffer, bound: Bound, presented: unknown): boolean {
  const expected = Buffer.from(makeCsrfToken(key, bound));
  const token = Buffer.from(typeof presented === "string" ? presented : "");
  return token.length === expected.length && timingSafeEqual(token, expected);
}

const browserCookie = "_sign_in";
const cookie = { signed: true, path: "/" };

/** Identifies this browser below `signInPath` and at the logins of schools; null before the first page there. */
export const readBrowser = (request: PageRequest): string | null => readCookie(request, browserCookie, cookie);

/** Without `seconds` the name ends with the browser. */
export function nameBrowser(request: PageRequest, seconds?: number): string {
  const present = readBrowser(request);
  if (present !== null && seconds === undefined) return present;
  const browser = present ?? randomBytes(16).toString("base64url");
  setCookie(request, browserCookie, browser, { ...cookie, seconds });
  return browser;
}

/** Makes the token of a form that is posted to the address `form`. Call it once for each response. */
export function openForm(request: PageRequest, form: string): { csrf: string; browser: string } {
  const browser = nameBrowser(request);
  return { csrf: makeCsrfToken(request.deps.secrets.csrf, { interaction: form, browser }), browser };
}

export const makeFormToken = (request: PageRequest, form: string): string => openForm(request, form).csrf;

export function isOwnForm(request: PageRequest, form: string): boolean {
  const browser = readBrowser(request);
  const bound = browser !== null && { interaction: form, browser };
  return bound && checkCsrfToken(request.deps.secrets.csrf, bound, fieldOf(request, "csrf"));
}

/** Records the second factor in this browser's session, under a new id; false if it ended or is another person's. */
export async function strengthenSession(
  request: PageRequest,
  { personId, method }: { personId: PersonId; method: SecondMethod },
): Promise<boolean> {
  const session = await sessionOf(request);
  if (session.accountId !== personId) return false;
  const amr = withSecondFactor(session.amr, method);
  const id = await raiseSession(request.deps.db.pool, { id: session.jti, personId, amr });
  const seconds = session.transient === false ? session.exp! - Math.floor(Date.now() / 1000) : undefined;
  if (id !== null) setSessionCookie(request, id, seconds);
  return id !== null;
}

/** Without `seconds` the cookie ends with the browser. */
export const setSessionCookie = (request: PageRequest, id: string, seconds?: number): void =>
  setCookie(request, request.deps.provider().cookieName("session"), id, { signed: true, seconds });

export const appCookie = "_app";

/** The cookies of one sign-on of an app, each with its path: a browser may have several under way. */
export const cookiesOfOnePath: ReadonlySet<string> = new Set([
  "_interaction",
  "_interaction_resume",
  ...hintCookies,
  appCookie,
]);

export const upstreamPath = "/upstream";
/** The link of a school, for its website and the QR code on its wall. */
export const schoolLinkPath = "/s";
export const schoolSearchPath = `${signInPath}/school`;
export const chosenSchoolPath = `${schoolSearchPath}/chosen`;
/** The sign-in page of the platform posts the chosen login of a school to this address. */
export const beginPath = `${signInPath}/upstream`;
/** The pages on which the IT contact of a school sets a connection up, by the id of the set-up link. */
export const setUpLinkPath = "/set-up/links";
