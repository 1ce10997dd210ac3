import { join } from "node:path";
import {
  addAsset,
  addPackageAsset,
  emphasise,
  makeTemplates,
  makeTranslator,
  renderPage,
  type Page,
  type PageContext,
} from "../../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { shortCodeOf } from "../../../platform/crypto/short-code.ts";
import { describeValues } from "./consent-values.ts";
import { describeScope, describeWithheld } from "./consent-withheld.ts";
import { drawings } from "./drawings.ts";
import type {
  CardModel,
  CardProblemModel,
  ChooseSchoolModel,
  ConsentModel,
  ErrorModel,
  LoggedOutModel,
  LoginModel,
  LogoutConfirmModel,
  RecoveryCodesModel,
  PasskeyModel,
  NewPasswordModel,
  NoOwnPasswordModel,
  RefusalModel,
  SecondFactorModel,
  SecondFactorsModel,
  SetUpNeededModel,
  SignedInModel,
  SwitchUserModel,
  TotpModel,
  WaitingModel,
} from "./models.ts";
import { inMinutes } from "./wait.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));
const translator = makeTranslator({ de: german, en: english });

const loginStatus = {
  missing: 422,
  refused: 422,
  expired_form: 422,
  no_cookies: 422,
  blocked: 403,
  slowed: 429,
} as const;

const passwordScripts = [addAsset(join(import.meta.dirname, "scripts/password.js"))];

export function renderLoginPage(model: LoginModel, context: PageContext): Page {
  const { problem } = model;
  if (problem === null) return page("login", model, context, { scripts: passwordScripts });
  const waiting = problem.kind === "slowed" ? problem : null;
  return page("login", model, context, {
    status: loginStatus[problem.kind],
    ...(waiting && { retryAfterSeconds: waiting.retryAfterSeconds }),
    title: "login.titleWithError",
    scripts: passwordScripts,
    values: {
      missing: problem.kind === "missing" ? problem.fields : [],
      wait: waiting && inMinutes(waiting.retryAfterSeconds),
    },
  });
}

const waitingScripts = [addAsset(join(import.meta.dirname, "scripts/waiting.js"))];

export function renderWaitingPage(model: WaitingModel, context: PageContext): Page {
  const { retryAfterSeconds } = model;
  return page("waiting", model, context, { status: 503, retryAfterSeconds, scripts: waitingScripts });
}

export function renderCardPage(model: CardModel, context: PageContext): Page {
  return page("card", { ...model, drawings: Object.entries(drawings) }, context, {
    title: "card.title",
    status: model.isWrong ? 422 : 200,
  });
}

const cardStatus = { again: 400, invalid: 404, slowed: 429 };

export function renderCardProblemPage({ hours, ...model }: CardProblemModel, context: PageContext): Page {
  const t = translator(context.locale);
  const weekdays = hours?.weekdays.map((day) => t(`card.weekday.${day}`)).join(", ");
  const { retryAfterSeconds } = model;
  return page("card-problem", { ...model, values: { ...hours, weekdays } }, context, {
    title: "card.title",
    status: { ...cardStatus }[model.reason as keyof typeof cardStatus] ?? 403,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

const newPasswordStatus = { slowed: 429, busy: 503 };

export function renderNewPasswordPage(model: NewPasswordModel, context: PageContext): Page {
  const { problem } = model;
  const scripts = passwordScripts;
  if (problem === null) return page("new-password", model, context, { values: { field: null, wait: null }, scripts });
  const seconds = "retryAfterSeconds" in problem ? problem.retryAfterSeconds : null;
  const field = { wrong: "current", differs: "repeated" }[problem.kind as string] ?? "password";
  return page("new-password", model, context, {
    status: { ...newPasswordStatus }[problem.kind as keyof typeof newPasswordStatus] ?? 422,
    ...(seconds !== null && { retryAfterSeconds: seconds }),
    title: "new-password.titleWithError",
    scripts,
    values: { field, wait: seconds === null ? null : inMinutes(seconds) },
  });
}

export function renderNoOwnPasswordPage(model: NoOwnPasswordModel, context: PageContext): Page {
  return page("no-own-password", model, context, { status: 403 });
}

export function renderConsentPage({ claims, withheld = [], ...model }: ConsentModel, context: PageContext): Page {
  const t = translator(context.locale);
  const items = model.scopes.map((scope) => ({
    scope,
    value: describeWithheld(scope, withheld, t) ?? describeValues(scope, claims, t),
    long: describeScope(scope, withheld, t),
  }));
  // What is the person's own comes first: it is what they look for.
  items.sort((one, other) => Number(one.value === null) - Number(other.value === null));
  return page("consent", model, context, { values: { items, withheld } });
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
  const { status, retryAfterSeconds, requestId } = model;
  const values = { app: model.app ?? null, again: model.again ?? null, code: requestId && shortCodeOf(requestId) };
  return page("error", { ...model, ...values }, context, {
    status,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

export function renderSignedInPage(model: SignedInModel, context: PageContext): Page {
  return page("signed-in", model, context, { status: model.status });
}

export function renderLoggedOutPage(model: LoggedOutModel, context: PageContext): Page {
  return page("logged-out", model, context);
}

export function renderLogoutConfirmPage(model: LogoutConfirmModel, context: PageContext): Page {
  return page("logout-confirm", model, context);
}

const passkeyScripts = [
  addPackageAsset("@simplewebauthn/browser", "dist/bundle/index.umd.min.js"),
  addAsset(join(import.meta.dirname, "scripts/passkey.js")),
];

const secondFactorStatus = { missing: 422, refused: 422, expired_form: 422, slowed: 429 } as const;

export function renderSecondFactorPage(model: SecondFactorModel, context: PageContext): Page {
  const { problem } = model;
  const scripts = model.passkey === null ? [] : passkeyScripts;
  if (problem === null) return page("second-factor", model, context, { scripts });
  const seconds = problem.kind === "slowed" ? problem.retryAfterSeconds : null;
  return page("second-factor", model, context, {
    status: secondFactorStatus[problem.kind],
    ...(seconds !== null && { retryAfterSeconds: seconds }),
    title: "second-factor.titleWithError",
    scripts,
    values: { wait: seconds === null ? null : inMinutes(seconds) },
  });
}

export function renderSetUpNeededPage(model: SetUpNeededModel, context: PageContext): Page {
  return page("set-up-needed", model, context);
}

export function renderSecondFactorsPage(model: SecondFactorsModel, context: PageContext): Page {
  const format = new Intl.DateTimeFormat(context.locale, { dateStyle: "medium", timeZone: "Europe/Berlin" });
  return page("second-factors", model, context, { values: { dateOf: (date: Date) => format.format(date) } });
}

export function renderTotpPage(model: TotpModel, context: PageContext): Page {
  return page("totp", model, context, { status: model.problem === null ? 200 : 422 });
}

export function renderPasskeyPage(model: PasskeyModel, context: PageContext): Page {
  return page("passkey", model, context, { status: model.isRefused ? 422 : 200, scripts: passkeyScripts });
}

export function renderRecoveryCodesPage(model: RecoveryCodesModel, context: PageContext): Page {
  return page("recovery-codes", model, context);
}

function page(
  name: string,
  model: object,
  context: PageContext,
  extra: {
    status?: number;
    title?: string;
    retryAfterSeconds?: number;
    values?: object;
    scripts?: readonly string[];
  } = {},
): Page {
  const t = translator(context.locale);
  const strong = (key: string, values: Record<string, string>) => emphasise(t, key, values);
  const appName = "app" in model && model.app !== null ? (model.app as { name: string }).name : "";
  return renderPage(
    {
      title: t(extra.title ?? `${name}.title`, { app: appName }),
      body: render(name, { ...model, ...extra.values, t, strong, appName, partial: render }),
      status: extra.status ?? 200,
      scripts: extra.scripts ?? [],
      headers: extra.retryAfterSeconds === undefined ? {} : { "Retry-After": String(extra.retryAfterSeconds) },
    },
    context,
  );
}
