import { randomBytes } from "node:crypto";
import type { Request, Response } from "express";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fieldOf } from "./form.ts";
import { readLastSignIn } from "./last-sign-in.ts";
import { endSession } from "../protocol/logout/end-session.ts";
import { checkCsrfToken, makeCsrfToken } from "./pages/index.ts";
import { startSession } from "../protocol/provider/library.ts";
import { makeBinding } from "../protocol/session-binding.ts";
import { secondsOfSession, sharedDevice } from "../protocol/shared-device.ts";
import { raiseSession } from "../protocol/storage/raise-session.ts";

export const signInPath = "/sign-in";
const browserCookie = "_sign_in";

export const cookiesOf = ({ provider }: Pick<InteractionDeps, "provider">, req: Request, res: Response) =>
  provider().createContext(req, res).cookies;

/** What names this browser on the pages below `signInPath`; null where it has none yet. */
export const readBrowser = (deps: Pick<InteractionDeps, "provider">, req: Request, res: Response): string | null =>
  cookiesOf(deps, req, res).get(browserCookie, { signed: true }) ?? null;

function nameBrowser(deps: Pick<InteractionDeps, "provider">, req: Request, res: Response): string {
  const present = readBrowser(deps, req, res);
  if (present !== null) return present;
  const browser = randomBytes(16).toString("base64url");
  cookiesOf(deps, req, res).set(browserCookie, browser, {
    httpOnly: true,
    sameSite: "lax",
    signed: true,
    path: "/",
  });
  return browser;
}

type FormDeps = Pick<InteractionDeps, "provider" | "secrets">;

/**
 * What a form of these pages carries, once for each answer.
 *
 * Shape: `form` is the address that the form is posted to; `browser` names this browser.
 */
export function openForm(deps: FormDeps, req: Request, res: Response, form: string): { csrf: string; browser: string } {
  const browser = nameBrowser(deps, req, res);
  return { csrf: makeCsrfToken(deps.secrets.csrf, { interaction: form, browser }), browser };
}

/** The token of a form of these pages. Shape: `form` is the address that the form is posted to. */
export const makeFormToken = (deps: FormDeps, req: Request, res: Response, form: string): string =>
  openForm(deps, req, res, form).csrf;

export function isOwnForm(deps: FormDeps, req: Request, res: Response, form: string): boolean {
  const browser = readBrowser(deps, req, res);
  return browser !== null && checkCsrfToken(deps.secrets.csrf, { interaction: form, browser }, fieldOf(req, "csrf"));
}

type SessionDeps = Pick<InteractionDeps, "db" | "clock" | "provider" | "sessionSeconds">;
type Who = { personId: PersonId; amr: readonly string[] };

/**
 * Signs the person in with this browser; a session that it had ends.
 *
 * Shape: the uid of the session; without `isShared` the device is what it was at the sign-in before.
 */
export async function replaceSession(
  deps: SessionDeps & Pick<InteractionDeps, "secrets">,
  req: Request,
  res: Response,
  { isShared = readLastSignIn(deps, req, res).isShared, ...who }: Who & { isShared?: boolean },
): Promise<string> {
  const provider = deps.provider();
  const present = await provider.Session.get(provider.createContext(req, res));
  if (present.accountId) {
    const requestId = res.locals["requestId"] as string | undefined;
    await endSession(deps.db, { uid: present.uid, at: deps.clock(), requestId });
  }
  const acr = isShared ? sharedDevice : undefined;
  const now = Math.floor(Date.now() / 1000);
  const seconds = secondsOfSession({ acr, loginTs: now }, { sessionSeconds: deps.sessionSeconds, now });
  const browser = makeBinding(provider.createContext(req, res));
  const { cookie, uid } = await startSession(provider, { ...who, browser, acr, seconds });
  setSessionCookie(deps, req, res, cookie);
  return uid;
}

/**
 * Notes in the session of this browser how the person has proved who they are. It gets a new id and goes on.
 *
 * Shape: false where the session has ended meanwhile, or is another person's.
 */
export async function strengthenSession(deps: SessionDeps, req: Request, res: Response, who: Who): Promise<boolean> {
  const provider = deps.provider();
  const session = await provider.Session.get(provider.createContext(req, res));
  if (session.accountId !== who.personId) return false;
  const cookie = await raiseSession(deps.db.pool, { id: session.jti, ...who });
  if (cookie !== null) setSessionCookie(deps, req, res, cookie);
  return cookie !== null;
}

function setSessionCookie(deps: SessionDeps, req: Request, res: Response, cookie: string): void {
  const name = deps.provider().cookieName("session");
  cookiesOf(deps, req, res).set(name, cookie, { httpOnly: true, sameSite: "lax", signed: true });
}
