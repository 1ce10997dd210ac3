import { randomBytes } from "node:crypto";
import type { PersonId } from "../../directory/index.ts";
import { type SecondMethod, withSecondFactor } from "../../accounts/index.ts";
import { raiseSession } from "../protocol/storage/raise-session.ts";
import { fieldOf, type PageRequest, readCookie, sessionOf, setCookie } from "./page-request.ts";
import { checkCsrfToken, makeCsrfToken } from "./pages/index.ts";

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

/**
 * Records the second factor in the session of this browser, under a new id. Returns false if the session has ended or
 * is another person's.
 */
export async function strengthenSession(
  request: PageRequest,
  { personId, method }: { personId: PersonId; method: SecondMethod },
): Promise<boolean> {
  const session = await sessionOf(request);
  if (session.accountId !== personId) return false;
  const amr = withSecondFactor(session.amr, method);
  const id = await raiseSession(request.deps.db.pool, { id: session.jti, personId, amr });
  if (id !== null) setSessionCookie(request, id);
  return id !== null;
}

export const setSessionCookie = (request: PageRequest, id: string): void =>
  setCookie(request, request.deps.provider().cookieName("session"), id, { signed: true });
