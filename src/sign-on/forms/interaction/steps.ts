import type { Request, Response } from "express";
import { findSignOnRight } from "../../../access/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import { rememberConsent, rememberSchool } from "../../protocol/consent.ts";
import { forgetLastPerson, keepLastSignIn } from "../last-sign-in.ts";
import { readPending, sealPending, takeNewPassword } from "../new-password/pending.ts";
import { answerInteraction } from "../../protocol/provider/library.ts";
import { describeRefusal, secondFactorPrompt } from "../../protocol/provider/policy.ts";
import { checkAnswer } from "../second-factor/ask.ts";
import { hasSecondFactor, hasSecondFactors, passwordAlone, passwordAnd } from "../../../accounts/index.ts";
import { withoutRefused } from "../../protocol/staff-scopes.ts";
import { asksToForget, checkLogin } from "../check-login.ts";
import { asksToSwitch, leaveSession, signIn } from "../complete-sign-in.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { rememberDevice } from "../device.ts";
import { fieldOf, sendPage } from "../form.ts";
import { mayStay, renderLogin, renderNewPassword, renderSecondFactor, renderVisit, renderWaiting } from "./show.ts";
import type { Visit } from "./show.ts";

/** Handles a form of the interaction. */
export type Step = (deps: InteractionDeps, visit: Visit, req: Request, res: Response) => Promise<void>;

type Answer = Parameters<Step>;

export const logIn: Step = async (deps, visit, req, res) => {
  if (asksToForget(req)) {
    forgetLastPerson(deps, req, res);
    return res.redirect(303, `/interaction/${visit.interaction.uid}`);
  }
  const login = await checkLogin(deps, req, res, visit.browser);
  if (login.kind === "busy") return sendPage(res, renderWaiting(deps, visit, req, login));
  if (login.kind === "problem")
    return sendPage(res, await renderLogin(deps, visit, req, res, login.problem, login.typed));
  const { check, isShared } = login;
  const { personId, generation } = check;
  rememberDevice(deps, req, res, check.device);
  keepLastSignIn(deps, req, res, { ...check, isShared });
  if (!check.mustChange)
    return signIn(deps, req, res, { personId, generation, amr: passwordAlone, isShared }, visit.interaction);
  const pending = sealPending(deps, { personId, generation, browser: visit.browser });
  // The second factor comes first, so that the password alone does not get the owner locked out.
  const page = (await hasSecondFactors(deps.db, personId))
    ? await renderSecondFactor(deps, visit, req, { problem: null, before: { personId, pending } })
    : renderNewPassword(deps, visit, req, { pending, problem: null });
  sendPage(res, page);
};

/** Takes the password that a person chose in place of the one that was made for them. */
export const chooseNewPassword: Step = async (deps, visit, req, res) => {
  const taken = await takeNewPassword(deps, req, res, visit.browser);
  if (taken.kind === "expired")
    return sendPage(res, await renderLogin(deps, visit, req, res, { kind: "expired_form" }));
  if (taken.kind === "done") {
    const { personId, generation, method } = taken;
    return signIn(deps, req, res, { personId, generation, amr: passwordAnd(method) }, visit.interaction);
  }
  const problem = { kind: taken.fault };
  sendPage(res, renderNewPassword(deps, visit, req, { pending: taken.pending, problem }));
};

type Result = Parameters<typeof answerInteraction>[1];

/** Stores the result beside those of earlier prompts, and lets the library go on. */
async function finish({ interaction }: Visit, res: Response, result: Result): Promise<void> {
  const whole = "error" in result ? result : { ...interaction.lastSubmission, ...result };
  res.redirect(303, await answerInteraction(interaction, whole));
}

/** Continues as the person who is signed in, whom the app did not name. */
export const stay: Step = async (deps, visit, req, res) => {
  if (visit.personId === null || !asksToSwitch(visit.interaction) || !mayStay(visit))
    return showAgain(deps, visit, req, res);
  await finish(visit, res, { hint: { answered: true } });
};

export const allow: Step = async (deps, visit, req, res) => {
  const { personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "consent") return showAgain(deps, visit, req, res);
  const at = deps.clock();
  const right = await findSignOnRight(deps.db.pool, { personId, clientId }, at);
  const scopes = withoutRefused(right, visit.scopes);
  await withPrismaTransaction(deps.db, async (tx) => {
    await rememberConsent(tx, { personId, clientId, scopes, at });
    await recordAudit(tx, {
      at,
      action: "consent_given",
      personId,
      clientId,
      requestId: requestIdOf(res),
      detail: { scopes },
    });
  });
  await finish(visit, res, { consent: {} });
};

export const chooseSchool: Step = async (deps, visit, req, res) => {
  const { personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "choose_school") return showAgain(deps, visit, req, res);
  const right = await findSignOnRight(deps.db.pool, { personId, clientId }, deps.clock());
  const school = right.kind === "allowed" ? right.schools.find(({ id }) => id === fieldOf(req, "schoolId")) : undefined;
  if (!school) return showAgain(deps, visit, req, res);
  await rememberSchool(deps.db.pool, { personId, clientId, schoolId: school.id });
  await finish(visit, res, { choose_school: { schoolId: school.id } });
};

/** Takes the second factor, or goes on where the session has got one meanwhile. */
export const proveSecondFactor: Step = async (deps, visit, req, res) => {
  if (fieldOf(req, "pending") !== "") return proveBeforeNewPassword(deps, visit, req, res);
  const { personId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== secondFactorPrompt) return showAgain(deps, visit, req, res);
  const session = await deps.provider().Session.get(deps.provider().createContext(req, res));
  if (session.accountId === personId && hasSecondFactor(session.amr)) return finish(visit, res, { second_factor: {} });
  const check = await checkAnswer(deps, req, res, { personId, browser: visit.browser });
  if (check.kind !== "ok") return sendPage(res, await renderSecondFactor(deps, visit, req, { problem: check }));
  const context = session.acr === undefined ? {} : { acr: session.acr };
  const login = { accountId: personId, remember: false, amr: passwordAnd(check.method), ...context };
  await finish(visit, res, { login });
};

/** Takes the second factor of a person who has no session yet, because their password is to be replaced. */
async function proveBeforeNewPassword(...[deps, visit, req, res]: Answer): Promise<void> {
  const { browser } = visit;
  const pending = readPending(deps, req, browser);
  if (pending === null) return sendPage(res, await renderLogin(deps, visit, req, res, { kind: "expired_form" }));
  const { personId } = pending;
  const check = await checkAnswer(deps, req, res, { personId, browser });
  if (check.kind !== "ok") {
    const before = { personId, pending: fieldOf(req, "pending") };
    return sendPage(res, await renderSecondFactor(deps, visit, req, { problem: check, before }));
  }
  const proved = sealPending(deps, { ...pending, method: check.method });
  sendPage(res, renderNewPassword(deps, visit, req, { pending: proved, problem: null }));
}

/** Signs the person out. The same interaction then asks for another person. */
export const switchUser: Step = async (deps, visit, req, res) => {
  await leaveSession(deps, req, res, { unlessOf: null, interaction: visit.interaction });
  res.redirect(303, `/interaction/${visit.interaction.uid}`);
};

export const cancel: Step = async (deps, visit, _req, res) => {
  const { personId, clientId, interaction } = visit;
  const action = interaction.prompt.name === "consent" ? "consent_denied" : "sign_in_cancelled";
  // Without a person there is nothing to record, and strangers could fill the database with it.
  if (personId !== null)
    await recordAudit(deps.db, { at: deps.clock(), action, personId, clientId, requestId: requestIdOf(res) });
  const denial = { error: "access_denied", error_description: describe(interaction.prompt) };
  await finish(visit, res, denial);
};

const describe = ({ name, details }: Visit["interaction"]["prompt"]): string =>
  name === "refusal" ? describeRefusal(details["reason"]) : "the user cancelled";

async function showAgain(...[deps, visit, req, res]: Answer): Promise<void> {
  sendPage(res, await renderVisit(deps, visit, req, res));
}

const requestIdOf = (res: Answer[3]): string | undefined => res.locals["requestId"] as string | undefined;
