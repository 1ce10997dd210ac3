import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { hmac } from "../../platform/crypto/hmac.ts";
import { hasPassword, hasSecondFactor, isPasskeyAlone, isUpstream } from "../../accounts/index.ts";

const name = "_browser";

type Cookies = {
  get(name: string, options: { signed: boolean }): string | undefined;
  set(name: string, value: string, options: { signed: boolean; httpOnly: boolean; sameSite: "lax" }): unknown;
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

type Pattern = readonly [name: string, pattern: RegExp];
const nameOf = (all: readonly Pattern[], text: string): string =>
  all.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";

/** Browser and system without versions, such as `firefox windows`. */
export const kindOfBrowser = (userAgent = ""): string => `${nameOf(families, userAgent)} ${nameOf(systems, userAgent)}`;

const bind = (key: string, { req }: BrowserTraits): string =>
  hash("sha256", `${key} ${kindOfBrowser(req.headers["user-agent"])}`, "base64url");

/** The binding of this browser's session; null without the cookie. */
export function readBinding(browser: BrowserTraits): string | null {
  const key = browser.cookies.get(name, { signed: false });
  return key === undefined ? null : bind(key, browser);
}

export function makeBinding(browser: BrowserTraits): string {
  const key = randomBytes(32).toString("base64url");
  browser.cookies.set(name, key, { signed: false, httpOnly: true, sameSite: "lax" });
  return bind(key, browser);
}

/** The context class of a session on a shared device; no token carries it. */
export const sharedDevice = "shared-device";

/** The same for a session that ends with a lesson. Units: seconds since 1970. */
export const sharedUntil = (end: number): string => `${sharedDevice} ${end}`;

export const isSharedDevice = (acr: string | undefined): boolean => acr?.split(" ")[0] === sharedDevice;

type Limits = { sessionSeconds: number; now: number };

const longestSeconds = 3600;

/** `loginTs` is earlier where the person signed in at the login of their school before. */
type Begun = { acr?: string | undefined; loginTs?: number | undefined; startedAt?: number | undefined };

/** On a shared device a session lives for an hour at most, or until its lesson ends. Units: seconds since 1970. */
export function secondsOfSession({ acr, loginTs = 0, startedAt = loginTs }: Begun, of: Limits): number {
  if (!isSharedDevice(acr)) return of.sessionSeconds;
  const end = Number(acr?.split(" ")[1] ?? startedAt + longestSeconds);
  return Math.max(1, Math.min(of.sessionSeconds, end - of.now));
}

/** The `sid` of a session for an app with ids of its own. No two apps get the same, so they cannot match people. */
export const makeOwnSid = (key: Buffer, uid: string, clientId: string): string =>
  hmac(key).update(`sid\0${clientId}\0${uid}`).digest("base64url");

const waysToSignIn = ["card", "upstream", "password", "mfa"] as const;

type Way = (typeof waysToSignIn)[number];

const acrOf = (platform: string, way: Way): string => `urn:${platform}:acr:${way}`;

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
