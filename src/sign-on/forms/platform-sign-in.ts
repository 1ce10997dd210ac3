import { Router } from "express";
import { passwordAnd } from "../../accounts/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { findNextStep, findRefusal, findSignedIn } from "../protocol/signed-in.ts";
import {
  asksToForget,
  checkLogin,
  schoolOf,
  type LoginProblem,
  type WaitingLogin,
  rememberDevice,
} from "./login-form.ts";
import { enterPlatform, keepConfirmed } from "./second-factor/confirm.ts";
import {
  formTargetsOf,
  onPage,
  type PageRequest,
  readForm,
  redirect,
  sendPage,
  addressOf,
  addressWith,
  contextOf,
  returnPathOf,
  setUpPath,
  signInPath,
  isOwnForm,
  makeFormToken,
  readBrowser,
  beginPath,
  schoolSearchPath,
} from "./page-request.ts";
import {
  describeBrowser,
  forgetLastPerson,
  keepLastSignIn,
  readKnownBrowser,
  type TypedLogin,
} from "./last-sign-in.ts";
import { type PendingPassword, askNewPassword, makeNewPasswordRouter } from "./new-password/platform.ts";
import { renderLoginPage, renderWaitingPage } from "./pages/index.ts";

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
  if (check.mustChange && (await findNextStep(deps, check.personId)) !== "confirm")
    await askNewPassword(request, check);
  else await goOn(request, { ...check, isShared });
}

/** Continues after a right password that need not be replaced. */
async function goOn(request: PageRequest, check: RightPassword): Promise<void> {
  const { personId, generation, isShared, mustChange, method } = check;
  if (method !== undefined) keepConfirmed(request, personId);
  const person = { personId, generation, amr: passwordAnd(method), mustChange, isShared };
  await enterPlatform(request, person, returnPathOf(request));
}

const stepsOf = (request: PageRequest) => ({
  action: addressOf(request, signInPath),
  cancel: null,
  csrf: makeFormToken(request, signInPath),
});

async function showLogin(request: PageRequest, problem: LoginProblem, typed?: TypedLogin): Promise<void> {
  const steps = stepsOf(request);
  const { again, other } = request.req.query;
  const kept = again === undefined ? {} : { again: "" };
  const page = {
    app: null,
    steps,
    problem,
    schoolSearch: addressWith(schoolSearchPath, addressOf(request, signInPath)),
  };
  const model = describeBrowser(request, await readKnownBrowser(request, schoolOf(problem)), {
    typed,
    other: addressOf(request, signInPath, { ...kept, other: "" }),
    upstream: addressOf(request, beginPath, { ...kept, ...(other !== undefined && { other: "" }) }),
    problem,
  });
  const context = contextOf(request, signInPath);
  // The buttons of these logins lead to them.
  const leaving = model.ways === null ? context : { ...context, formTargets: formTargetsOf(request.deps) };
  sendPage(request, renderLoginPage({ ...page, ...model }, leaving));
}

function showWaiting(request: PageRequest, { waiting, retryAfterSeconds }: WaitingLogin): void {
  const context = { ...contextOf(request, signInPath), languageUrl: null };
  sendPage(request, renderWaitingPage({ waiting, retryAfterSeconds, app: null, steps: stepsOf(request) }, context));
}
