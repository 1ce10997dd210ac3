import { join } from "node:path";
import {
  emphasise,
  makeTemplates,
  makeTranslator,
  renderPage,
  type Page,
  type PageContext,
} from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import type {
  ChooseSchoolModel,
  ConsentModel,
  ErrorModel,
  LoggedOutModel,
  LoginModel,
  LogoutConfirmModel,
  RefusalModel,
  SwitchUserModel,
} from "./models.ts";
import { inMinutes } from "./wait.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));
const translator = makeTranslator({ de: german, en: english });

const loginStatus = { missing: 422, refused: 422, expired_form: 422, blocked: 403, slowed: 429, busy: 503 } as const;

export function renderLoginPage(model: LoginModel, context: PageContext): Page {
  const { problem } = model;
  if (problem === null) return page("login", model, context);
  const waiting = problem.kind === "slowed" || problem.kind === "busy" ? problem : null;
  return page("login", model, context, {
    status: loginStatus[problem.kind],
    ...(waiting && { retryAfterSeconds: waiting.retryAfterSeconds }),
    title: "login.titleWithError",
    values: {
      missing: problem.kind === "missing" ? problem.fields : [],
      wait: waiting && inMinutes(waiting.retryAfterSeconds),
    },
  });
}

export function renderConsentPage(model: ConsentModel, context: PageContext): Page {
  return page("consent", model, context);
}

export function renderChooseSchoolPage(model: ChooseSchoolModel, context: PageContext): Page {
  return page("choose-school", model, context);
}

export function renderSwitchUserPage(model: SwitchUserModel, context: PageContext): Page {
  return page("switch-user", model, context);
}

export function renderRefusalPage(model: RefusalModel, context: PageContext): Page {
  return page("refusal", model, context, { status: 403 });
}

export function renderErrorPage(model: ErrorModel, context: PageContext): Page {
  const { status, retryAfterSeconds } = model;
  return page("error", model, context, retryAfterSeconds === undefined ? { status } : { status, retryAfterSeconds });
}

export function renderLoggedOutPage(model: LoggedOutModel, context: PageContext): Page {
  return page("logged-out", model, context);
}

export function renderLogoutConfirmPage(model: LogoutConfirmModel, context: PageContext): Page {
  return page("logout-confirm", model, context);
}

function page(
  name: string,
  model: object,
  context: PageContext,
  extra: { status?: number; title?: string; retryAfterSeconds?: number; values?: object } = {},
): Page {
  const t = translator(context.locale);
  const strong = (key: string, values: Record<string, string>) => emphasise(t, key, values);
  const appName = "app" in model && model.app !== null ? (model.app as { name: string }).name : "";
  return renderPage(
    {
      title: t(extra.title ?? `${name}.title`, { app: appName }),
      body: render(name, { ...model, ...extra.values, t, strong, appName, partial: render }),
      status: extra.status ?? 200,
      headers: extra.retryAfterSeconds === undefined ? {} : { "Retry-After": String(extra.retryAfterSeconds) },
    },
    context,
  );
}
