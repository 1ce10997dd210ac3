import express, { type Request, type Response, Router } from "express";
import { type PageContext, readLocale } from "../../platform/pages/index.ts";
import { asksToForget, checkLogin, type LoginProblem } from "./check-login.ts";
import { signIn } from "./complete-sign-in.ts";
import { rememberDevice } from "./device.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { sendPage } from "./form.ts";
import { describeBrowser } from "./interaction/show.ts";
import { forgetLastPerson, keepLastSignIn, readKnownBrowser } from "./last-sign-in.ts";
import { askNewPassword, makeNewPasswordRouter } from "./new-password/platform.ts";
import { renderLoginPage, renderWaitingPage, type WaitingModel } from "./pages/index.ts";
import { isOwnForm, makeFormToken, readBrowser, signInPath } from "./platform-session.ts";
import { readReturnPath } from "./return-path.ts";
import { addressWith, confirmAddress, keepConfirmed, keepPending } from "./second-factor/confirm.ts";
import { passwordAnd } from "../../accounts/index.ts";
import { setUpPath } from "./second-factor/set-up.ts";
import { findNextStep, findRefusal, findSignedIn } from "../protocol/signed-in.ts";
import type { PendingPassword } from "./new-password/pending.ts";

/** Serves the sign-in to the platform itself, without an app. */
export function makePlatformSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(signInPath, async (req, res) => {
    const signedIn = await findSignedIn(deps, req, res);
    // Who is signed in already types their password again where a page asks for that.
    if (req.query["again"] !== undefined) await showLogin(deps, req, res, null);
    else if (signedIn?.needsSecondFactor === true) res.redirect(303, addressWith(setUpPath, returnPathOf(req)));
    else if (signedIn !== null) res.redirect(303, returnPathOf(req));
    else await showLogin(deps, req, res, null);
  });
  router.post(signInPath, express.urlencoded({ extended: false, limit: "16kb" }), (req, res) => logIn(deps, req, res));
  return router.use(makeNewPasswordRouter(deps, (...of) => goOn(deps, ...of)));
}

const returnPathOf = (req: Request): string => readReturnPath(req.query["return"]);

/** This page, with where the person goes on from it. */
const addressOf = (req: Request, query: Record<string, string> = {}): string =>
  addressWith(signInPath, returnPathOf(req), query);

type RightPassword = Omit<PendingPassword, "browser"> & { isShared?: boolean; mustChange?: boolean };

async function logIn(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  if (!isOwnForm(deps, req, res, signInPath)) {
    const kind = req.headers.cookie === undefined ? "no_cookies" : "expired_form";
    return showLogin(deps, req, res, { kind });
  }
  if (asksToForget(req)) {
    forgetLastPerson(deps, req, res);
    return res.redirect(303, addressOf(req));
  }
  const login = await checkLogin(deps, req, res, readBrowser(deps, req, res) ?? "");
  if (login.kind === "busy") return showWaiting(deps, req, res, login);
  if (login.kind === "problem") return showLogin(deps, req, res, login.problem, login.typed);
  const { check, isShared } = login;
  const refusal = await findRefusal(deps.db.pool, { personId: check.personId, now: deps.clock() });
  if (refusal !== null) return showLogin(deps, req, res, { kind: refusal });
  rememberDevice(deps, req, res, check.device);
  keepLastSignIn(deps, req, res, { ...check, isShared });
  // The second factor comes first, so that the password alone does not get the owner locked out.
  if (check.mustChange && (await findNextStep(deps, check.personId)) !== "confirm")
    askNewPassword(deps, req, res, check);
  else await goOn(deps, req, res, { ...check, isShared });
}

/** What follows a right password that may stay. */
async function goOn(deps: InteractionDeps, req: Request, res: Response, check: RightPassword): Promise<void> {
  const { personId, generation, isShared, method } = check;
  const next = method === undefined ? await findNextStep(deps, personId) : "none";
  if (next === "confirm") {
    keepPending(deps, req, res, check);
    return res.redirect(303, confirmAddress(returnPathOf(req)));
  }
  if (method !== undefined) keepConfirmed(deps, req, res, personId);
  const to = next === "set_up" ? addressWith(setUpPath, returnPathOf(req)) : returnPathOf(req);
  await signIn(deps, req, res, { personId, generation, amr: passwordAnd(method), isShared }, to);
}

async function showLogin(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  problem: LoginProblem,
  typed?: { username: string; isShared: boolean },
): Promise<void> {
  const csrf = makeFormToken(deps, req, res, signInPath);
  const known = await readKnownBrowser(deps, req, res);
  const other = addressOf(req, { ...(req.query["again"] !== undefined && { again: "" }), other: "" });
  sendPage(
    res,
    renderLoginPage(
      {
        app: null,
        steps: { action: addressOf(req), cancel: null, csrf },
        problem,
        ...describeBrowser(known, typed, { other, asksOther: req.query["other"] !== undefined }),
      },
      contextOf(req),
    ),
  );
}

function showWaiting(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  { waiting, retryAfterSeconds }: Pick<WaitingModel, "waiting" | "retryAfterSeconds">,
): void {
  const steps = { action: addressOf(req), cancel: null, csrf: makeFormToken(deps, req, res, signInPath) };
  sendPage(
    res,
    renderWaitingPage({ waiting, retryAfterSeconds, app: null, steps }, { ...contextOf(req), languageUrl: null }),
  );
}

function contextOf(req: Request): PageContext {
  return { locale: readLocale(req), languageUrl: (locale) => addressOf(req, { lang: locale }) };
}
