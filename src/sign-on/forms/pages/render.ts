import { join } from "node:path";
import {
  addAsset,
  addPackageAsset,
  addTexts,
  emphasise,
  makeTemplates,
  makeTranslator,
  nameWeekday,
  renderPage,
  type Page,
  type PageContext,
} from "../../../platform/pages/index.ts";
import { codePictures } from "../../../accounts/index.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { shortCodeOf } from "../../../platform/crypto/ids.ts";
import type { ScopeName } from "../../../access/index.ts";
import { schoolTexts } from "../../../directory/index.ts";
import { lacksAttribute } from "../../protocol/scopes.ts";
import { describeValues, describeScope } from "./consent.ts";
import type * as models from "./models.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));
const translator = makeTranslator({
  de: addTexts(german, { consent: { school: schoolTexts.de } }),
  en: addTexts(english, { consent: { school: schoolTexts.en } }),
});

/** Seconds below a minute, then minutes, rounded up. */
const inMinutes = (seconds: number): { unit: "seconds" | "minutes"; count: number } =>
  seconds < 60
    ? { unit: "seconds", count: Math.max(1, Math.ceil(seconds)) }
    : { unit: "minutes", count: Math.ceil(seconds / 60) };

type Details = { status?: number; title?: string; values?: object; scripts?: readonly string[] };
type CommonModel = {
  app?: { name: string } | null;
  problem?: { kind: string; retryAfterSeconds?: number } | string | null;
  /** Set if the form can be refused for only one reason. */
  isWrong?: boolean;
  isRefused?: boolean;
  retryAfterSeconds?: number;
};

const problemStatus = new Map([
  ["blocked", 403],
  ["not_used", 403],
  ["no_passkeys", 403],
  ["slowed", 429],
  ["busy", 503],
]);

/** The context of a page whose form may lead to an app or to the login of a school. */
export type LeavingContext = PageContext & Required<Pick<PageContext, "formTargets">>;

/** Makes the function that renders the template `name`. A problem gives the page its status, title and Retry-After. */
const makePage =
  <Model extends object, Context extends PageContext = PageContext>(
    name: string,
    describe: (model: Model, context: Context) => Details = () => ({}),
  ) =>
  (model: Model, context: Context): Page => {
    const t = translator(context.locale);
    const strong = (key: string, values: Record<string, string>) => emphasise(t, key, values);
    const common: CommonModel = model;
    const problem = typeof common.problem === "object" ? common.problem : null;
    const seconds = common.retryAfterSeconds ?? problem?.retryAfterSeconds;
    const appName = common.app?.name ?? "";
    const {
      title = problem ? `${name}.titleWithError` : `${name}.title`,
      values,
      ...details
    } = describe(model, context);
    const status = common.problem ? (problemStatus.get(problem?.kind ?? "") ?? 422) : 200;
    const wait = seconds === undefined ? null : inMinutes(seconds);
    const isRefused = typeof common.problem === "string" || common.isWrong === true || common.isRefused === true;
    const titleText = t(title, { app: appName });
    return renderPage(
      {
        title: isRefused ? t("words.titled", { title: titleText }) : titleText,
        body: render(name, { ...model, ...values, t, strong, appName, wait, partial: render }),
        status: details.status ?? status,
        scripts: details.scripts ?? [],
        headers: seconds === undefined ? {} : { "Retry-After": String(seconds) },
      },
      context,
    );
  };

const passwordScripts = [addAsset(join(import.meta.dirname, "scripts/password.js"))];
const waitingScripts = [addAsset(join(import.meta.dirname, "scripts/waiting.js"))];
const pictureScripts = [addAsset(join(import.meta.dirname, "scripts/pictures.js"))];
const formPostScripts = [addAsset(join(import.meta.dirname, "scripts/form-post.js"))];
const passkeyScripts = [
  addPackageAsset("@simplewebauthn/browser", "dist/bundle/index.umd.min.js"),
  addAsset(join(import.meta.dirname, "scripts/passkey.js")),
];

export const renderLoginPage = makePage<models.LoginModel, LeavingContext>("login", ({ passkey }) => ({
  scripts: [...passwordScripts, ...(passkey === null ? [] : passkeyScripts)],
}));

export const renderSchoolSearchPage = makePage<models.SchoolSearchModel>("school-search", ({ isUnknown, problem }) => ({
  title: "school-search.title",
  status: problem !== null ? 429 : isUnknown ? 404 : 200,
}));

const upstreamStatus = new Map<string, number>([
  ["TOO_MANY", 429],
  ["TEST_LIMIT", 429],
  ...["CANCELLED", "EXPIRED", "OTHER_BROWSER", "LOGIN_REQUIRED"].map((code): [string, number] => [code, 400]),
  ...["UPSTREAM_DOWN", "SECRET_REFUSED", "SCOPE_REFUSED", "CLOCK", "INVALID_RESPONSE"].map((code): [string, number] => [
    code,
    // Not 5xx: this service works.
    424,
  ]),
]);

export const renderUpstreamFailurePage = makePage<models.UpstreamFailureModel>(
  "upstream-failure",
  ({ code, requestId }) => ({
    status: upstreamStatus.get(code) ?? 403,
    values: { shortCode: requestId && shortCodeOf(requestId) },
  }),
);

export const renderWaitingPage = makePage<models.WaitingModel, LeavingContext>("waiting", () => ({
  status: 503,
  scripts: waitingScripts,
}));

export const renderCardPage = makePage<models.CardModel, LeavingContext>("card", ({ isWrong }) => ({
  status: isWrong ? 422 : 200,
  values: { drawings: Object.entries(drawings) },
}));

export const renderClassCodePage = makePage<models.ClassCodeModel>("class-code");

export const renderClassListPage = makePage<models.ClassListModel>("class-list");

export const renderPicturesPage = makePage<models.PicturesModel, LeavingContext>("pictures", () => ({
  scripts: pictureScripts,
  values: { pictures: Object.entries(codePictures), all: codePictures },
}));

const classStatus = { card: 403, locked: 403, slowed: 429 };

export const renderClassProblemPage = makePage<models.ClassProblemModel>("class-problem", ({ reason }) => ({
  status: classStatus[reason],
}));

const cardStatus = new Map([
  ["again", 400],
  ["invalid", 404],
  ["slowed", 429],
]);

export const renderCardProblemPage = makePage<models.CardProblemModel>("card-problem", ({ reason, hours }, context) => {
  const weekdays = hours?.weekdays.map((day) => nameWeekday(day, context.locale)).join(", ");
  return { title: "card.title", status: cardStatus.get(reason) ?? 403, values: { values: { ...hours, weekdays } } };
});

const faultyFields = new Map([
  ["wrong", "current"],
  ["differs", "repeated"],
]);

export const renderNewPasswordPage = makePage<models.NewPasswordModel, LeavingContext>(
  "new-password",
  ({ problem }) => ({
    scripts: passwordScripts,
    values: { field: problem && (faultyFields.get(problem.kind) ?? "password") },
  }),
);

export const renderNoOwnPasswordPage = makePage<models.NoOwnPasswordModel>("no-own-password", () => ({ status: 403 }));

export const renderConsentPage = makePage<models.ConsentModel, LeavingContext>(
  "consent",
  ({ scopes, claims, withheld = [] }, { locale }) => {
    const t = translator(locale);
    const isIdle = (scope: ScopeName) => lacksAttribute(scope, (name) => withheld.includes(name));
    const granted = scopes.filter((scope) => !isIdle(scope));
    const items = granted.map((scope) => ({
      scope,
      value: describeValues(scope, claims, t),
      long: describeScope(scope, withheld, t),
    }));
    const offered = granted.join(" ");
    // The person's own data comes first: they look for it.
    items.sort((one, other) => Number(one.value === null) - Number(other.value === null));
    return { values: { items, withheld, fields: { shown: offered } } };
  },
);

export const renderChooseSchoolPage = makePage<models.ChooseSchoolModel, LeavingContext>("choose-school");

export const renderSwitchUserPage = makePage<models.SwitchUserModel, LeavingContext>("switch-user");

export const renderRefusalPage = makePage<models.RefusalModel, LeavingContext>("refusal", () => ({ status: 403 }));

export const renderErrorPage = makePage<models.ErrorModel>("error", ({ status, requestId, app, again }) => ({
  status,
  values: { app: app ?? null, again: again ?? null, code: requestId && shortCodeOf(requestId) },
}));

export const renderSignedInPage = makePage<models.SignedInModel>("signed-in", ({ status }) => ({ status }));

export const renderLoggedOutPage = makePage<models.LoggedOutModel>("logged-out");

export const renderFormPostPage = makePage<models.FormPostModel, LeavingContext>("form-post", () => ({
  scripts: formPostScripts,
}));

export const renderLogoutConfirmPage = makePage<models.LogoutConfirmModel, LeavingContext>("logout-confirm");

export const renderSecondFactorPage = makePage<models.SecondFactorModel, LeavingContext>(
  "second-factor",
  ({ passkey }) => ({
    scripts: passkey === null ? [] : passkeyScripts,
  }),
);

export const renderSetUpNeededPage = makePage<models.SetUpNeededModel>("set-up-needed");

export const renderSecondFactorsPage = makePage<models.SecondFactorsModel>("second-factors", (_model, { locale }) => {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "Europe/Berlin" });
  return { values: { dateOf: (date: Date) => format.format(date) } };
});

export const renderTotpPage = makePage<models.TotpModel>("totp");

export const nameNewPasskey = (locale: PageContext["locale"], at: Date): string => {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "Europe/Berlin" });
  return translator(locale)("passkey.named", { date: format.format(at) });
};

export const renderPasskeyPage = makePage<models.PasskeyModel, LeavingContext>(
  "passkey",
  ({ isRefused, isOffered }) => ({
    title: isOffered ? "passkey.offered.title" : "passkey.title",
    status: isRefused ? 422 : 200,
    scripts: passkeyScripts,
  }),
);

export const renderRecoveryCodesPage = makePage<models.RecoveryCodesModel>("recovery-codes");

const shape = (fill: string, path: string): string =>
  `<path fill="${fill}" stroke="#222" stroke-width="1.5" stroke-linejoin="round" d="${path}"/>`;

export const drawings = {
  sun: `<circle cx="24" cy="24" r="11" fill="#f5b800" stroke="#222" stroke-width="1.5"/>${shape("none", "M24 3v6M24 39v6M3 24h6M39 24h6M9 9l4 4M35 35l4 4M39 9l-4 4M13 35l-4 4")}`,
  house: shape("#d9653b", "M6 24L24 8l18 16h-5v17H11V24z") + shape("#fff", "M20 41V30h8v11z"),
  tree: shape("#8a5a2b", "M21 30h6v13h-6z") + shape("#3d9a50", "M24 4l14 16h-6l8 11H8l8-11h-6z"),
  fish: shape("#3b82c4", "M4 24c8-13 22-13 29 0l11-9v18l-11-9c-7 13-21 13-29 0z") + shape("#222", "M13 21h2v2h-2z"),
  star: shape("#f5b800", "M24 4l6 13 14 2-10 10 2 14-12-7-12 7 2-14L4 19l14-2z"),
  heart: shape("#d63a4e", "M24 42C6 29 4 20 8 13c4-6 13-5 16 2 3-7 12-8 16-2 4 7 2 16-16 29z"),
  boat: shape("#8a5a2b", "M5 31h38l-7 11H12z") + shape("#fff", "M23 6v22H9z") + shape("#d9653b", "M26 10v18h12z"),
  apple:
    shape("#c9302c", "M24 16c8-6 18 0 16 11-2 10-8 17-16 14-8 3-14-4-16-14C6 16 16 10 24 16z") +
    shape("#3d9a50", "M24 15c0-6 4-9 9-10 0 6-3 10-9 10z"),
  moon: shape("#e8d27a", "M30 5a20 20 0 1 0 13 29A17 17 0 0 1 30 5z"),
};
