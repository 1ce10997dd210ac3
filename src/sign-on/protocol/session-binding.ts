import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

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
