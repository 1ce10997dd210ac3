import {
  asksForSchool,
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
import { hasSecondFactors, makePseudonym } from "../../../accounts/index.ts";
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
import { renderLogin, sealPending, type SignOn } from "../steps.ts";
import { asksToSwitch, signIn } from "../complete-sign-in.ts";
import {
  checkCsrfToken,
  makeCsrfToken,
  formTargetsOf,
  cookiesOf,
  type PageRequest,
  sendPage,
  addressWith,
  setUpPath,
} from "../page-request.ts";
import {
  renderChooseSchoolPage,
  renderConsentPage,
  renderRefusalPage,
  renderSecondFactorPage,
  renderSetUpNeededPage,
  renderSwitchUserPage,
  type SecondFactorModel,
  type Steps,
} from "../pages/index.ts";
import { askSecondFactor } from "../second-factor/confirm.ts";

/** The sign-on of an app at one of its prompts. */
export type Visit = SignOn & {
  interaction: Interaction;
  app: App & { logoPath: string | null };
  clientId: ClientId;
  /** The person who is signed in; null before that. */
  personId: PersonId | null;
  scopes: ScopeName[];
  stepsOf(step: string): Steps;
};

export async function openVisit(request: PageRequest): Promise<Visit | null> {
  const { deps, req } = request;
  const cookies = cookiesOf(request);
  const id = readInteractionId(deps.provider(), cookies);
  const waiting = id === null || id !== req.params["uid"] ? null : await findInteraction(request, id);
  if (waiting === null || waiting.app === null) return null;
  const { interaction, app, logoPath } = waiting;
  const { scope: requested = "", ui_locales: uiLocales } = interaction.params as Record<string, unknown>;
  const scopes = String(requested)
    .split(" ")
    .map((scope) => scopeFromWire(scope));
  const browser = readInteractionSignature(deps.provider(), cookies);
  const login = `/interaction/${interaction.uid}`;
  const visit: Visit = {
    ...request,
    interaction,
    app: { ...app, logoPath },
    clientId: app.clientId,
    personId: (interaction.session?.accountId ?? null) as PersonId | null,
    scopes: [...new Set(scopes.filter((scope) => scope !== null))],
    browser,
    addresses: {
      login,
      other: `${login}?other`,
      upstream: `${login}/upstream${req.query["other"] === undefined ? "" : "?other"}`,
    },
    hint: { username: readTypedHint(cookies), schoolId: readHintedSchool(cookies, deps.secrets.lastSignIn) },
    context: {
      locale: readLocale(req, typeof uiLocales === "string" ? uiLocales : undefined),
      languageUrl: (locale) => `${login}?lang=${locale}`,
      formTargets: formTargetsOf({
        issuerUrl: deps.issuerUrl,
        to: String(interaction.params["redirect_uri"]),
        app,
      }),
    },
    stepsOf: (step) => ({
      action: `${login}/${step}`,
      cancel: `${login}/cancel`,
      csrf: makeCsrfToken(deps.secrets.csrf, { interaction: interaction.uid, browser }),
    }),
    // The library asks whether they may once they are signed in.
    findRefusal: async () => null,
    async askSecondFactor(person) {
      const before = { personId: person.personId, pending: sealPending(visit, person) };
      sendPage(visit, await renderSecondFactor(visit, { problem: null, before }));
    },
    startAgain: async () => sendPage(visit, await renderLogin(visit, { kind: "expired_form" })),
    finish: (person) => signIn(visit, person, interaction),
  };
  return visit;
}

export const isOwnForm = ({ browser, deps, interaction }: Visit, presented: unknown): boolean =>
  browser !== "" && checkCsrfToken(deps.secrets.csrf, { interaction: interaction.uid, browser }, presented);

export async function renderVisit(visit: Visit): Promise<Page> {
  const { deps, app, personId, scopes, clientId, context } = visit;
  const { prompt } = visit.interaction;
  if (personId === null || (prompt.name === "login" && !asksToSwitch(visit.interaction)))
    return renderLogin(visit, null);
  const personName = await deps.findPersonName(personId);
  const model = (action: string) => ({ app: { name: app.name }, personName, steps: visit.stepsOf(action) });

  if (prompt.name === "login") {
    const stay = mayStay(visit) ? visit.stepsOf("stay").action : null;
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
    const switchUser = visit.stepsOf("switch").action;
    const choosesSchool = right.kind === "allowed" && right.schools.length > 1 && asksForSchool(scopes);
    const otherSchool = choosesSchool ? visit.stepsOf("other-school").action : null;
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
  return { ...claimsAt(subject, school?.id ?? null), pseudonym: makePseudonym(secrets.pseudonyms, pair) };
}

/** Asks for the second factor, or for its set-up. `before`: no session yet; a new password comes next. */
export async function renderSecondFactor(
  visit: Visit,
  { problem, before }: { problem: SecondFactorModel["problem"]; before?: { personId: PersonId; pending: string } },
): Promise<Page> {
  const { deps, addresses, browser, context } = visit;
  const personId = before?.personId ?? visit.personId;
  const model = { app: { name: visit.app.name }, steps: visit.stepsOf("second-factor") };
  if (personId === null || !(await hasSecondFactors(deps.db, personId))) {
    return renderSetUpNeededPage({ ...model, setUp: addressWith(setUpPath, addresses.login) }, context);
  }
  const question = await askSecondFactor(deps, { personId, browser });
  return renderSecondFactorPage({ ...model, problem, pending: before?.pending ?? null, ...question }, context);
}

/** Whether the person may continue although the app hinted at another: anyone can write such a hint. */
export const mayStay = ({ interaction }: Visit): boolean =>
  interaction.prompt.reasons.every((reason) => reason === "login_hint") && mayOverrule(interaction.params);
