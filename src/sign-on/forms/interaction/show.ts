import {
  attributesLacking,
  type App,
  claimsAt,
  type ClientId,
  findSignOnRight,
  findSubject,
  scopeFromWire,
  type ScopeName,
  type SignOnRight,
  type Subject,
  type WithheldItem,
} from "../../../access/index.ts";
import { findPasswordRule, hasSecondFactors, makePseudonym } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { type Page, readLocale } from "../../../platform/pages/index.ts";
import { listDecisions } from "../../protocol/consent.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findInteraction } from "../waiting-app.ts";
import type { ClaimsForApp } from "../../protocol/provider/account.ts";
import { mayOverrule, secondFactorPrompt } from "../../protocol/provider/policy.ts";
import { type Interaction, readInteractionId, readInteractionSignature } from "../../protocol/provider/library.ts";
import { withoutRefused } from "../../protocol/scopes.ts";
import { readHintedSchool, readTypedHint } from "../../protocol/login-hint.ts";
import { schoolOf, type LoginProblem, type WaitingLogin } from "../login-form.ts";
import { asksToSwitch } from "../complete-sign-in.ts";
import {
  checkCsrfToken,
  makeCsrfToken,
  formTargetsOf,
  cookiesOf,
  type PageRequest,
  addressWith,
  setUpPath,
  schoolSearchPath,
} from "../page-request.ts";
import { describeBrowser, readKnownBrowser, type TypedLogin } from "../last-sign-in.ts";
import {
  renderChooseSchoolPage,
  renderConsentPage,
  renderLoginPage,
  renderNewPasswordPage,
  renderRefusalPage,
  renderSecondFactorPage,
  renderSetUpNeededPage,
  renderSwitchUserPage,
  renderWaitingPage,
  type LeavingContext,
  type NewPasswordModel,
  type SecondFactorModel,
} from "../pages/index.ts";
import { askSecondFactor } from "../second-factor/confirm.ts";

/** A request to the pages of an interaction, with what they need. */
export type Visit = PageRequest & {
  interaction: Interaction;
  app: App;
  logoPath: string | null;
  clientId: ClientId;
  /** The person who is signed in; null before that. */
  personId: PersonId | null;
  scopes: ScopeName[];
  browser: string;
  /** The user name that the app sent. */
  typedHint: string;
};

export async function openVisit(request: PageRequest): Promise<Visit | null> {
  const { deps, req } = request;
  const cookies = cookiesOf(request);
  const id = readInteractionId(deps.provider(), cookies);
  const found = id === null || id !== req.params["uid"] ? null : await findInteraction(request, id);
  if (found === null || found.app === null) return null;
  const { interaction, app, logoPath } = found;
  const requested = ((interaction.params["scope"] as string | undefined) ?? "").split(" ");
  return {
    ...request,
    interaction,
    app,
    logoPath,
    clientId: app.clientId,
    personId: (interaction.session?.accountId ?? null) as PersonId | null,
    scopes: [...new Set(requested.map((scope) => scopeFromWire(scope)).filter((scope) => scope !== null))],
    browser: readInteractionSignature(deps.provider(), cookies),
    typedHint: readTypedHint(cookies),
  };
}

const boundOf = ({ interaction, browser }: Visit) => ({ interaction: interaction.uid, browser });

export const isOwnForm = (visit: Visit, presented: unknown): boolean =>
  visit.browser !== "" && checkCsrfToken(visit.deps.secrets.csrf, boundOf(visit), presented);

export async function renderVisit(visit: Visit): Promise<Page> {
  const { deps, app, personId, scopes, clientId } = visit;
  const { prompt } = visit.interaction;
  if (personId === null || (prompt.name === "login" && !asksToSwitch(visit.interaction)))
    return renderLogin(visit, null);
  const context = contextOf(visit);
  const personName = await deps.findPersonName(personId);
  const model = (action: string) => ({ app: { name: app.name }, personName, steps: stepsOf(visit, action) });

  if (prompt.name === "login") {
    const stay = mayStay(visit) ? stepsOf(visit, "stay").action : null;
    return renderSwitchUserPage({ ...model("switch"), stay }, context);
  }
  if (prompt.name === secondFactorPrompt) return renderSecondFactor(visit, { problem: null });
  const pair = { clientId, personId };
  const subject = prompt.name === "consent" ? await findSubject(deps.db.pool, pair) : null;
  // Read after the subject: a person who was deleted meanwhile is refused.
  const right = await findSignOnRight(deps.db.pool, pair, deps.clock());
  if (subject !== null) {
    const claims = await makeClaims(deps, { ...pair, right, subject });
    const isWithheld = (name: WithheldItem) => subject.withheld?.includes(name) === true;
    const offered = withoutRefused(right, scopes).filter((name) => !isWithheld(name));
    const withheld = attributesLacking(subject, { attributes: app.attributes, school: claims.school });
    const switchUser = stepsOf(visit, "switch").action;
    const choosesSchool = right.kind === "allowed" && right.schools.length > 1 && scopes.includes("school");
    const otherSchool = choosesSchool ? stepsOf(visit, "other-school").action : null;
    const page = { ...model("consent"), scopes: offered, claims, withheld, otherSchool, switchUser };
    return renderConsentPage(page, context);
  }
  if (right.kind === "refused") return renderRefusalPage({ ...model("switch"), reason: right.reason }, context);
  return renderChooseSchoolPage({ ...model("school"), schools: right.schools }, context);
}

/** The claims that the app would get: of the chosen school, or of the only one. */
async function makeClaims(
  { db: { pool }, secrets }: InteractionDeps,
  { right, subject, ...pair }: { clientId: ClientId; personId: PersonId; right: SignOnRight; subject: Subject },
): Promise<ClaimsForApp> {
  const [past] = await listDecisions(pool, [pair]);
  const schools = right.kind === "allowed" ? right.schools : [];
  const school = schools.length === 1 ? schools[0] : schools.find(({ id }) => id === past?.schoolId);
  const pseudonym = makePseudonym(secrets.pseudonyms, pair);
  return { ...claimsAt(subject, school?.id ?? null), pseudonym };
}

/**
 * Asks for the second factor, or lets the person set one up first. `before` is a person without a session, who chooses
 * a password after it.
 */
export async function renderSecondFactor(
  visit: Visit,
  { problem, before }: { problem: SecondFactorModel["problem"]; before?: { personId: PersonId; pending: string } },
): Promise<Page> {
  const { deps, interaction, browser } = visit;
  const personId = before?.personId ?? visit.personId;
  const context = contextOf(visit);
  const model = { app: { name: visit.app.name }, steps: stepsOf(visit, "second-factor") };
  if (personId === null || !(await hasSecondFactors(deps.db, personId))) {
    const setUp = addressWith(setUpPath, `/interaction/${interaction.uid}`);
    return renderSetUpNeededPage({ ...model, setUp }, context);
  }
  const question = await askSecondFactor(deps, { personId, browser });
  return renderSecondFactorPage({ ...model, problem, pending: before?.pending ?? null, ...question }, context);
}

export async function renderNewPassword(
  visit: Visit,
  { personId, ...asked }: Pick<NewPasswordModel, "pending" | "problem"> & { personId: PersonId },
): Promise<Page> {
  const { shortest } = await findPasswordRule(visit.deps.db, personId, visit.deps.clock());
  const { action, csrf } = stepsOf(visit, "new-password");
  return renderNewPasswordPage({ ...asked, shortest, action, csrf, asksCurrent: false, back: null }, contextOf(visit));
}

/** Whether the person may continue although the app hinted at another: anyone can write such a hint. */
export const mayStay = ({ interaction }: Visit): boolean =>
  interaction.prompt.reasons.every((reason) => reason === "login_hint") && mayOverrule(interaction.params);

export async function renderLogin(visit: Visit, problem: LoginProblem, typed?: TypedLogin): Promise<Page> {
  const { deps, app, logoPath, typedHint, interaction } = visit;
  const hintedSchool = readHintedSchool(cookiesOf(visit), deps.secrets.lastSignIn);
  const known = await readKnownBrowser(visit, schoolOf(problem) ?? hintedSchool);
  const hinted = typedHint === "" ? undefined : { username: typedHint, isShared: known.isShared };
  const model = describeBrowser(visit, known, {
    typed: typed ?? hinted,
    other: `/interaction/${interaction.uid}?other`,
    upstream: `${stepsOf(visit, "upstream").action}${visit.req.query["other"] === undefined ? "" : "?other"}`,
    problem,
  });
  const steps = stepsOf(visit, "login");
  const schoolSearch = addressWith(schoolSearchPath, `/interaction/${interaction.uid}`);
  const page = { app: { name: app.name, logoPath }, steps, problem, schoolSearch, ...model };
  return renderLoginPage(page, contextOf(visit));
}

/** Counts down to the turn of a person whose password could not be checked at once, and continues then. */
export function renderWaiting(visit: Visit, { waiting, retryAfterSeconds }: WaitingLogin): Page {
  const model = { app: { name: visit.app.name }, steps: stepsOf(visit, "login"), waiting, retryAfterSeconds };
  return renderWaitingPage(model, { ...contextOf(visit), languageUrl: null });
}

function stepsOf(visit: Visit, action: string) {
  const to = (step: string) => `/interaction/${visit.interaction.uid}/${step}`;
  return { action: to(action), cancel: to("cancel"), csrf: makeCsrfToken(visit.deps.secrets.csrf, boundOf(visit)) };
}

export const targetsOf = ({ deps: { issuerUrl }, interaction, app }: Visit): string[] =>
  formTargetsOf({ issuerUrl, to: String(interaction.params["redirect_uri"]), app });

function contextOf(visit: Visit): LeavingContext {
  const { interaction, req } = visit;
  const uiLocales = interaction.params["ui_locales"];
  return {
    locale: readLocale(req, typeof uiLocales === "string" ? uiLocales : undefined),
    languageUrl: (locale) => `/interaction/${interaction.uid}?lang=${locale}`,
    formTargets: targetsOf(visit),
  };
}
