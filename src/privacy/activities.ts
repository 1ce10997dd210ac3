import type { DataCategory, PeopleCategory } from "./categories.ts";
import type { PeriodCode } from "./periods.ts";
import type { Words } from "./words.ts";

export type Activity = {
  name: Words;
  purpose: Words;
  people: readonly PeopleCategory[];
  data: readonly DataCategory[];
  /** Beside those of the stored tables. */
  periods?: readonly PeriodCode[];
};

const atSchool = ["STUDENT", "TEACHER", "OTHER"] as const;
const everybody = [...atSchool, "STAFF"] as const;

/** What the service does with data for a school, whichever apps the school uses. Each category of data is in one. */
export const activities = {
  DIRECTORY: {
    name: { de: "Verzeichnis der Schule", en: "Directory of the school" },
    purpose: {
      de: "Führen, wer an der Schule ist, in welcher Rolle und in welchen Klassen, damit Anmeldung und Apps dies nicht selbst erheben müssen.",
      en: "Keep who is at the school, in which role and in which classes, so that neither sign-on nor apps collect it themselves.",
    },
    people: atSchool,
    data: ["name", "role", "groups", "schools", "status", "sourceSystemIdentifier", "remains"],
  },
  SIGN_ON: {
    name: { de: "Anmeldung", en: "Sign-on" },
    purpose: {
      de: "Personen erkennen, die sich anmelden, und ihre Zugänge vor Missbrauch schützen.",
      en: "Recognize people who sign in, and protect their logins against misuse.",
    },
    people: everybody,
    data: ["login", "secondFactors", "loginCards", "upstreamAccounts", "sessions", "devices", "signIns"],
  },
  IMPORTS: {
    name: { de: "Importe der Schullisten", en: "Imports of rosters" },
    purpose: {
      de: "Das Verzeichnis aus dem Schulverwaltungsprogramm aktuell halten und Fehler rückgängig machen können.",
      en: "Keep the directory up to date from the school's administration program, and undo mistakes.",
    },
    people: atSchool,
    data: ["roster", "importHistory"],
  },
  APP_NOTIFICATION: {
    name: { de: "Bereitstellung für Apps", en: "Provision to apps" },
    purpose: {
      de: "Apps der Schule Änderungen mitteilen und Fehler beim Abruf erklären können.",
      en: "Notify the apps of the school of changes, and explain faults of their requests.",
    },
    people: atSchool,
    data: ["id", "notifications", "appRequests"],
  },
  BILLING: {
    name: { de: "Abrechnung mit Anbietern von Apps", en: "Billing of the providers of apps" },
    purpose: {
      de: "Feststellen, an welchen Schulen wie viele Personen eine App mit welcher Art von Lizenz nutzen, damit deren Anbieter nur dafür zahlt.",
      en: "Establish at which schools how many people use an app with which kind of licence, so that its provider pays for these alone.",
    },
    people: atSchool,
    data: ["accessReports"],
  },
  ADMINISTRATION: {
    name: { de: "Verwaltung und Unterstützung", en: "Administration and support" },
    purpose: {
      de: "Festlegen, wer die Schule und den Dienst verwaltet, und deren Aufträge ausführen.",
      en: "Decide who administers the school and the service, and carry out their tasks.",
    },
    people: everybody,
    data: ["staffRoles", "tasks", "agreements", "contacts", "mailAddresses"],
  },
  AUDIT: {
    name: { de: "Protokollierung", en: "Audit log" },
    purpose: {
      de: "Nachvollziehen, wer was getan hat: Nachweis gegenüber Betroffenen und Aufklärung von Missbrauch.",
      en: "Establish who did what: evidence for data subjects, and the investigation of misuse.",
    },
    people: everybody,
    data: ["audit", "disclosures", "dataRequests"],
  },
  OPERATION: {
    name: { de: "Betrieb und Datensicherung", en: "Operation and backups" },
    purpose: {
      de: "Den Dienst verfügbar halten, Störungen beheben, Daten nach einem Ausfall wiederherstellen.",
      en: "Keep the service available, fix faults, restore data after a failure.",
    },
    people: everybody,
    data: ["serverLog", "backups"],
    periods: ["OPERATOR"],
  },
} as const satisfies Record<string, Activity>;
