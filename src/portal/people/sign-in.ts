import type { AdminSchemas } from "../../admin/index.ts";
import { nameWeekday, type Locale } from "../../platform/pages/index.ts";
import {
  isMemberPage,
  makePage,
  callName,
  personAddress,
  readMember,
  type PageRequest,
  type PageView,
} from "../frame/index.ts";
import { person, readPerson } from "./record.ts";

type Step = AdminSchemas["SignInStep"];

const mostApps = 200;

/** The apps that the school can choose; none if the reader may not read them. */
async function listApps(request: PageRequest): Promise<{ clientId: string; name: string }[]> {
  const { call, may } = request;
  if (!may("listAppsOfPerson")) return [];
  return may("listCatalogue") ? call("listCatalogue", { query: { limit: mostApps } }) : call("listAppsOfPerson");
}

/** How to fix a refused step: a form sent to `action`, or a page. */
type Fix = { action: string } | { href: string } | { roles: string };

/** Texts of fixes that differ from the usual fix of their step. */
const fixTexts: { [operationId: string]: string } = {
  createLoginCards: "steps.card.fix",
  putCardSettings: "steps.card.fixSettings",
  setEmergencySignIn: "steps.login.fixEmergency",
};

const fixTextOf = ({ code, fix, values }: Step): string =>
  values.isConfirmed === false
    ? "steps.school_login.fixConfirm"
    : (fixTexts[fix?.operationId ?? ""] ?? `steps.${code}.fix`);

function fixOf({ fix, values }: Step, clientId: string, request: PageRequest): Fix | null {
  if (fix === null) return null;
  const { at, path, t } = request;
  if (!fix.isAllowed) return { roles: fix.roles.map((role) => t(`staffRoles.${role}`)).join(", ") };
  const base = personAddress(request);
  const atSchool = (page: string): Fix => ({
    href: `/admin/schools/${values.schoolId ?? path.schoolId}/${page}`,
  });
  const connection = `own-login/${fix.path.split("/").at(-1)}${values.isConfirmed === false ? "" : "#switch-on"}`;
  const fixes: Readonly<Record<string, Fix>> = {
    restorePerson: { action: `${base}/restore` },
    unblockPerson: { action: `${base}/unblock` },
    revokePictureCode: { action: `${base}/pictures/reset` },
    createClassList: atSchool(`classes/${fix.path.split("/").at(-2)}/class-list`),
    releaseSignInLimits: { action: `${base}/release` },
    putGrant: atSchool(`apps/${clientId}`),
    putCardSettings: atSchool("settings"),
    setEmergencySignIn: atSchool("own-login#emergency"),
    updateUpstreamConnection: atSchool(connection),
    createLoginCards: { href: `${base}#cards` },
    newPassword: { href: `${base}#login` },
  };
  return fixes[fix.operationId] ?? { href: `${at(person)}#login` };
}

/** The end of the key of the text that fits the details of a step. */
function variantOf({ code, outcome, values }: Step): string {
  const { username, hasPassword, usesPassword } = values;
  if (code === "audience") return outcome === "PASSED" ? "" : `_${values.audience ?? "NOBODY"}`;
  if (code === "class_list") return values.isReady === false ? "_NOT_READY" : "";
  if (code === "pictures") return outcome === "PASSED" ? "" : `_${values.pictures}`;
  if (code === "second_factor") return values.hasSecondFactor === true ? "_HAS" : "_MISSING";
  if (code !== "login") return "";
  if (hasPassword === undefined) return "_NO_USERNAME";
  if (usesPassword === false && outcome === "REFUSED") return username === undefined ? "_UNUSED_GUEST" : "_UNUSED";
  if (usesPassword === false && username !== undefined) return "_UNUSED";
  if (outcome === "REFUSED") return "_NO_PASSWORD";
  if (username === undefined) return "_GUEST";
  return outcome === "NOTE" ? (hasPassword ? "_MUST_CHANGE" : "_CARD") : "";
}

const weekdaysOf = (days: readonly number[], locale: Locale): string =>
  new Intl.ListFormat(locale, { type: "conjunction" }).format(days.map((day) => nameWeekday(day, locale)));

function cardWordsOf({ values }: Step, { t, times, locale }: PageRequest): string {
  const { card = "USABLE", refusal, since, lastAt, hours } = values;
  const allowed = hours && { from: hours.from, to: hours.to, days: weekdaysOf(hours.weekdays, locale) };
  const state = t(`steps.card.states.${card}`, { since: times.day(since), ...allowed });
  if (refusal === undefined) return state;
  const refused = t(`steps.card.refusals.${refusal}`, { at: times.time(lastAt) });
  return `${state} ${refused}`;
}

/** Whether the school's own login is linked with the person, is on for them, and works. */
function schoolLoginWordsOf({ values }: Step, { t, times }: PageRequest): string {
  const { connection = "", isInClasses, isConfirmed, failingSince, since, lastAt } = values;
  const linked = since === undefined ? "UNLINKED" : lastAt === undefined ? "UNUSED" : "USED";
  const excluded = isConfirmed === false ? "UNCONFIRMED" : isInClasses === false ? "OTHER_CLASSES" : null;
  const state = excluded ?? linked;
  const named = { connection, since: times.day(since), last: times.time(lastAt) };
  const words = t(`steps.school_login.states.${state}`, named);
  if (failingSince === undefined) return words;
  return `${words} ${t("steps.school_login.failing", { since: times.time(failingSince) })}`;
}

function wordsOf(step: Step, request: PageRequest): string {
  const { code, outcome, values } = step;
  const { t, times } = request;
  if (code === "card") return cardWordsOf(step, request);
  if (code === "school_login") return schoolLoginWordsOf(step, request);
  const named = {
    school: values.schoolName ?? "",
    className: values.className ?? "",
    username: values.username ?? "",
    since: times.day(values.since),
    until: times.time(values.until),
    last: times.time(values.lastAt),
    count: values.tries ?? values.schools ?? 0,
    roles: (values.roles ?? []).map((role) => t(`people.filters.role.${role}`)).join(", "),
    groups: (values.groups ?? []).map(({ name }) => name).join(", "),
  };
  const words = t(`steps.${code}.${outcome}${variantOf(step)}`, named);
  const { passkey = "USABLE" } = values;
  if (passkey === "USABLE") return words;
  const unusable = t(`steps.second_factor.passkeys.${passkey}`);
  return `${words} ${unusable}`;
}

/** Explains step by step why a person can or cannot sign in, to an app or at all, with fixes. */
export async function showSignIn(request: PageRequest): Promise<PageView> {
  const { call, t, query } = request;
  const clientId = query("app");
  const [owner, apps, { isAllowed, ...explanation }] = await Promise.all([
    isMemberPage(request) ? readMember(request) : readPerson(request).then(({ record }) => record),
    listApps(request),
    call("explainSignIn", { query: { app: clientId } }),
  ]);
  const steps = explanation.steps.map((step) => ({
    code: step.code,
    outcome: step.outcome,
    text: wordsOf(step, request),
    fix: fixOf(step, clientId, request),
    fixLabel: step.fix && t(fixTextOf(step)),
  }));
  const fullName = callName(owner, request);
  const model = { base: personAddress(request), fullName, apps, clientId, steps, isAllowed };
  return makePage("sign-in", t("words.whySignIn"), model);
}
