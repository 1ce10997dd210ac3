import { findSignOnRight } from "../../../access/index.ts";
import { hasSecondFactor, withSecondFactor } from "../../../accounts/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import { forgetSchool, rememberConsent, rememberSchool } from "../../protocol/consent.ts";
import { addReply, type Reply } from "../../protocol/provider/library.ts";
import { describeRefusal, secondFactorPrompt } from "../../protocol/provider/policy.ts";
import { withoutRefused } from "../../protocol/scopes.ts";
import { askNewPassword, chooseNewPassword, logIn, readPending } from "../steps.ts";
import { asksToSwitch, leaveSession, resume } from "../complete-sign-in.ts";
import { noteAnotherPerson } from "../last-sign-in.ts";
import {
  fieldOf,
  redirect,
  requestIdOf,
  sendPage,
  sessionOf,
  onPage,
  type PageRequest,
  readForm,
} from "../page-request.ts";
import { checkAnswer } from "../second-factor/confirm.ts";
import { beginUpstream, wishesOf } from "../upstream/begin.ts";
import { mayStay, renderSecondFactor, renderVisit, type Visit, isOwnForm, openVisit } from "./show.ts";
import { Router } from "express";
import { errors } from "oidc-provider";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { rememberWaiting, rememberApp, findWayToApp } from "../waiting-app.ts";
import { readLocale, type PageContext } from "../../../platform/pages/index.ts";
import { findSignedIn } from "../../protocol/signed-in.ts";
import { renderErrorPage, renderSignedInPage, type ErrorModel } from "../pages/index.ts";

type Step = (visit: Visit) => Promise<void>;

/** Sends the person to the login that their school has elsewhere. */
const useUpstream: Step = (visit) =>
  beginUpstream(visit, { to: { interaction: visit.interaction.uid }, ...wishesOf(visit.interaction) });

/** Adds the reply to those of earlier prompts, and lets the library continue. */
async function finish(visit: Visit, reply: Reply): Promise<void> {
  const { interaction } = visit;
  addReply(interaction, "error" in reply ? reply : { ...interaction.lastSubmission, ...reply });
  await resume(visit, interaction);
}

/** Continues as the person who is signed in, although the app hinted at another. */
const stay: Step = async (visit) => {
  if (visit.personId === null || !asksToSwitch(visit.interaction) || !mayStay(visit)) return showAgain(visit);
  await finish(visit, { hint: { answered: true } });
};

const allow: Step = async (visit) => {
  const { deps, personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "consent") return showAgain(visit);
  const at = deps.clock();
  const right = await findSignOnRight(deps.db.pool, { personId, clientId }, at);
  const shownScopes = fieldOf(visit, "shown").split(" ");
  const scopes = withoutRefused(right, visit.scopes).filter((scope) => shownScopes.includes(scope));
  const audit = {
    at,
    action: "consent_given" as const,
    personId,
    clientId,
    requestId: requestIdOf(visit),
    detail: { scopes },
  };
  await withPrismaTransaction(deps.db, async (tx) => {
    await rememberConsent(tx, { personId, clientId, scopes, at });
    await recordAudit(tx, audit);
  });
  await finish(visit, { consent: {} });
};

const chooseSchool: Step = async (visit) => {
  const { deps, personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "choose_school") return showAgain(visit);
  const right = await findSignOnRight(deps.db.pool, { personId, clientId }, deps.clock());
  const schoolId = fieldOf(visit, "schoolId");
  const school = right.kind === "allowed" ? right.schools.find(({ id }) => id === schoolId) : undefined;
  if (!school) return showAgain(visit);
  await rememberSchool(deps.db.pool, { personId, clientId, schoolId: school.id });
  await finish(visit, { choose_school: { schoolId: school.id } });
};

/** Forgets the school that was chosen. The same interaction then asks for one. */
const chooseOtherSchool: Step = async (visit) => {
  const { deps, personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "consent") return showAgain(visit);
  await forgetSchool(deps.db.pool, { personId, clientId });
  await finish(visit, {});
};

/** Checks the second factor, unless the session has got one meanwhile. */
const proveSecondFactor: Step = async (visit) => {
  if (fieldOf(visit, "pending") !== "") return proveBeforeNewPassword(visit);
  const { personId, interaction, browser } = visit;
  if (personId === null || interaction.prompt.name !== secondFactorPrompt) return showAgain(visit);
  const session = await sessionOf(visit);
  if (session.accountId === personId && hasSecondFactor(session.amr)) return finish(visit, { second_factor: {} });
  const check = await checkAnswer(visit, { personId, browser });
  if (check.kind !== "ok") return sendPage(visit, await renderSecondFactor(visit, { problem: check }));
  const context = session.acr === undefined ? {} : { acr: session.acr };
  const amr = withSecondFactor(session.amr, check.method);
  const ts = session.loginTs ?? 0;
  await finish(visit, { login: { accountId: personId, remember: false, amr, ts, ...context } });
};

/** Checks the second factor of a person without a session, who has to replace their password. */
async function proveBeforeNewPassword(visit: Visit): Promise<void> {
  const person = readPending(visit);
  if (person === null) return visit.startAgain();
  const { personId } = person;
  const check = await checkAnswer(visit, { personId, browser: visit.browser });
  if (check.kind === "ok") return askNewPassword(visit, { ...person, method: check.method });
  const before = { personId, pending: fieldOf(visit, "pending") };
  sendPage(visit, await renderSecondFactor(visit, { problem: check, before }));
}

/** Signs the person out. The same interaction then asks for another person. */
const switchUser: Step = async (visit) => {
  await leaveSession(visit, { unlessOf: null, interaction: visit.interaction });
  noteAnotherPerson(visit);
  redirect(visit, `/interaction/${visit.interaction.uid}`);
};

const cancel: Step = async (visit) => {
  const { deps, personId, clientId, interaction } = visit;
  const action = interaction.prompt.name === "consent" ? "consent_denied" : "sign_in_cancelled";
  // Without a person nothing is recorded, because strangers could fill the database.
  if (personId !== null)
    await recordAudit(deps.db, { at: deps.clock(), action, personId, clientId, requestId: requestIdOf(visit) });
  await finish(visit, { error: "access_denied", error_description: describe(interaction.prompt) });
};

const describe = ({ name, details }: Visit["interaction"]["prompt"]): string =>
  name === "refusal" ? describeRefusal(details["reason"]) : "the user cancelled";

const showAgain = async (visit: Visit): Promise<void> => sendPage(visit, await renderVisit(visit));

const stepsByPath: Record<string, Step> = {
  login: logIn,
  upstream: useUpstream,
  consent: allow,
  "new-password": chooseNewPassword,
  "second-factor": proveSecondFactor,
  school: chooseSchool,
  "other-school": chooseOtherSchool,
  stay: stay,
  switch: switchUser,
  cancel: cancel,
};

export function makeInteractionRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get("/interaction/:uid", onPage(deps, show));
  router.post("/interaction/:uid/:step", readForm, (req, res, next) => {
    const step = Object.hasOwn(stepsByPath, req.params.step) ? stepsByPath[req.params.step] : undefined;
    return step ? take({ deps, req, res }, step) : next();
  });
  return router;
}

async function show(request: PageRequest): Promise<void> {
  const visit = await openVisit(request);
  if (!visit) return showOver(request);
  rememberApp(visit, visit.clientId);
  rememberWaiting(visit, visit.interaction, visit.context.formTargets);
  sendPage(visit, await renderVisit(visit));
}

async function take(request: PageRequest, step: Step): Promise<void> {
  const visit = await openVisit(request);
  if (!visit) return showOver(request);
  if (isOwnForm(visit, fieldOf(visit, "csrf"))) await runStep(visit, step);
  else if (step === logIn) await visit.startAgain();
  else sendError(visit, { reason: "forged", status: 403, again: `/interaction/${visit.interaction.uid}` });
}

/** Shows that the sign-on is over if it ended while the step ran. */
async function runStep(visit: Visit, step: Step): Promise<void> {
  try {
    await step(visit);
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    await showOver(visit);
  }
}

const retryParameter = "cookies";

/**
 * Answers for a sign-on that is over, or whose cookies the browser did not send. A browser without any cookie is
 * redirected once with a cookie first, because only then it is known whether it takes one.
 */
async function showOver(request: PageRequest): Promise<void> {
  const { deps, req, res } = request;
  if (req.headers.cookie === undefined) {
    if (retryParameter in req.query) return sendError(request, { reason: "no_cookies", status: 400 });
    res.cookie("_cookies", "1", { httpOnly: true, sameSite: "lax", secure: req.secure });
    return redirect(request, `${pathOf(request)}?${retryParameter}`);
  }
  const signedIn = await findSignedIn(deps, req, res);
  const app = await findWayToApp(request, signedIn?.personId ?? null);
  if (signedIn === null) return sendError(request, { reason: "expired", status: 400, app });
  const personName = await deps.findPersonName(signedIn.personId);
  const status = req.method === "GET" ? 200 : 409;
  sendPage(request, renderSignedInPage({ status, personName, app }, contextOf(request)));
}

const sendError = (request: PageRequest, error: Omit<ErrorModel, "requestId">): void =>
  sendPage(request, renderErrorPage({ ...error, requestId: requestIdOf(request) ?? null }, contextOf(request)));

/** The page of the sign-on, also for the form of one of its steps. */
const pathOf = ({ req }: PageRequest): string => `/interaction/${encodeURIComponent(String(req.params["uid"]))}`;

const contextOf = (request: PageRequest): PageContext => ({
  locale: readLocale(request.req),
  languageUrl: (locale) => `${pathOf(request)}?lang=${locale}`,
});
