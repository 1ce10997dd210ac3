import type { Request, Response } from "express";
import { findSignOnRight } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import { rememberConsent, rememberSchool } from "../../protocol/consent.ts";
import { forgetLastPerson, keepLastSignIn, readLastSignIn } from "../last-sign-in.ts";
import { endSession } from "../../protocol/logout/end-session.ts";
import { readPending, sealPending, takeNewPassword } from "../new-password/pending.ts";
import { forgetSession } from "../../protocol/provider/library.ts";
import { describeRefusal, secondFactorPrompt } from "../../protocol/provider/policy.ts";
import { checkAnswer } from "../second-factor/ask.ts";
import {
  hasSecondFactor,
  hasSecondFactors,
  passwordAlone,
  withSecondFactor,
  type SecondMethod,
} from "../../../accounts/index.ts";
import { withoutRefused } from "../../protocol/staff-scopes.ts";
import { sharedDevice } from "../../protocol/shared-device.ts";
import { signingIn } from "../../protocol/storage/signing-in.ts";
import { takeTyped } from "../waiting-sign-in.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { readDevice, rememberDevice } from "../device.ts";
import { fieldOf, findMissing, sendPage } from "../form.ts";
import {
  asksToSwitch,
  mayStay,
  renderLogin,
  renderNewPassword,
  renderSecondFactor,
  renderVisit,
  renderWaiting,
} from "./show.ts";
import type { Visit } from "./show.ts";

/** Handles a form of the interaction. */
export type Step = (deps: InteractionDeps, visit: Visit, req: Request, res: Response) => Promise<void>;

type Answer = Parameters<Step>;

export const logIn: Step = async (deps, visit, req, res) => {
  if (fieldOf(req, "forget") !== "") {
    forgetLastPerson(deps, req, res);
    return res.redirect(303, `/interaction/${visit.interaction.uid}`);
  }
  const typed = await takeTyped(deps, req, visit.browser);
  if (typed === null) return sendPage(res, await renderLogin(deps, visit, req, res, { kind: "expired_form" }));
  const { username, password, isShared, turnAt } = typed;
  const missing = findMissing({ username, password });
  if (missing.length > 0)
    return sendPage(res, await renderLogin(deps, visit, req, res, { kind: "missing", fields: missing }, typed));
  const device = readDevice(deps, req, res);
  const tried = { username, password, address: req.ip ?? "", device, now: deps.clock(), turnAt };
  const check = await deps.checkPassword(tried);
  if (check.kind === "busy") return sendPage(res, renderWaiting(deps, visit, req, { ...check, typed }));
  if (check.kind !== "ok") return sendPage(res, await renderLogin(deps, visit, req, res, check, typed));

  rememberDevice(deps, req, res, check.device);
  await keepLastSignIn(deps, req, res, { personId: check.personId, isShared });
  if (check.mustChange) {
    const { personId, generation } = check;
    const pending = sealPending(deps, { personId, generation, browser: visit.browser });
    // The second factor comes first, so that the password alone does not get the owner locked out.
    if (await hasSecondFactors(deps.db, personId))
      return sendPage(
        res,
        await renderSecondFactor(deps, visit, req, { problem: null, before: { personId, pending } }),
      );
    return sendPage(res, renderNewPassword(deps, visit, req, { pending, problem: null }));
  }
  await finishLogin(deps, visit, req, res, { ...check, isShared });
};

/** Takes the password that a person chose in place of the one that was made for them. */
export const chooseNewPassword: Step = async (deps, visit, req, res) => {
  const taken = await takeNewPassword(deps, req, res, visit.browser);
  if (taken.kind === "expired")
    return sendPage(res, await renderLogin(deps, visit, req, res, { kind: "expired_form" }));
  if (taken.kind === "done") {
    const { isShared } = readLastSignIn(deps, req, res);
    return finishLogin(deps, visit, req, res, { ...taken, isShared });
  }
  const problem = { kind: taken.fault };
  sendPage(res, renderNewPassword(deps, visit, req, { pending: taken.pending, problem }));
};

type RightPassword = { personId: PersonId; generation: number; isShared: boolean; method?: SecondMethod };

async function finishLogin(...[deps, visit, req, res, check]: [...Answer, RightPassword]): Promise<void> {
  await leaveOtherSession(deps, visit, req, res, check.personId);
  const context = check.isShared ? { acr: sharedDevice } : {};
  const amr = check.method === undefined ? [...passwordAlone] : withSecondFactor(check.method);
  const login = { accountId: check.personId, remember: false, amr, ...context };
  const result = asksToSwitch(visit) ? { login, hint: { answered: true } } : { login };
  await signingIn(check, () =>
    deps.provider().interactionFinished(req, res, result, { mergeWithLastSubmission: false }),
  );
}

/** Continues as the person who is signed in, whom the app did not name. */
export const stay: Step = async (deps, visit, req, res) => {
  if (visit.personId === null || !asksToSwitch(visit) || !mayStay(visit)) return showAgain(deps, visit, req, res);
  await deps.provider().interactionFinished(req, res, { hint: { answered: true } });
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
  await deps.provider().interactionFinished(req, res, { consent: {} });
};

export const chooseSchool: Step = async (deps, visit, req, res) => {
  const { personId, clientId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "choose_school") return showAgain(deps, visit, req, res);
  const right = await findSignOnRight(deps.db.pool, { personId, clientId }, deps.clock());
  const school = right.kind === "allowed" ? right.schools.find(({ id }) => id === fieldOf(req, "schoolId")) : undefined;
  if (!school) return showAgain(deps, visit, req, res);
  await rememberSchool(deps.db.pool, { personId, clientId, schoolId: school.id });
  await deps.provider().interactionFinished(req, res, { choose_school: { schoolId: school.id } });
};

/** Takes the second factor, or goes on where the session has got one meanwhile. */
export const proveSecondFactor: Step = async (deps, visit, req, res) => {
  if (fieldOf(req, "pending") !== "") return proveBeforeNewPassword(deps, visit, req, res);
  const { personId, interaction } = visit;
  if (personId === null || interaction.prompt.name !== secondFactorPrompt) return showAgain(deps, visit, req, res);
  const session = await deps.provider().Session.get(deps.provider().createContext(req, res));
  if (session.accountId === personId && hasSecondFactor(session.amr))
    return deps.provider().interactionFinished(req, res, { second_factor: {} });
  const check = await checkAnswer(deps, req, res, { personId, browser: visit.browser });
  if (check.kind !== "ok") return sendPage(res, await renderSecondFactor(deps, visit, req, { problem: check }));
  const context = session.acr === undefined ? {} : { acr: session.acr };
  const login = { accountId: personId, remember: false, amr: withSecondFactor(check.method), ...context };
  await deps.provider().interactionFinished(req, res, { login });
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
  await leaveOtherSession(deps, visit, req, res, null);
  res.redirect(303, `/interaction/${visit.interaction.uid}`);
};

export const cancel: Step = async (deps, visit, req, res) => {
  const { personId, clientId, interaction } = visit;
  const action = interaction.prompt.name === "consent" ? "consent_denied" : "sign_in_cancelled";
  // Without a person there is nothing to record, and strangers could fill the database with it.
  if (personId !== null)
    await recordAudit(deps.db, { at: deps.clock(), action, personId, clientId, requestId: requestIdOf(res) });
  const denial = { error: "access_denied", error_description: describe(interaction.prompt) };
  await deps.provider().interactionFinished(req, res, denial, { mergeWithLastSubmission: false });
};

const describe = ({ name, details }: Visit["interaction"]["prompt"]): string =>
  name === "refusal" ? describeRefusal(details["reason"]) : "the user cancelled";

async function showAgain(...[deps, visit, req, res]: Answer): Promise<void> {
  sendPage(res, await renderVisit(deps, visit, req, res));
}

/**
 * Ends the session of the browser, unless it belongs to the person who continues. The library would send the browser
 * through a form that a script posts.
 */
export async function leaveOtherSession(
  deps: InteractionDeps,
  { interaction }: Pick<Visit, "interaction">,
  req: Request,
  res: Response,
  goesOn: string | null,
): Promise<void> {
  const provider = deps.provider();
  const session = await provider.Session.get(provider.createContext(req, res));
  if (session.accountId === undefined || session.accountId === goesOn) return;
  await forgetSession(interaction);
  await endSession(deps.db, { uid: session.uid, at: deps.clock(), requestId: requestIdOf(res) });
}

const requestIdOf = (res: Answer[3]): string | undefined => res.locals["requestId"] as string | undefined;
