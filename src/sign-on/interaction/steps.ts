import { findSignOnRight } from "../../access/index.ts";
import { recordAudit } from "../../events/index.ts";
import { withPrismaTransaction } from "../../platform/db.ts";
import { rememberConsent, rememberSchool } from "../consent.ts";
import { endSession } from "../logout/end-session.ts";
import { forgetSession } from "../provider/library.ts";
import { describeRefusal } from "../provider/policy.ts";
import { signingIn } from "../storage/signing-in.ts";
import { readDevice, rememberDevice } from "./device.ts";
import { fieldOf, sendPage, type Step } from "./step.ts";
import { asksToSwitch, mayStay, renderLogin, renderVisit, type Visit } from "./show.ts";

type Answer = Parameters<Step>;

export const logIn: Step = async (deps, visit, req, res) => {
  const [username, password] = [fieldOf(req, "username"), fieldOf(req, "password")];
  const missing = (["username", "password"] as const).filter((name) => fieldOf(req, name) === "");
  if (missing.length > 0)
    return sendPage(res, renderLogin(deps, visit, req, { kind: "missing", fields: missing }, username));
  const device = readDevice(deps, req, res);
  const check = await deps.checkPassword({ username, password, address: req.ip ?? "", device, now: deps.clock() });
  if (check.kind !== "ok") return sendPage(res, renderLogin(deps, visit, req, check, username));

  rememberDevice(deps, req, res, check.device);
  await leaveOtherSession(deps, visit, req, res, check.personId);
  const login = { accountId: check.personId, remember: false };
  const result = asksToSwitch(visit) ? { login, hint: { answered: true } } : { login };
  await signingIn(check, () =>
    deps.provider().interactionFinished(req, res, result, { mergeWithLastSubmission: false }),
  );
};

/** Continues as the person who is signed in, whom the app did not name. */
export const stay: Step = async (deps, visit, req, res) => {
  if (visit.personId === null || !asksToSwitch(visit) || !mayStay(visit)) return showAgain(deps, visit, req, res);
  await deps.provider().interactionFinished(req, res, { hint: { answered: true } });
};

export const allow: Step = async (deps, visit, req, res) => {
  const { personId, clientId, scopes, interaction } = visit;
  if (personId === null || interaction.prompt.name !== "consent") return showAgain(deps, visit, req, res);
  const at = deps.clock();
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
  const right = await findSignOnRight(deps.db.pool, { personId, clientId });
  const school = right.kind === "allowed" ? right.schools.find(({ id }) => id === fieldOf(req, "schoolId")) : undefined;
  if (!school) return showAgain(deps, visit, req, res);
  await rememberSchool(deps.db.pool, { personId, clientId, schoolId: school.id });
  await deps.provider().interactionFinished(req, res, { choose_school: { schoolId: school.id } });
};

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
  sendPage(res, await renderVisit(deps, visit, req));
}

// Ends the session of the browser, unless it belongs to the person who continues. The library would send the browser
// through a form that a script posts.
async function leaveOtherSession(...[deps, visit, req, res, goesOn]: [...Answer, string | null]): Promise<void> {
  const provider = deps.provider();
  const session = await provider.Session.get(provider.createContext(req, res));
  if (session.accountId === undefined || session.accountId === goesOn) return;
  await forgetSession(visit.interaction);
  await endSession(deps.db, { uid: session.uid, at: deps.clock(), requestId: requestIdOf(res) });
}

const requestIdOf = (res: Answer[3]): string | undefined => res.locals["requestId"] as string | undefined;
