import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { hmac } from "../../platform/crypto/seal.ts";
import {
  hasPassword,
  hasSecondFactor,
  isPasskeyAlone,
  isUpstream,
  mayStay,
  type SessionRule,
} from "../../accounts/index.ts";

export const bindingCookie = "_browser";

type CookieOptions = { signed: boolean; httpOnly: boolean; sameSite: "lax"; maxAge?: number };

type Cookies = {
  get(name: string, options: { signed: boolean }): string | undefined;
  set(name: string, value: string, options: CookieOptions): unknown;
};

type BrowserTraits = { cookies: Cookies; req: Pick<IncomingMessage, "headers"> };

const families = [
  ["edge", /\bEdg(A|iOS)?\//],
  ["opera", /\bOPR\//],
  ["samsung", /\bSamsungBrowser\//],
  ["firefox", /\b(Firefox|FxiOS)\//],
  ["chrome", /\b(Headless)?(Chrome|CriOS)\//],
  ["safari", /\bSafari\//],
] as const;

// A phone or tablet that requests the desktop page calls itself Linux or Macintosh.
const systems = [
  ["windows", /\bWindows\b/],
  ["apple", /\b(Macintosh|iPhone|iPad|iPod)\b/],
  ["linux", /\b(Linux|Android|CrOS|X11)\b/],
] as const;
const findMatch = (all: readonly (readonly [name: string, pattern: RegExp])[], text: string): string =>
  all.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";

/** Browser and system without versions, such as `firefox windows`. */
export const kindOfBrowser = (userAgent = ""): string =>
  `${findMatch(families, userAgent)} ${findMatch(systems, userAgent)}`;

const bind = (key: string, { req }: BrowserTraits): string =>
  hash("sha256", `${key} ${kindOfBrowser(req.headers["user-agent"])}`, "base64url");

/** The binding of this browser's session; null without the cookie. */
export function readBinding(browser: BrowserTraits): string | null {
  const key = browser.cookies.get(bindingCookie, { signed: false });
  return key === undefined ? null : bind(key, browser);
}

/** The longest time that a session may last; its cookie and what depends on it last no longer. */
export const longestSessionSeconds = 30 * 24 * 3600;

/** The cookie ends with the browser unless the session is to stay. */
export function makeBinding(browser: BrowserTraits, acr: string | undefined): string {
  const key = randomBytes(32).toString("base64url");
  const lasting = acr === ownDevice ? { maxAge: longestSessionSeconds * 1000 } : {};
  browser.cookies.set(bindingCookie, key, { signed: false, httpOnly: true, sameSite: "lax", ...lasting });
  return bind(key, browser);
}

/** The context class of a session says what device it is on; no token carries it. */
export const [sharedDevice, ownDevice, anyDevice] = ["shared-device", "own-device", "device"];

/** The same for a session that ends with a lesson. Units: seconds since 1970. */
export const sharedUntil = (end: number): string => `${sharedDevice} ${end}`;

export const isSharedDevice = (acr: string | undefined): boolean => acr?.split(" ")[0] === sharedDevice;

/** Nobody stays signed in whose schools do not let them. */
export const permittedDevice = <Acr extends string | undefined>(acr: Acr, rule: SessionRule | null): Acr | string =>
  acr === ownDevice && !mayStay(rule) ? anyDevice : acr;

type Limits = { sessionSeconds: number; rule: SessionRule | null };

const sharedSeconds = 3600;

/** `loginTs` is earlier where the person signed in at the login of their school before. */
type Begun = { acr?: string | undefined; loginTs?: number | undefined; startedAt?: number | undefined };

export const startOf = ({ loginTs = 0, startedAt = loginTs }: Begun): number => startedAt;

/** The end of a session however much it is used, and how long it lasts unused. Units: seconds, since 1970. */
function limitsOf(session: Begun, { sessionSeconds, rule }: Limits): { end: number; unused: number } {
  const { acr } = session;
  const start = startOf(session);
  const end = rule?.hours ? start + rule.hours * 3600 : Infinity;
  if (isSharedDevice(acr)) {
    const sharedEnd = Number(acr?.split(" ")[1] ?? start + sharedSeconds);
    return { end: Math.min(end, sharedEnd), unused: sessionSeconds };
  }
  const unused = rule?.isOfAll ? Infinity : sessionSeconds;
  if (acr !== ownDevice) return { end, unused };
  if (mayStay(rule)) return { end: start + rule!.days * 24 * 3600, unused: Infinity };
  // The school allowed it when the person signed in, so that the session may have been unused for longer.
  return { end: Math.min(end, start + sessionSeconds), unused };
}

/** Units: seconds since 1970. */
export const endOfSession = (session: Begun, limits: Limits): number => limitsOf(session, limits).end;

export function secondsOfSession(session: Begun, { now, ...limits }: Limits & { now: number }): number {
  const { end, unused } = limitsOf(session, limits);
  return Math.max(1, Math.min(unused, end - now));
}

/** The `sid` of a session for an app with ids of its own. No two apps get the same, so they cannot match people. */
export const makeOwnSid = (key: Buffer, uid: string, clientId: string): string =>
  hmac(key).update(`sid\0${clientId}\0${uid}`).digest("base64url");

const waysToSignIn = ["card", "upstream", "password", "mfa"] as const;

const acrOf = (platform: string, way: (typeof waysToSignIn)[number]): string => `urn:${platform}:acr:${way}`;

export const acrValues = (platform: string): string[] => waysToSignIn.map((way) => acrOf(platform, way));

/** The `acr` of a sign-in. The library's own says whether the device is shared. */
export function presentAcr(platform: string, amr: readonly string[] | undefined): string {
  if (hasSecondFactor(amr)) return acrOf(platform, "mfa");
  if (isUpstream(amr)) return acrOf(platform, "upstream");
  return acrOf(platform, hasPassword(amr) ? "password" : "card");
}

/**
 * The `amr` of an ID token. The RFC has no value for how another login identified the person, and the contract none for
 * a passkey alone, so none is told; `acr` says that there were two factors.
 */
export const presentAmr = (amr: readonly string[] | undefined): readonly string[] | undefined =>
  isUpstream(amr) || isPasskeyAlone(amr) ? undefined : amr;
