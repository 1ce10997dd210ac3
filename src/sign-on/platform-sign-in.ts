import { randomBytes } from "node:crypto";
import express, { type Request, type Response, Router } from "express";
import type { PersonId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/sql.ts";
import { type PageContext, readLocale } from "../platform/pages/index.ts";
import { readDevice, rememberDevice } from "./interaction/device.ts";
import type { InteractionDeps } from "./interaction/deps.ts";
import { fieldOf, sendPage } from "./interaction/step.ts";
import type { LoginProblem } from "./interaction/show.ts";
import { endSession } from "./logout/end-session.ts";
import { checkCsrfToken, makeCsrfToken, renderLoginPage } from "./pages/index.ts";
import { startSession } from "./provider/library.ts";
import { signingIn } from "./storage/signing-in.ts";

export const signInPath = "/sign-in";
const browserCookie = "_sign_in";

/** Serves the sign-in to the platform itself, without an app. */
export function makePlatformSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(signInPath, async (req, res) => {
    if (await findSignedInPerson(deps, req, res)) res.redirect(303, "/");
    else showLogin(deps, req, res, null, "");
  });
  router.post(signInPath, express.urlencoded({ extended: false, limit: "16kb" }), (req, res) => logIn(deps, req, res));
  return router;
}

/** Finds who is signed in with this browser; null for a person who is not active or is blocked. */
export async function findSignedInPerson(
  { db, provider }: Pick<InteractionDeps, "db" | "provider">,
  req: Request,
  res: Response,
): Promise<PersonId | null> {
  const session = await provider().Session.get(provider().createContext(req, res));
  return session.accountId && (await findRefusal(db.pool, session.accountId)) === null
    ? (session.accountId as PersonId)
    : null;
}

type Status = { isActive: boolean; isBlocked: boolean };

const person = table("person");

const selectStatus = statement<{ personId: string }>(
  ({ personId }) => sql`
    SELECT ${fields<Status>({
      isActive: sql`${person.status} = 'ACTIVE'`,
      isBlocked: sql`${person.blockedAt} IS NOT NULL`,
    })}
    FROM ${person} WHERE ${person.id} = ${personId}`,
  "sign-on.findRefusal",
);

/** Why the person may not sign in to the platform; null where they may. */
async function findRefusal(db: Queryable, personId: string): Promise<"refused" | "blocked" | null> {
  const [status] = await findRows<Status>(db, selectStatus, { personId });
  if (!status?.isActive) return "refused";
  return status.isBlocked ? "blocked" : null;
}

async function logIn(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  const [username, password] = [fieldOf(req, "username"), fieldOf(req, "password")];
  const show = (problem: LoginProblem) => showLogin(deps, req, res, problem, username);
  const browser = cookiesOf(deps, req, res).get(browserCookie, { signed: true });
  if (!browser || !checkCsrfToken(deps.secrets.csrf, { interaction: signInPath, browser }, fieldOf(req, "csrf")))
    return show({ kind: "expired_form" });
  const missing = (["username", "password"] as const).filter((name) => fieldOf(req, name) === "");
  if (missing.length > 0) return show({ kind: "missing", fields: missing });
  const check = await deps.checkPassword({
    username,
    password,
    address: req.ip ?? "",
    device: readDevice(deps, req, res),
    now: deps.clock(),
  });
  if (check.kind !== "ok") return show(check);
  const refusal = await findRefusal(deps.db.pool, check.personId);
  if (refusal !== null) return show({ kind: refusal });
  rememberDevice(deps, req, res, check.device);
  await signingIn(check, () => replaceSession(deps, req, res, check.personId));
  res.redirect(303, "/");
}

async function replaceSession(deps: InteractionDeps, req: Request, res: Response, personId: PersonId): Promise<void> {
  const provider = deps.provider();
  const present = await provider.Session.get(provider.createContext(req, res));
  if (present.accountId) {
    const requestId = res.locals["requestId"] as string | undefined;
    await endSession(deps.db, { uid: present.uid, at: deps.clock(), requestId });
  }
  const cookie = await startSession(provider, { personId, seconds: deps.sessionSeconds });
  cookiesOf(deps, req, res).set(provider.cookieName("session"), cookie, {
    httpOnly: true,
    sameSite: "lax",
    signed: true,
  });
}

const cookiesOf = ({ provider }: InteractionDeps, req: Request, res: Response) =>
  provider().createContext(req, res).cookies;

function showLogin(deps: InteractionDeps, req: Request, res: Response, problem: LoginProblem, username: string): void {
  const cookies = cookiesOf(deps, req, res);
  let browser = cookies.get(browserCookie, { signed: true });
  if (!browser) {
    browser = randomBytes(16).toString("base64url");
    cookies.set(browserCookie, browser, { httpOnly: true, sameSite: "lax", signed: true, path: signInPath });
  }
  const csrf = makeCsrfToken(deps.secrets.csrf, { interaction: signInPath, browser });
  sendPage(
    res,
    renderLoginPage(
      { app: null, steps: { action: signInPath, cancel: null, csrf }, username, problem },
      contextOf(req),
    ),
  );
}

function contextOf(req: Request): PageContext {
  return { locale: readLocale(req), languageUrl: (locale) => `${signInPath}?lang=${locale}` };
}
