import { scopeNames } from "../../../src/access/index.ts";
import type { Page, PageContext } from "../../../src/platform/pages/index.ts";
import * as pages from "../../../src/sign-on/pages/index.ts";

const app = { name: "Lernapp" };
const longApp = { name: "Interaktives Mathematik-Übungsportal Niedersachsen-Bremen Sekundarstufe" };
const longName = "Maximiliane-Josephine Freifrau von Hohenlohe-Waldenburg-Schillingsfürst";
const longSchool =
  "Staatliche Berufsschule für Elektrotechnik, Informationstechnologie und Kommunikationsgestaltung, Außenstelle Nord";
const personName = "Bo Muster";
const steps = { action: "/on", cancel: "/back", csrf: "token" };
const form =
  '<form id="op.logoutForm" method="post" action="/on"><input type="hidden" name="xsrf" value="token"/></form>';
const login = { app, steps, username: "student.goethe" };
const fault = { status: 400, requestId: "0193f6a2-7a3c-7000-8000-000000000001" };

/** Every page in every state that looks different, with the shortest and the longest of names. */
export const everyPage: Record<string, (context: PageContext) => Page> = {
  login: (context) => pages.renderLoginPage({ ...login, username: "", problem: null }, context),
  "login to the platform": (context) =>
    pages.renderLoginPage({ app: null, steps: { ...steps, cancel: null }, username: "", problem: null }, context),
  "login, nothing entered": (context) =>
    pages.renderLoginPage(
      { ...login, username: "", problem: { kind: "missing", fields: ["username", "password"] } },
      context,
    ),
  "login, wrong password": (context) =>
    pages.renderLoginPage({ ...login, app: longApp, problem: { kind: "refused" } }, context),
  "login, blocked": (context) => pages.renderLoginPage({ ...login, app: null, problem: { kind: "blocked" } }, context),
  "login, form too old": (context) => pages.renderLoginPage({ ...login, problem: { kind: "expired_form" } }, context),
  "login, slowed": (context) =>
    pages.renderLoginPage({ ...login, problem: { kind: "slowed", retryAfterSeconds: 80 } }, context),
  "login, busy": (context) =>
    pages.renderLoginPage({ ...login, problem: { kind: "busy", retryAfterSeconds: 5 } }, context),
  consent: (context) =>
    pages.renderConsentPage(
      { app, personName, scopes: ["openid", "profile", "school"], steps, switchUser: "/other" },
      context,
    ),
  "consent to everything": (context) =>
    pages.renderConsentPage(
      { app: longApp, personName: longName, scopes: scopeNames, steps, switchUser: "/other" },
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
  refusal: (context) => pages.renderRefusalPage({ app, personName, reason: "no_grant", steps }, context),
  "refusal of a person who left": (context) =>
    pages.renderRefusalPage({ app: longApp, personName: longName, reason: "person_not_active", steps }, context),
  "refusal of a blocked person": (context) =>
    pages.renderRefusalPage({ app: longApp, personName: longName, reason: "person_blocked", steps }, context),
  logout: (context) => pages.renderLogoutConfirmPage({ app: null, personName, form }, context),
  "logout by an app": (context) => pages.renderLogoutConfirmPage({ app: longApp, personName: null, form }, context),
  "logged out": (context) => pages.renderLoggedOutPage({ app, backUrl: "http://127.0.0.1:4000/" }, context),
  "error: unknown app": (context) => pages.renderErrorPage({ ...fault, reason: "unknown_app" }, context),
  "error: wrong redirect": (context) => pages.renderErrorPage({ ...fault, reason: "wrong_redirect" }, context),
  "error: expired": (context) => pages.renderErrorPage({ ...fault, reason: "expired", requestId: null }, context),
  "error: bug": (context) => pages.renderErrorPage({ ...fault, status: 500, reason: "bug" }, context),
};
