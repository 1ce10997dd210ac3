import type { Request, Response } from "express";
import {
  appAttributes,
  type App,
  claimsAt,
  type ClientId,
  findSignOnRight,
  findSubject,
  scopeFromWire,
  type ScopeName,
  type SignOnRight,
} from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { formTarget, type Page, type PageContext, readLocale } from "../../../platform/pages/index.ts";
import {
  checkCsrfToken,
  makeCsrfToken,
  renderChooseSchoolPage,
  renderConsentPage,
  renderLoginPage,
  renderNewPasswordPage,
  renderRefusalPage,
  renderSecondFactorPage,
  renderSetUpNeededPage,
  renderSwitchUserPage,
  renderWaitingPage,
  type LoginModel,
  type NewPasswordModel,
  type SecondFactorModel,
} from "../pages/index.ts";
import { type KnownBrowser, readKnownBrowser } from "../last-sign-in.ts";
import { listDecisions } from "../../protocol/consent.ts";
import type { ClaimsForApp } from "../../protocol/provider/claims.ts";
import { mayOverrule } from "../../protocol/provider/hints.ts";
import { secondFactorPrompt } from "../../protocol/provider/policy.ts";
import { hasSecondFactors, makePseudonym } from "../../../accounts/index.ts";
import { withoutRefused } from "../../protocol/staff-scopes.ts";
import { askSecondFactor } from "../second-factor/ask.ts";
import { type Interaction, readInteractionSignature } from "../../protocol/provider/library.ts";
import type { LoginProblem } from "../check-login.ts";
import { asksToSwitch } from "../complete-sign-in.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { readOwnInteractionId } from "../../protocol/find-interaction.ts";
import { readHintedSchool, readTypedHint } from "../../protocol/typed-hint.ts";

/** An interaction, with what its pages and steps need. */
export type Visit = {
  interaction: Interaction;
  app: App;
  logoPath: string | null;
  clientId: ClientId;
  /** The person who is signed in; null before that. */
  personId: PersonId | null;
  scopes: ScopeName[];
  browser: string;
  /** The user name that the app wrote into its request. */
  typedHint: string;
};

export async function openVisit(deps: InteractionDeps, req: Request, res: Response): Promise<Visit | null> {
  const id = readOwnInteractionId(deps.provider(), req, res);
  const found = id === null || id !== req.params["uid"] ? null : await deps.findInteraction(id);
  if (found === null || found.app === null) return null;
  const { interaction, app, logoPath } = found;
  const { cookies } = deps.provider().createContext(req, res);
  const asked = ((interaction.params["scope"] as string | undefined) ?? "").split(" ");
  return {
    interaction,
    app,
    logoPath,
    clientId: app.clientId,
    personId: (interaction.session?.accountId ?? null) as PersonId | null,
    scopes: asked.map((scope) => scopeFromWire(deps.platform, scope)).filter((scope) => scope !== null),
    browser: readInteractionSignature(deps.provider(), cookies),
    typedHint: readTypedHint(cookies),
  };
}

const boundOf = ({ interaction, browser }: Visit) => ({ interaction: interaction.uid, browser });

export function isOwnForm(deps: InteractionDeps, visit: Visit, presented: unknown): boolean {
  return visit.browser !== "" && checkCsrfToken(deps.secrets.csrf, boundOf(visit), presented);
}

/** Shows what the person is asked next. */
export async function renderVisit(deps: InteractionDeps, visit: Visit, req: Request, res: Response): Promise<Page> {
  const context = contextOf(visit, req);
  const { app, personId, scopes, clientId } = visit;
  const { prompt } = visit.interaction;
  if (personId === null || (prompt.name === "login" && !asksToSwitch(visit.interaction)))
    return renderLogin(deps, visit, req, res, null);
  const personName = await deps.findPersonName(personId);
  const model = (action: string) => ({ app: { name: app.name }, personName, steps: stepsOf(deps, visit, action) });

  if (prompt.name === "login") {
    return renderSwitchUserPage(
      { ...model("switch"), stay: mayStay(visit) ? stepsOf(deps, visit, "stay").action : null },
      context,
    );
  }
  if (prompt.name === secondFactorPrompt) return renderSecondFactor(deps, visit, req, { problem: null });
  const right = await findSignOnRight(deps.db.pool, { clientId, personId }, deps.clock());
  if (prompt.name === "consent") {
    const claims = await findClaims(deps, { clientId, personId, right });
    const asked = withoutRefused(right, scopes);
    const withheld = appAttributes.filter((name) => !app.attributes.includes(name));
    return renderConsentPage(
      { ...model("consent"), scopes: asked, claims, withheld, switchUser: stepsOf(deps, visit, "switch").action },
      context,
    );
  }
  if (right.kind === "refused") return renderRefusalPage({ ...model("switch"), reason: right.reason }, context);
  return renderChooseSchoolPage({ ...model("school"), schools: right.schools }, context);
}

/** What the app would get of the person: of the school that they chose, or of their only one. */
async function findClaims(
  { db: { pool }, secrets }: InteractionDeps,
  { right, ...pair }: { clientId: ClientId; personId: PersonId; right: SignOnRight },
): Promise<ClaimsForApp> {
  const [subject, [past]] = await Promise.all([findSubject(pool, pair), listDecisions(pool, [pair])]);
  if (subject === null) throw new Error("the person vanished during the request");
  const schools = right.kind === "allowed" ? right.schools : [];
  const school = schools.length === 1 ? schools[0] : schools.find(({ id }) => id === past?.schoolId);
  return { ...claimsAt(subject, school?.id ?? null), pseudonym: makePseudonym(secrets.pseudonyms, pair) };
}

/**
 * Asks for the second factor, or lets the person set one up and come back.
 *
 * Shape: `before` is the person who is to choose a password after it and has no session yet.
 */
export async function renderSecondFactor(
  deps: InteractionDeps,
  visit: Visit,
  req: Request,
  { problem, before }: { problem: SecondFactorModel["problem"]; before?: { personId: PersonId; pending: string } },
): Promise<Page> {
  const { app, interaction } = visit;
  const personId = before?.personId ?? visit.personId;
  const context = contextOf(visit, req);
  const steps = stepsOf(deps, visit, "second-factor");
  if (personId === null || !(await hasSecondFactors(deps.db, personId))) {
    const setUp = `/sign-in/second-factor?${new URLSearchParams({ return: `/interaction/${interaction.uid}` }).toString()}`;
    return renderSetUpNeededPage({ app: { name: app.name }, steps, setUp }, context);
  }
  const question = await askSecondFactor(deps, { personId, browser: visit.browser });
  const pending = before?.pending ?? null;
  return renderSecondFactorPage({ app: { name: app.name }, steps, problem, pending, ...question }, context);
}

/** Asks for a password of the person's own, before the sign-in goes on. */
export function renderNewPassword(
  deps: InteractionDeps,
  visit: Visit,
  req: Request,
  asked: Pick<NewPasswordModel, "pending" | "problem">,
): Page {
  const { action, csrf } = stepsOf(deps, visit, "new-password");
  return renderNewPasswordPage({ ...asked, action, csrf, asksCurrent: false, back: null }, contextOf(visit, req));
}

/** Whether the person may continue: the app gave a hint that anyone can write, and asks for nothing else. */
export const mayStay = ({ interaction }: Visit): boolean =>
  interaction.prompt.reasons.every((reason) => reason === "login_hint") && mayOverrule(interaction.params);

export type Typed = { username: string; isShared: boolean };

/**
 * What the login form shows of this browser, beside what was typed.
 *
 * Shape: the person of the sign-in before is greeted unless another user name was typed; `other` is where the form asks
 *        for any user name.
 */
export function describeBrowser(
  { person, isShared, help }: KnownBrowser,
  typed: Typed | undefined,
  { other, asksOther }: { other: string; asksOther: boolean },
): Pick<LoginModel, "username" | "known" | "isShared" | "help"> {
  const username = typed?.username ?? "";
  const isMeant = person !== null && !asksOther && (username === "" || username === person.username);
  return { username, known: isMeant ? { ...person, other } : null, isShared: typed?.isShared ?? isShared, help };
}

export async function renderLogin(
  deps: InteractionDeps,
  visit: Visit,
  req: Request,
  res: Response,
  problem: LoginProblem,
  typed?: Typed,
): Promise<Page> {
  const { app, logoPath, typedHint, interaction } = visit;
  const known = await readKnownBrowser(deps, req, res, readHintedSchool(deps, req, res));
  const hinted = typedHint === "" ? undefined : { username: typedHint, isShared: known.isShared };
  const other = `/interaction/${interaction.uid}?other`;
  return renderLoginPage(
    {
      app: { name: app.name, logoPath },
      steps: stepsOf(deps, visit, "login"),
      problem,
      ...describeBrowser(known, typed ?? hinted, { other, asksOther: req.query["other"] !== undefined }),
    },
    contextOf(visit, req),
  );
}

/** Tells when it is the turn of somebody whose password could not be checked at once, and goes on by itself then. */
export function renderWaiting(
  deps: InteractionDeps,
  visit: Visit,
  req: Request,
  { waiting, retryAfterSeconds }: { waiting: string; retryAfterSeconds: number },
): Page {
  const model = { app: { name: visit.app.name }, steps: stepsOf(deps, visit, "login"), waiting, retryAfterSeconds };
  return renderWaitingPage(model, { ...contextOf(visit, req), languageUrl: null });
}

function stepsOf(deps: InteractionDeps, visit: Visit, action: string) {
  const to = (step: string) => `/interaction/${visit.interaction.uid}/${step}`;
  return { action: to(action), cancel: to("cancel"), csrf: makeCsrfToken(deps.secrets.csrf, boundOf(visit)) };
}

export function contextOf({ interaction }: Pick<Visit, "interaction">, req: Request): PageContext {
  const { ui_locales: uiLocales, redirect_uri: redirectUri } = interaction.params;
  return {
    locale: readLocale(req, typeof uiLocales === "string" ? uiLocales : undefined),
    languageUrl: (locale) => `/interaction/${interaction.uid}?lang=${locale}`,
    formTargets: [formTarget(String(redirectUri))],
  };
}
