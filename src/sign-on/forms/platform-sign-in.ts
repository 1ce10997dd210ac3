import { Router } from "express";
import { passwordAnd } from "../../accounts/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { findNextStep, findRefusal, findSignedIn } from "../protocol/signed-in.ts";
import { asksToForget, checkLogin, type LoginProblem, type WaitingLogin } from "./check-login.ts";
import { signIn } from "./complete-sign-in.ts";
import { rememberDevice } from "./device.ts";
import {
  describeBrowser,
  forgetLastPerson,
  keepLastSignIn,
  readKnownBrowser,
  type TypedLogin,
} from "./last-sign-in.ts";
import type { PendingPassword } from "./new-password/pending.ts";
import { askNewPassword, makeNewPasswordRouter } from "./new-password/platform.ts";
import { onPage, type PageRequest, readForm, redirect, sendPage } from "./page-request.ts";
import { renderLoginPage, renderWaitingPage } from "./pages/index.ts";
import { addressOf, confirmPath, contextOf, returnPathOf, setUpPath, signInPath } from "./platform-page.ts";
import { isOwnForm, makeFormToken, readBrowser } from "./platform-session.ts";
import { keepConfirmed, keepPending } from "./second-factor/confirm.ts";

/** Serves the sign-in to the platform itself, without an app. */
export function makePlatformSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(signInPath, onPage(deps, show));
  router.post(signInPath, readForm, onPage(deps, logIn));
  return router.use(makeNewPasswordRouter(deps, goOn));
}

async function show(request: PageRequest): Promise<void> {
  const { deps, req, res } = request;
  const signedIn = await findSignedIn(deps, req, res);
  // With `again`, a person who is signed in types their password once more.
  if (req.query["again"] !== undefined || signedIn === null) return showLogin(request, null);
  redirect(request, signedIn.needsSecondFactor ? addressOf(request, setUpPath) : returnPathOf(request));
}

type RightPassword = Omit<PendingPassword, "browser"> & { isShared?: boolean; mustChange?: boolean };

async function logIn(request: PageRequest): Promise<void> {
  const { deps, req } = request;
  if (!isOwnForm(request, signInPath))
    return showLogin(request, { kind: req.headers.cookie === undefined ? "no_cookies" : "expired_form" });
  if (asksToForget(request)) {
    forgetLastPerson(request);
    return redirect(request, addressOf(request, signInPath));
  }
  const login = await checkLogin(request, readBrowser(request) ?? "");
  if (login.kind === "busy") return showWaiting(request, login);
  if (login.kind === "problem") return showLogin(request, login.problem, login.typed);
  const { check, isShared } = login;
  const refusal = await findRefusal(deps.db.pool, { personId: check.personId, now: deps.clock() });
  if (refusal !== null) return showLogin(request, { kind: refusal });
  rememberDevice(request, check.device, isShared);
  keepLastSignIn(request, { ...check, isShared });
  // The second factor comes first, so that a stolen password alone cannot lock out its owner.
  if (check.mustChange && (await findNextStep(deps, check.personId)) !== "confirm") askNewPassword(request, check);
  else await goOn(request, { ...check, isShared });
}

/** Continues after a right password that need not be replaced. */
async function goOn(request: PageRequest, check: RightPassword): Promise<void> {
  const { personId, generation, isShared, method } = check;
  const next = method === undefined ? await findNextStep(request.deps, personId) : "none";
  if (next === "confirm") {
    keepPending(request, check);
    return redirect(request, addressOf(request, confirmPath));
  }
  if (method !== undefined) keepConfirmed(request, personId);
  const to = next === "set_up" ? addressOf(request, setUpPath) : returnPathOf(request);
  await signIn(request, { personId, generation, amr: passwordAnd(method), isShared }, to);
}

const stepsOf = (request: PageRequest) => ({
  action: addressOf(request, signInPath),
  cancel: null,
  csrf: makeFormToken(request, signInPath),
});

async function showLogin(request: PageRequest, problem: LoginProblem, typed?: TypedLogin): Promise<void> {
  const steps = stepsOf(request);
  const again = request.req.query["again"] === undefined ? {} : { again: "" };
  const other = addressOf(request, signInPath, { ...again, other: "" });
  const model = describeBrowser(request, await readKnownBrowser(request), { typed, other });
  sendPage(request, renderLoginPage({ app: null, steps, problem, ...model }, contextOf(request, signInPath)));
}

function showWaiting(request: PageRequest, { waiting, retryAfterSeconds }: WaitingLogin): void {
  const context = { ...contextOf(request, signInPath), languageUrl: null };
  sendPage(request, renderWaitingPage({ waiting, retryAfterSeconds, app: null, steps: stepsOf(request) }, context));
}
