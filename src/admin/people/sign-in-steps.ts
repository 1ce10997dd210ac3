import { asksForSchool, appNotFound, type ClientId, type SchoolFacts, type ScopeName } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { findSignInFacts, isWithoutEffect, releaseSignInLimitsIn, type SignInFacts } from "../../sign-on/index.ts";
import { isReached, joinReach, type Reach, type StaffRole } from "../../staff/index.ts";
import type { AdminHandler, OperationId, Schemas } from "../handler.ts";
import { reachesApp, getReachedPerson } from "../reached.ts";
import { callers } from "../rights.ts";
import { changeWithPerson, loginUnknown, readLogin } from "./logins.ts";
import { presentTime as time } from "./sessions.ts";

type Step = Schemas["SignInStep"];

type Fix = NonNullable<Step["fix"]>;

/** For a guest, the explanation omits what the home school keeps, such as the user name and consents. */
type Explanation = {
  facts: SignInFacts;
  /** Null: only the steps before any app. */
  clientId: ClientId | null;
  reach: Reach;
  roles: readonly StaffRole[];
  homeSchoolId: SchoolId | null;
  isGuest: boolean;
  /** Whether the service asks the person for a second factor. */
  needsSecondFactor: boolean;
};

type Values = { [Name in keyof Step["values"]]: Step["values"][Name] | null };

/** The outcome `NOTE` does not prevent the sign-in. Values that are null are left out. */
const step = (code: Step["code"], outcome: Step["outcome"], values: Values, fix: Fix | null = null): Step => ({
  code,
  outcome,
  values: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
  fix: outcome === "PASSED" ? null : fix,
});
const passedIf = (isPassed: boolean): Step["outcome"] => (isPassed ? "PASSED" : "REFUSED");

/** The operation that fixes a step, with the roles that allow it at its schools. */
function fixOf(roles: readonly StaffRole[], operationId: OperationId, path: string, schools: SchoolId[]): Fix {
  const allowed: readonly Fix["roles"][number][] = callers[operationId].roles;
  const mine = roles.filter(({ role }) => allowed.includes(role));
  const isAllowed = mine.length > 0 && isReached(joinReach(mine), { schools });
  return { operationId, path: `/admin/v1${path}`, roles: [...allowed], isAllowed };
}

const isRefused = (card: SignInFacts["card"]): boolean => card?.state !== "USABLE" || card.pictures === "LOCKED";

const hasCard = ({ card }: SignInFacts): boolean => card !== null && card.revokedAt === null && card.state !== "STAFF";

const usesOwnPassword = ({ login, usesPassword }: SignInFacts): boolean => login?.hasPassword === true && usesPassword;
const letsIn = ({ isInClasses, isConfirmed }: SignInFacts["schoolLogins"][number]): boolean =>
  isInClasses && isConfirmed;

const needsNoCard = (facts: SignInFacts): boolean => facts.schoolLogins.some(letsIn) || usesOwnPassword(facts);

/** Whether the person has only logins of the school's own, and none of them works at this moment. */
function isCutOff(facts: SignInFacts): boolean {
  const logins = facts.schoolLogins.filter(letsIn);
  const hasOther = usesOwnPassword(facts) || (hasCard(facts) && !isRefused(facts.card));
  return !hasOther && logins.length > 0 && logins.every(({ failingSince }) => failingSince !== null);
}

const canSignIn = (facts: SignInFacts): boolean => needsNoCard(facts) || (facts.login !== null && hasCard(facts));

/** Whether the person has only a card, and that is refused at this moment. */
const isCardRefused = (facts: SignInFacts): boolean => !needsNoCard(facts) && hasCard(facts) && isRefused(facts.card);

const emergencyFix = (roles: readonly StaffRole[], school: SchoolId): Fix =>
  fixOf(roles, "setEmergencySignIn", `/schools/${school}/way-in/emergency`, [school]);

type FixOfPerson = (operation: OperationId, end: string) => Fix;

function loginStep(explanation: Explanation, fix: FixOfPerson): Step {
  const { facts, isGuest, roles, homeSchoolId } = explanation;
  const { login, usesPassword } = facts;
  const isRefused = !canSignIn(facts);
  // The school's own login gives a user name to a person without one.
  if (login === null) return step("login", isRefused ? "REFUSED" : "NOTE", {}, fix("setLogin", "/login"));
  const { username, changedAt, hasPassword, mustChange } = login;
  const outcome = isRefused ? "REFUSED" : hasPassword && usesPassword && !mustChange ? "PASSED" : "NOTE";
  const password = hasPassword ? null : fix("newPassword", "/login/password");
  const details = { hasPassword, mustChange, usesPassword: usesPassword ? null : false };
  if (isGuest) return step("login", outcome, details, usesPassword ? password : null);
  const own = { ...details, username, since: time(changedAt) };
  if (usesPassword || homeSchoolId === null) return step("login", outcome, own, password);
  return step("login", outcome, own, isRefused ? emergencyFix(roles, homeSchoolId) : null);
}

function schoolLoginSteps({ facts, roles, isGuest, homeSchoolId }: Explanation): Step[] {
  if (isGuest || homeSchoolId === null) return [];
  const { usesPassword, login, schoolLogins } = facts;
  const password = usesPassword || login?.hasPassword !== true ? null : emergencyFix(roles, homeSchoolId);
  return schoolLogins.map((one) => {
    const { id, name, isInClasses, isConfirmed, failingSince, linkedAt, lastAt } = one;
    const isSound = failingSince === null && linkedAt !== null;
    const values = {
      schoolId: homeSchoolId,
      connection: name,
      isInClasses: isInClasses ? null : false,
      isConfirmed: isConfirmed ? null : false,
      failingSince: time(failingSince),
      since: time(linkedAt),
      lastAt: time(lastAt),
    };
    if (!letsIn(one)) {
      const change = fixOf(roles, "updateUpstreamConnection", `/upstream-connections/${id}`, [homeSchoolId]);
      return step("school_login", "NOTE", values, change);
    }
    const outcome = isSound ? "PASSED" : isCutOff(facts) ? "REFUSED" : "NOTE";
    return step("school_login", outcome, values, failingSince === null ? null : password);
  });
}

/** A new password helps only where the school uses passwords. */
function wrongPasswordStep({ wrongPasswords, usesPassword }: SignInFacts, newPassword: Fix): Step {
  const { tries, lastAt } = wrongPasswords;
  const values = { tries, lastAt: time(lastAt) };
  return step("wrong_passwords", tries === 0 ? "PASSED" : "NOTE", values, usesPassword ? newPassword : null);
}

/** The step of the card; left out if the person has no card that matters. */
function cardSteps({ facts, roles, homeSchoolId }: Explanation): Step[] {
  const { card } = facts;
  if (card === null || homeSchoolId === null) return [];
  const { state, revokedAt, createdAt, hours, refused } = card;
  const isSound = state === "USABLE" && refused === null;
  const outcome = isSound ? "PASSED" : needsNoCard(facts) || state === "USABLE" ? "NOTE" : "REFUSED";
  const values = {
    schoolId: homeSchoolId,
    card: state,
    since: time(revokedAt ?? createdAt),
    hours,
    refusal: refused && refused.reason,
    lastAt: refused && time(refused.at),
  };
  if (state === "STAFF") return [step("card", outcome, values)];
  const isGone = [state, refused?.reason].some((one) => one === "REVOKED" || one === "ANSWER");
  const [operation, end] = isGone
    ? (["createLoginCards", "login-cards"] as const)
    : (["putCardSettings", "card-settings"] as const);
  return [step("card", outcome, values, fixOf(roles, operation, `/schools/${homeSchoolId}/${end}`, [homeSchoolId]))];
}

/** What comes after the card, and on the shared devices of a class. */
function pictureSteps({ facts, roles, homeSchoolId }: Explanation, fix: FixOfPerson): Step[] {
  if (homeSchoolId === null) return [];
  const { card, classLists } = facts;
  const makeCard = fixOf(roles, "createLoginCards", `/schools/${homeSchoolId}/login-cards`, [homeSchoolId]);
  const lists = classLists.map(({ groupId, className, until, isReady }) => {
    const values = { schoolId: homeSchoolId, className, until: time(until) };
    if (!isReady) return step("class_list", "NOTE", { ...values, isReady }, hasCard(facts) ? null : makeCard);
    const open = fixOf(roles, "createClassList", `/groups/${groupId}/class-list`, [homeSchoolId]);
    return step("class_list", until === null ? "NOTE" : "PASSED", values, open);
  });
  const pictures = card?.pictures ?? null;
  if (pictures === null) return lists;
  const isStopped = pictures === "LOCKED" && !needsNoCard(facts);
  const outcome = isStopped ? "REFUSED" : pictures === "CHOSEN" ? "PASSED" : "NOTE";
  const reset = pictures === "LOCKED" ? fix("revokePictureCode", "/picture-code") : null;
  return [step("pictures", outcome, { pictures }, reset), ...lists];
}

/** A passkey is a second factor; whether it replaces the password as well is up to the home school. */
function secondFactorStep({ hasSecondFactor, passkey, usesPassword }: SignInFacts, revoke: Fix): Step {
  const state = usesPassword ? passkey : ("NO_PASSWORDS" as const);
  const values = { hasSecondFactor, passkey: passkey && state };
  return step("second_factor", "NOTE", values, hasSecondFactor ? revoke : null);
}

function personSteps(explanation: Explanation): Step[] {
  const { facts, roles, homeSchoolId, isGuest, needsSecondFactor } = explanation;
  const { person, waits } = facts;
  const path = `/people/${person.id}`;
  const schools = homeSchoolId === null ? [] : [homeSchoolId];
  const fix: FixOfPerson = (operation, end) => fixOf(roles, operation, path + end, schools);
  const isActive = facts.right.kind === "allowed" || facts.right.reason !== "person_not_active";
  const { everywhereUntil, places, placesUntil } = waits;
  const until = everywhereUntil ?? placesUntil;
  return [
    step(
      "person_active",
      passedIf(isActive),
      { until: isActive ? null : time(person.purgeAt) },
      fix("restorePerson", "/restoration"),
    ),
    step(
      "person_not_blocked",
      passedIf(person.blockedAt === null),
      { since: time(person.blockedAt) },
      fix("unblockPerson", "/block"),
    ),
    loginStep(explanation, fix),
    ...schoolLoginSteps(explanation),
    ...(isGuest || facts.login === null ? [] : [wrongPasswordStep(facts, fix("newPassword", "/login/password"))]),
    step(
      "no_wait",
      passedIf(until === null),
      until === null || isGuest
        ? { until: time(until) }
        : { until: time(until), isEverywhere: everywhereUntil !== null, places },
      fix("releaseSignInLimits", "/login/release"),
    ),
    ...(isGuest ? [] : [...cardSteps(explanation), ...pictureSteps(explanation, fix)]),
    ...(isGuest || !needsSecondFactor ? [] : [secondFactorStep(facts, fix("revokeSecondFactors", "/second-factors"))]),
  ];
}

type AboutApp = Explanation & { clientId: ClientId };

/** The steps at one school, up to the first that refuses. */
function schoolSteps({ facts, clientId, roles }: AboutApp, school: SchoolFacts): Step[] {
  const { id, name, audience, letsIn, groups } = school;
  const isLetInElsewhere = facts.person.schools.some((other) => other.letsIn);
  const outcomeOf = (isPassed: boolean) => (!isPassed && isLetInElsewhere ? "NOTE" : passedIf(isPassed));
  const of = { schoolId: id, schoolName: name };
  const fix = fixOf(roles, "putGrant", `/schools/${id}/grants/${clientId}`, [id]);
  const granted = step("school_grant", outcomeOf(audience !== null), of, fix);
  if (audience === null) return [granted];
  const isOn = audience !== "NOBODY";
  const signOn = step("sign_on", outcomeOf(isOn), { ...of, audience }, fix);
  if (!isOn) return [granted, signOn];
  const wanted = { ...(audience === "ROLES" && { roles: school.roles }), ...(audience === "GROUPS" && { groups }) };
  const values = { ...of, audience, role: facts.person.role, ...wanted };
  return [granted, signOn, step("audience", outcomeOf(letsIn), values, fix)];
}

function otherSchools(schools: readonly SchoolFacts[], isLetIn: boolean): Step[] {
  if (schools.length === 0) return [];
  const letIn = schools.filter(({ letsIn }) => letsIn).length;
  const outcome = letIn > 0 ? "PASSED" : isLetIn ? "NOTE" : "REFUSED";
  return [step("other_schools", outcome, { schools: letIn > 0 ? letIn : schools.length })];
}

const neverAskedFor: readonly ScopeName[] = ["schools:read", "users:read", "groups:read", "oneroster:read"];

function questions({ decisions, right, scopes, attributes }: SignInFacts): Step[] {
  if (right.kind === "refused") return [];
  const requested = scopes.filter((scope) => !neverAskedFor.includes(scope));
  const settings = { attributes, withheld: decisions.withheld };
  const missing = requested.filter((scope) => !decisions.scopes.includes(scope) && !isWithoutEffect(scope, settings));
  const values = { scopes: decisions.scopes, missingScopes: missing };
  const consent = step("consent", missing.length === 0 ? "PASSED" : "NOTE", values);
  if (right.schools.length <= 1 || !asksForSchool(scopes)) return [consent];
  const chosen = right.schools.some(({ id }) => id === decisions.schoolId);
  return [step("school_choice", chosen ? "PASSED" : "NOTE", { schools: right.schools.length }), consent];
}

function appSteps(about: AboutApp): Step[] {
  const { facts, reach, isGuest } = about;
  const { schools } = facts.person;
  const isSeen = ({ id }: SchoolFacts) => isReached(reach, { schools: [id] });
  const isLetIn = schools.some(({ letsIn }) => letsIn);
  const isSuspended = facts.right.kind === "refused" && facts.right.reason === "app_suspended";
  return [
    ...(isSuspended ? [step("app_not_suspended", "REFUSED", {})] : []),
    ...schools.filter(isSeen).flatMap((school) => schoolSteps(about, school)),
    ...otherSchools(
      schools.filter((school) => !isSeen(school)),
      isLetIn,
    ),
    ...(isGuest ? [] : questions(facts)),
  ];
}

/** The reason why the sign-on refuses, or what prevents the person from getting that far. */
function reasonOf({ facts, clientId }: Explanation): Schemas["SignInExplanation"]["reason"] {
  const { right, login, waits } = facts;
  const needsGrant = clientId !== null;
  if (right.kind === "refused" && (needsGrant || !["no_grant", "app_suspended"].includes(right.reason)))
    return right.reason;
  if (!canSignIn(facts)) return login === null ? "no_login" : "no_password";
  if (isCardRefused(facts)) return facts.card?.state === "USABLE" ? "pictures_locked" : "card_refused";
  if (isCutOff(facts)) return "school_login_fails";
  return waits.everywhereUntil === null && waits.places === 0 ? "none" : "slowed";
}

/** Explains a sign-in. Schools out of reach are counted, not named. */
export function explain(explanation: Explanation): Schemas["SignInExplanation"] {
  const { facts, clientId } = explanation;
  const reason = reasonOf(explanation);
  return {
    personId: facts.person.id,
    clientId,
    isAllowed: reason === "none",
    reason,
    steps: [...personSteps(explanation), ...(clientId === null ? [] : appSteps({ ...explanation, clientId }))],
  };
}

export const explainSignIn: AdminHandler<"explainSignIn"> = async (
  { db, needsSecondFactor },
  { personId, query, reach, caller, origin },
) => {
  const clientId = query.app ?? null;
  const { homeSchoolId, isGuest } = await getReachedPerson(db, reach, personId);
  const facts =
    clientId === null || reachesApp(reach, clientId)
      ? await findSignInFacts(db.pool, { personId, clientId, now: origin.at })
      : null;
  if (facts === null) throw appNotFound();
  const needs = facts.hasSecondFactor || (facts.isStaff && (await needsSecondFactor(personId)));
  const { roles } = caller;
  const explanation = { facts, clientId, reach, roles, homeSchoolId, isGuest, needsSecondFactor: needs };
  return { status: 200, body: explain(explanation) };
};

export const releaseSignInLimits: AdminHandler<"releaseSignInLimits"> = (deps, request) =>
  changeWithPerson(deps, request, async (tx, personId, origin) => {
    if ((await readLogin(tx, personId, origin.at)) === null) throw loginUnknown();
    await releaseSignInLimitsIn(tx, personId, origin);
  });
