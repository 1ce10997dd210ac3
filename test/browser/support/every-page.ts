import { scopeNames } from "../../../src/access/index.ts";
import type { GroupId, SchoolId } from "../../../src/directory/index.ts";
import type { Page } from "../../../src/platform/pages/index.ts";
import { accountRefusals, connectionFailures, passingFailures } from "../../../src/upstream/index.ts";
import * as pages from "../../../src/sign-on/forms/pages/index.ts";

const app = { name: "Lernapp", logoPath: null };
const longApp = {
  name: "Interaktives Mathematik-Übungsportal Niedersachsen-Bremen Sekundarstufe <i id=markup>",
  logoPath: "/assets/logo-of-the-test.png",
};
const longName = "Maximiliane-Josephine Freifrau von Hohenlohe-Waldenburg-Schillingsfürst <i id=markup>";
const longSchool =
  "Staatliche Berufsschule für Elektrotechnik, Informationstechnologie und Kommunikationsgestaltung <i id=markup>";
const personName = "Bo Muster";
const claims = {
  name: { firstFull: "Bo", firstCall: "Bo", last: "Muster" },
  role: "STUDENT" as const,
  schulconnexRole: "LERN",
  school: {
    id: "0193f6a2-7a3c-7000-8000-000000000002" as SchoolId,
    name: "Goethe-Gymnasium",
    officialId: "12345",
    schoolingLevel: "GYMNASIUM",
    location: { country: "DE", state: "NI" },
    address: { address: "Schulstraße 1", addressAddition: "Haus B", city: "Musterstadt", zipCode: "26121" },
  },
  pseudonym: "Kiesel Otter",
  groups: [{ id: "0193f6a2-7a3c-7000-8000-000000000003" as GroupId, name: "5a" }],
};
const longClaims = {
  name: { firstFull: "Maximiliane-Josephine Friederike", firstCall: "Maximiliane-Josephine", last: longName },
  role: "OTHER" as const,
  schulconnexRole: "EXTERN",
  pseudonym: "Schmetterling Expeditions",
  school: {
    ...claims.school,
    name: longSchool,
    schoolingLevel: "HALLIGSCHULE",
    location: { country: "CH", state: "BE" },
  },
  groups: Array.from({ length: 30 }, (_, index) => ({ ...claims.groups[0]!, name: `Leistungskurs ${index}` })),
};
const steps = { action: "/on", cancel: "/back", csrf: "token" };
const form =
  '<form id="op.logoutForm" method="post" action="/on"><input type="hidden" name="xsrf" value="token"/></form>';
const login = {
  app,
  steps,
  username: "student.goethe",
  known: null,
  stays: false,
  stayOffer: null,
  isShared: false,
  help: null,
  classList: null,
  ways: null,
  passwordForm: "open" as const,
  passkey: { options: "{}", state: "s" },
  schoolSearch: "/search",
};
const button = { connectionId: "0193f6a2-7a3c-7000-8000-000000000004", name: "IServ" };
const ways = {
  school: longSchool,
  buttons: [button, { ...button, name: "Microsoft 365" }],
  allowsPasswords: false,
  action: "/upstream",
  other: "/other",
};
const search = {
  words: "Goethe",
  schools: null,
  isUnknown: false,
  path: "/search",
  returnPath: "/sign-in",
  action: "/on",
  csrf: "token",
  back: "/back",
  problem: null,
};
const newPassword = {
  action: "/on",
  csrf: "token",
  pending: null,
  asksCurrent: false,
  shortest: 8,
  back: null,
  problem: null,
};
const fault = { status: 400, requestId: "0193f6a2-7a3c-7000-8000-000000000001" };

const at = new Date("2026-02-03T08:00:00Z");
const secondFactors = {
  factors: [
    { id: "1", kind: "TOTP" as const, label: "Telefon", createdAt: at, lastUsedAt: at },
    { id: "2", kind: "PASSKEY" as const, label: longApp.name.slice(0, 60), createdAt: at, lastUsedAt: null },
  ],
  codesLeft: 1,
  isNeeded: false,
  next: "/",
  csrf: "token",
  totp: "/totp",
  passkey: "/passkey",
  remove: "/remove",
  rename: "/rename",
  codes: "/codes",
};
const totp = {
  problem: null,
  qrCode: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path fill="#fff" d="M0 0h9v9H0z"/></svg>',
  secret: "ABCD EFGH IJKL MNOP QRST UVWX YZ23 4567",
  address: "otpauth://totp/x",
  label: "",
  state: "s",
  csrf: "token",
  action: "/on",
  back: "/back",
};
const passkey = {
  isRefused: false,
  isOffered: false,
  label: "",
  csrf: "token",
  action: "/on",
  back: "/back",
  options: "{}",
  state: "s",
};

const card = {
  firstName: "Bo",
  secondStep: "NONE" as const,
  isWrong: false,
  action: "/on",
  csrf: "token",
  signInPath: "/sign-in",
};
const pictures = {
  name: "Bo M.",
  tapped: [],
  first: [],
  problem: null,
  action: "/on",
  csrf: "token",
  back: { url: "/class", kind: "notMe" as const },
};
const cardProblem = {
  hours: { from: "07:30", to: "16:00", weekdays: [1, 2, 3, 4, 5, 6, 7] },
  signInPath: "/sign-in",
};

/** Every page in every state that looks different, with the shortest and the longest of names. */
export const everyPage: Record<string, (context: pages.LeavingContext) => Page> = {
  login: (context) => pages.renderLoginPage({ ...login, username: "", problem: null }, context),
  "login, with the class": (context) =>
    pages.renderLoginPage({ ...login, classList: "/class", username: "", problem: null }, context),
  "class code": (context) =>
    pages.renderClassCodePage({ action: "/on", csrf: "token", problem: null, signInPath: "/sign-in" }, context),
  "class code, wrong": (context) =>
    pages.renderClassCodePage(
      { action: "/on", csrf: "token", problem: { kind: "wrong" }, signInPath: "/sign-in" },
      context,
    ),
  "class list": (context) =>
    pages.renderClassListPage(
      {
        className: "5a",
        pupils: [
          { name: "Ada L.", url: "/class/pupils/a" },
          { name: longName, url: "/class/pupils/b" },
          { name: "Bo M.", url: null },
        ],
        leave: { action: "/on", csrf: "token" },
      },
      context,
    ),
  "pictures, two tapped": (context) =>
    pages.renderPicturesPage({ ...pictures, step: "enter", tapped: ["dog", "cat"] }, context),
  "pictures, wrong": (context) => pages.renderPicturesPage({ ...pictures, step: "enter", problem: "wrong" }, context),
  "pictures, chosen": (context) =>
    pages.renderPicturesPage({ ...pictures, step: "choose", tapped: ["dog", "umbrella"] }, context),
  "pictures, again": (context) =>
    pages.renderPicturesPage({ ...pictures, step: "repeat", first: ["dog", "cat", "key"] }, context),
  ...Object.fromEntries(
    (["card", "locked", "slowed"] as const).map((reason) => [
      `class problem: ${reason}`,
      (context: pages.LeavingContext) => pages.renderClassProblemPage({ reason, listPath: "/class" }, context),
    ]),
  ),
  "login to the platform": (context) =>
    pages.renderLoginPage(
      { ...login, app: null, steps: { ...steps, cancel: null }, username: "", problem: null },
      context,
    ),
  "login, known": (context) =>
    pages.renderLoginPage(
      { ...login, known: { firstName: "Bo", username: "student.goethe", other: "/other" }, problem: null },
      context,
    ),
  "login, known, wrong password": (context) =>
    pages.renderLoginPage(
      { ...login, known: { firstName: longName, username: "x", other: "/other" }, problem: { kind: "refused" } },
      context,
    ),
  "login, shared device, help of the school": (context) =>
    pages.renderLoginPage(
      { ...login, isShared: true, help: { school: longSchool, text: "Frag Frau Sommer.\nRaum 12" }, problem: null },
      context,
    ),
  "login, nothing entered": (context) =>
    pages.renderLoginPage(
      { ...login, username: "", problem: { kind: "missing", fields: ["username", "password"] } },
      context,
    ),
  "login, wrong password": (context) =>
    pages.renderLoginPage({ ...login, app: longApp, problem: { kind: "refused" } }, context),
  "login, password not used": (context) =>
    pages.renderLoginPage(
      { ...login, ways, passwordForm: "none", problem: { kind: "not_used", homeSchoolId: null } },
      context,
    ),
  "login, blocked": (context) => pages.renderLoginPage({ ...login, app: null, problem: { kind: "blocked" } }, context),
  "login, form too old": (context) => pages.renderLoginPage({ ...login, problem: { kind: "expired_form" } }, context),
  "login, no cookies": (context) => pages.renderLoginPage({ ...login, problem: { kind: "no_cookies" } }, context),
  "login, slowed": (context) =>
    pages.renderLoginPage({ ...login, problem: { kind: "slowed", retryAfterSeconds: 80 } }, context),
  "login, with the school's own logins alone": (context) =>
    pages.renderLoginPage({ ...login, ways, passwordForm: "none", problem: null }, context),
  "login, with the school's own logins first": (context) =>
    pages.renderLoginPage({ ...login, username: "", ways, passwordForm: "folded", problem: null }, context),
  "login, with the school's own logins, wrong password": (context) =>
    pages.renderLoginPage({ ...login, ways, isShared: true, problem: { kind: "refused" } }, context),
  "search of a school": (context) => pages.renderSchoolSearchPage({ ...search, words: "" }, context),
  "search of a school, found": (context) =>
    pages.renderSchoolSearchPage(
      {
        ...search,
        schools: [
          { schoolId: "1", name: "Goethe-Gymnasium", city: "Musterstadt" },
          { schoolId: "2", name: longSchool, city: null },
        ],
      },
      context,
    ),
  "search of a school, nothing found": (context) => pages.renderSchoolSearchPage({ ...search, schools: [] }, context),
  "search of a school, slowed": (context) =>
    pages.renderSchoolSearchPage({ ...search, problem: { kind: "slowed", retryAfterSeconds: 80 } }, context),
  "unknown link of a school": (context) => pages.renderSchoolSearchPage({ ...search, isUnknown: true }, context),
  ...Object.fromEntries(
    [...connectionFailures, ...accountRefusals, ...passingFailures].map((code) => [
      `school's own login, ${code}`,
      (context: pages.LeavingContext) =>
        pages.renderUpstreamFailurePage(
          {
            code,
            login: code === "EXPIRED" ? null : { name: "IServ", school: longSchool, allowsPasswords: code === "CLOCK" },
            again: "/again",
            other: "/other",
            requestId: fault.requestId,
          },
          context,
        ),
    ]),
  ),
  "waiting for the check of a password": (context) =>
    pages.renderWaitingPage({ app: longApp, steps, waiting: "sealed", retryAfterSeconds: 3600 }, context),
  card: (context) => pages.renderCardPage(card, context),
  "card of a person without a name, wrong picture": (context) =>
    pages.renderCardPage({ ...card, firstName: null, secondStep: "PICTURE", isWrong: true }, context),
  "card, wrong PIN": (context) =>
    pages.renderCardPage({ ...card, firstName: longName, secondStep: "PIN", isWrong: true }, context),
  "card at a wrong time": (context) => pages.renderCardProblemPage({ ...cardProblem, reason: "hours" }, context),
  "card, slowed": (context) =>
    pages.renderCardProblemPage({ ...cardProblem, reason: "slowed", retryAfterSeconds: 80 }, context),
  "first password": (context) => pages.renderNewPasswordPage({ ...newPassword, pending: "sealed" }, context),
  "own password, too short": (context) =>
    pages.renderNewPasswordPage({ ...newPassword, asksCurrent: true, back: "/", problem: { kind: "short" } }, context),
  "own password, wrong": (context) =>
    pages.renderNewPasswordPage({ ...newPassword, asksCurrent: true, back: "/", problem: { kind: "wrong" } }, context),
  "own password, not allowed": (context) =>
    pages.renderNoOwnPasswordPage({ isUsed: true, helpText: `Frag Frau Sommer.\n${longSchool}`, back: "/" }, context),
  "own password, not used": (context) =>
    pages.renderNoOwnPasswordPage({ isUsed: false, helpText: null, back: "/" }, context),
  consent: (context) =>
    pages.renderConsentPage(
      {
        app,
        personName,
        scopes: ["openid", "profile", "school", "groups"],
        claims,
        steps,
        otherSchool: "/other-school",
        switchUser: "/other",
      },
      context,
    ),
  "consent to everything": (context) =>
    pages.renderConsentPage(
      {
        app: longApp,
        personName: longName,
        scopes: scopeNames,
        claims: longClaims,
        steps,
        otherSchool: "/other-school",
        switchUser: "/other",
      },
      context,
    ),
  "consent to what says nothing of a person": (context) =>
    pages.renderConsentPage(
      { app, personName, scopes: ["openid"], claims, steps, otherSchool: "/other-school", switchUser: "/other" },
      context,
    ),
  "consent of a person of whom nothing is known": (context) =>
    pages.renderConsentPage(
      {
        app,
        personName: null,
        scopes: ["openid", "profile", "school", "groups"],
        steps,
        otherSchool: "/other-school",
        switchUser: "/other",
        claims: {
          name: null,
          role: "OTHER",
          schulconnexRole: "EXTERN",
          school: null,
          groups: [],
          pseudonym: "Kiesel Otter",
        },
      },
      context,
    ),
  "choose school": (context) =>
    pages.renderChooseSchoolPage(
      {
        app,
        schools: [
          { id: "1", name: "Gesamtschule Nord" },
          { id: "2", name: longSchool },
        ],
        steps,
      },
      context,
    ),
  "switch user": (context) => pages.renderSwitchUserPage({ app, personName, steps, stay: null }, context),
  "switch user who may stay": (context) =>
    pages.renderSwitchUserPage({ app, personName, steps, stay: "/interaction/x/stay" }, context),
  "switch user without a name": (context) =>
    pages.renderSwitchUserPage({ app: longApp, personName: null, steps, stay: null }, context),
  "second factor": (context) =>
    pages.renderSecondFactorPage({ app: null, steps, takesCode: true, passkey: null, problem: null }, context),
  "second factor, recovery code only, for an app": (context) =>
    pages.renderSecondFactorPage(
      { app: longApp, steps, takesCode: false, passkey: { options: "{}", state: "s" }, problem: { kind: "refused" } },
      context,
    ),
  "second factor, slowed": (context) =>
    pages.renderSecondFactorPage(
      { app, steps, takesCode: true, passkey: null, problem: { kind: "slowed", retryAfterSeconds: 80 } },
      context,
    ),
  "second factor to be set up": (context) =>
    pages.renderSetUpNeededPage({ app: longApp, steps, setUp: "/sign-in/second-factor" }, context),
  "second factors, none": (context) =>
    pages.renderSecondFactorsPage({ ...secondFactors, factors: [], codesLeft: 0, isNeeded: true }, context),
  "second factors": (context) => pages.renderSecondFactorsPage(secondFactors, context),
  "authenticator app": (context) => pages.renderTotpPage(totp, context),
  "authenticator app, wrong code": (context) => pages.renderTotpPage({ ...totp, problem: "refused" }, context),
  passkey: (context) => pages.renderPasskeyPage(passkey, context),
  "passkey, refused": (context) => pages.renderPasskeyPage({ ...passkey, isRefused: true }, context),
  "passkey, offered": (context) => pages.renderPasskeyPage({ ...passkey, isOffered: true }, context),
  "passkey, offered and refused": (context) =>
    pages.renderPasskeyPage({ ...passkey, isOffered: true, isRefused: true }, context),
  "login, unknown passkey": (context) =>
    pages.renderLoginPage({ ...login, problem: { kind: "passkey_refused" } }, context),
  "login, no passkeys at the school": (context) =>
    pages.renderLoginPage({ ...login, problem: { kind: "no_passkeys" } }, context),
  "recovery codes": (context) =>
    pages.renderRecoveryCodesPage({ codes: Array<string>(10).fill("abcd-efgh-jkmn"), next: "/" }, context),
  refusal: (context) => pages.renderRefusalPage({ app, personName, reason: "no_grant", steps }, context),
  "refusal of a person who left": (context) =>
    pages.renderRefusalPage({ app: longApp, personName: longName, reason: "person_not_active", steps }, context),
  "refusal of a blocked person": (context) =>
    pages.renderRefusalPage({ app: longApp, personName: longName, reason: "person_blocked", steps }, context),
  "form for the app": (context) => pages.renderFormPostPage({ app: longApp, action: "/on", fields: {} }, context),
  logout: (context) => pages.renderLogoutConfirmPage({ app: null, personName, form }, context),
  "logout by an app": (context) => pages.renderLogoutConfirmPage({ app: longApp, personName: null, form }, context),
  "logged out": (context) => pages.renderLoggedOutPage({ app, backUrl: "http://127.0.0.1:4000/" }, context),
  "error: unknown app": (context) => pages.renderErrorPage({ ...fault, reason: "unknown_app" }, context),
  "error: wrong redirect": (context) => pages.renderErrorPage({ ...fault, reason: "wrong_redirect" }, context),
  "error: expired": (context) => pages.renderErrorPage({ ...fault, reason: "expired", requestId: null }, context),
  "error: expired, of an app": (context) =>
    pages.renderErrorPage({ ...fault, reason: "expired", app: { ...longApp, url: "https://app.example/" } }, context),
  "error: no cookies": (context) => pages.renderErrorPage({ ...fault, reason: "no_cookies" }, context),
  "error: busy": (context) =>
    pages.renderErrorPage({ ...fault, status: 503, reason: "busy", again: "/oauth2/auth?x=1" }, context),
  "signed in already": (context) =>
    pages.renderSignedInPage({ status: 200, personName, app: { ...longApp, url: "https://app.example/" } }, context),
  "error: bug": (context) => pages.renderErrorPage({ ...fault, status: 500, reason: "bug" }, context),
};
