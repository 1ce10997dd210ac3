import type { Request, Response } from "express";
import type { Provider } from "oidc-provider";
import {
  type App,
  type ClientId,
  findApp,
  findSignOnRight,
  scopeFromWire,
  type ScopeName,
} from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { formTarget, type Page, type PageContext, readLocale } from "../../platform/pages/index.ts";
import {
  checkCsrfToken,
  makeCsrfToken,
  renderChooseSchoolPage,
  renderConsentPage,
  renderLoginPage,
  renderRefusalPage,
  renderSwitchUserPage,
} from "../pages/index.ts";
import { mayOverrule } from "../provider/hints.ts";
import { readInteractionSignature } from "../provider/library.ts";
import type { InteractionDeps } from "./deps.ts";
import { readTypedHint } from "./typed-hint.ts";

export type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;
export type LoginProblem = Parameters<typeof renderLoginPage>[0]["problem"];

/** An interaction, with what its pages and steps need. */
export type Visit = {
  interaction: Interaction;
  app: App;
  clientId: ClientId;
  /** The person who is signed in; null before that. */
  personId: PersonId | null;
  scopes: ScopeName[];
  browser: string;
  /** The user name that the app wrote into its request. */
  typedHint: string;
};

export async function openVisit(deps: InteractionDeps, req: Request, res: Response): Promise<Visit | null> {
  const interaction = await deps.provider().interactionDetails(req, res);
  if (interaction.uid !== req.params["uid"]) return null;
  const clientId = interaction.params["client_id"] as ClientId;
  const app = await findApp(deps.db.pool, clientId);
  if (!app) return null;
  const { cookies } = deps.provider().createContext(req, res);
  const asked = ((interaction.params["scope"] as string | undefined) ?? "").split(" ");
  return {
    interaction,
    app,
    clientId,
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
export async function renderVisit(deps: InteractionDeps, visit: Visit, req: Request): Promise<Page> {
  const context = contextOf(visit, req);
  const { app, personId, scopes, clientId } = visit;
  const { prompt } = visit.interaction;
  if (personId === null || (prompt.name === "login" && !asksToSwitch(visit)))
    return renderLogin(deps, visit, req, null);
  const personName = await deps.findPersonName(personId);
  const model = (action: string) => ({ app: { name: app.name }, personName, steps: stepsOf(deps, visit, action) });

  if (prompt.name === "login") {
    return renderSwitchUserPage(
      { ...model("switch"), stay: mayStay(visit) ? stepsOf(deps, visit, "stay").action : null },
      context,
    );
  }
  if (prompt.name === "consent") {
    return renderConsentPage(
      { ...model("consent"), scopes, switchUser: stepsOf(deps, visit, "switch").action },
      context,
    );
  }
  const right = await findSignOnRight(deps.db.pool, { clientId, personId });
  if (right.kind === "refused") return renderRefusalPage({ ...model("switch"), reason: right.reason }, context);
  return renderChooseSchoolPage({ ...model("school"), schools: right.schools }, context);
}

/** Whether the person is asked to switch because the app hinted at another person. */
export const asksToSwitch = ({ interaction }: Pick<Visit, "interaction">): boolean =>
  interaction.prompt.reasons.includes("login_hint");

/** Whether the person may continue: the app gave a hint that anyone can write, and asks for nothing else. */
export const mayStay = ({ interaction }: Pick<Visit, "interaction">): boolean =>
  interaction.prompt.reasons.every((reason) => reason === "login_hint") && mayOverrule(interaction.params);

export function renderLogin(
  deps: InteractionDeps,
  visit: Visit,
  req: Request,
  problem: LoginProblem,
  typed?: string,
): Page {
  const { app, typedHint } = visit;
  const username = typed ?? typedHint;
  return renderLoginPage(
    { app: { name: app.name }, steps: stepsOf(deps, visit, "login"), username, problem },
    contextOf(visit, req),
  );
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
