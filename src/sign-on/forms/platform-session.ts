import { randomBytes } from "node:crypto";
import type { Request, Response } from "express";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fieldOf } from "./form.ts";
import { checkCsrfToken, makeCsrfToken } from "./pages/index.ts";
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

type SessionDeps = Pick<InteractionDeps, "db" | "provider">;
type Who = { personId: PersonId; amr: readonly string[] };

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

export function setSessionCookie(
  deps: Pick<InteractionDeps, "provider">,
  req: Request,
  res: Response,
  cookie: string,
): void {
  const name = deps.provider().cookieName("session");
  cookiesOf(deps, req, res).set(name, cookie, { httpOnly: true, sameSite: "lax", signed: true });
}
