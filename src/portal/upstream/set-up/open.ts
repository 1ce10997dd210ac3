import { makeSealed } from "../../../platform/crypto/seal.ts";
import { setUpPath, addressOfLink, secrecy, showUnusable, type Answer, type Visit } from "./visit.ts";

const cookieName = "_set-up";
const cookieSeconds = 3600;
const sealedToken = ({ deps }: Visit) => makeSealed<{ token: string }>(deps.keys[0]!, "set-up token", cookieSeconds);
const cookie = { httpOnly: true, sameSite: "lax", path: "/" } as const;

/** Moves the token from the address bar into a cookie. */
export async function keepToken(visit: Visit): Promise<Answer> {
  const { req, res, now } = visit;
  const token = String(req.params["token"]);
  if (!/^[\w-]{20,100}$/.test(token)) return showUnusable(visit);
  const value = sealedToken(visit).write({ token }, now);
  res.cookie(cookieName, value, { ...cookie, secure: req.secure, maxAge: cookieSeconds * 1000 }).set(secrecy);
  return { to: setUpPath };
}

function readToken(visit: Visit): string | null {
  const value = new RegExp(`(?:^|; *)${cookieName}=([\\w-]+)`).exec(visit.req.headers.cookie ?? "")?.[1];
  return value === undefined ? null : (sealedToken(visit).read(value, visit.now)?.token ?? null);
}

export async function showOpening(visit: Visit): Promise<Answer> {
  if (readToken(visit) === null) return showUnusable(visit);
  return { title: visit.t("setUp.opening.title"), view: "set-up-opening", model: {} };
}

/** Opens the link for this browser alone. */
export async function openLink(visit: Visit): Promise<Answer> {
  const { deps, browser, res } = visit;
  const token = readToken(visit);
  const caller = token === null ? null : await deps.setUp.open({ token, browser });
  if (caller === null) return showUnusable(visit);
  res.clearCookie(cookieName, cookie);
  return { to: addressOfLink(caller.setUpLinkId) };
}
