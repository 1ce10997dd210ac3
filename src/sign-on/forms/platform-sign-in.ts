import express, { type Request, type Response, Router } from "express";
import type { PersonId } from "../../directory/index.ts";
import { type PageContext, readLocale } from "../../platform/pages/index.ts";
import { readDevice, rememberDevice } from "./device.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { fieldOf, findMissing, sendPage } from "./form.ts";
import { describeBrowser, type LoginProblem } from "./interaction/show.ts";
import { forgetLastPerson, keepLastSignIn, readKnownBrowser } from "./last-sign-in.ts";
import { askNewPassword, makeNewPasswordRouter } from "./new-password/platform.ts";
import { renderLoginPage, renderWaitingPage, type WaitingModel } from "./pages/index.ts";
import { isOwnForm, makeFormToken, readBrowser, replaceSession, signInPath } from "./platform-session.ts";
import { readReturnPath } from "./return-path.ts";
import { addressWith, confirmAddress, keepConfirmed, keepPending } from "./second-factor/confirm.ts";
import { passwordAlone, withSecondFactor, type SecondMethod } from "../../accounts/index.ts";
import { setUpPath } from "./second-factor/set-up.ts";
import { findNextStep, findRefusal, findSignedIn } from "../protocol/signed-in.ts";
import { signingIn } from "../protocol/storage/signing-in.ts";
import { sealWaiting, takeTyped } from "./waiting-sign-in.ts";

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

type RightPassword = {
  personId: PersonId;
  generation: number;
  isShared?: boolean;
  mustChange?: boolean;
  method?: SecondMethod;
};

async function logIn(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  const browser = readBrowser(deps, req, res) ?? "";
  const typed = isOwnForm(deps, req, res, signInPath) ? await takeTyped(deps, req, browser) : null;
  const show = (problem: LoginProblem) => showLogin(deps, req, res, problem, typed ?? undefined);
  if (typed === null) return show({ kind: req.headers.cookie === undefined ? "no_cookies" : "expired_form" });
  const { username, password, isShared, turnAt } = typed;
  if (fieldOf(req, "forget") !== "") {
    forgetLastPerson(deps, req, res);
    return res.redirect(303, addressOf(req));
  }
  const missing = findMissing({ username, password });
  if (missing.length > 0) return show({ kind: "missing", fields: missing });
  const check = await deps.checkPassword({
    username,
    password,
    address: req.ip ?? "",
    device: readDevice(deps, req, res),
    now: deps.clock(),
    turnAt,
  });
  if (check.kind === "busy") {
    const waiting = sealWaiting(deps, typed, { turnAt: check.turnAt, browser });
    return showWaiting(deps, req, res, { waiting, retryAfterSeconds: check.retryAfterSeconds });
  }
  if (check.kind !== "ok") return show(check);
  const refusal = await findRefusal(deps.db.pool, { personId: check.personId, now: deps.clock() });
  if (refusal !== null) return show({ kind: refusal });
  rememberDevice(deps, req, res, check.device);
  await keepLastSignIn(deps, req, res, { personId: check.personId, isShared });
  // The second factor comes first, so that the password alone does not get the owner locked out.
  if (check.mustChange && (await findNextStep(deps, check.personId)) !== "confirm")
    askNewPassword(deps, req, res, check);
  else await goOn(deps, req, res, { ...check, isShared });
}

/** What follows a right password that may stay. */
async function goOn(deps: InteractionDeps, req: Request, res: Response, check: RightPassword): Promise<void> {
  const { personId, isShared, method } = check;
  if (method !== undefined) {
    await signingIn(check, () => replaceSession(deps, req, res, { personId, amr: withSecondFactor(method) }));
    keepConfirmed(deps, req, res, personId);
    return res.redirect(303, returnPathOf(req));
  }
  const next = await findNextStep(deps, personId);
  if (next === "confirm") {
    keepPending(deps, req, res, check);
    return res.redirect(303, confirmAddress(returnPathOf(req)));
  }
  await signingIn(check, () =>
    replaceSession(deps, req, res, { personId, amr: passwordAlone, ...(isShared !== undefined && { isShared }) }),
  );
  res.redirect(303, next === "set_up" ? addressWith(setUpPath, returnPathOf(req)) : returnPathOf(req));
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
  told: Pick<WaitingModel, "waiting" | "retryAfterSeconds">,
): void {
  const steps = { action: addressOf(req), cancel: null, csrf: makeFormToken(deps, req, res, signInPath) };
  sendPage(res, renderWaitingPage({ ...told, app: null, steps }, { ...contextOf(req), languageUrl: null }));
}

function contextOf(req: Request): PageContext {
  return { locale: readLocale(req), languageUrl: (locale) => addressOf(req, { lang: locale }) };
}
