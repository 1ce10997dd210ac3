import type { Words } from "./words.ts";

export const peopleCategories = {
  STUDENT: { de: "Schülerinnen und Schüler", en: "Pupils" },
  TEACHER: { de: "Lehrkräfte", en: "Teachers" },
  OTHER: { de: "Weiteres Personal der Schule", en: "Other staff of the school" },
  STAFF: { de: "Personen mit einer Rolle in der Verwaltung des Dienstes", en: "People with a staff role" },
} as const satisfies Record<string, Words>;

export type PeopleCategory = keyof typeof peopleCategories;

/** In the order of the pages: the data that an app can get comes first. */
export const dataCategories = {
  id: {
    de: "Kennung der Person, je App oder Anbieter eine eigene",
    en: "Id of the person, one for each app or provider",
  },
  name: { de: "Vornamen, Rufname, Nachname", en: "First names, name they go by, last name" },
  role: {
    de: "Rolle (Schülerin oder Schüler, Lehrkraft, weiteres Personal)",
    en: "Role (pupil, teacher, other staff)",
  },
  groups: { de: "Klassen und Kurse", en: "Classes and courses" },
  schools: { de: "Schulen", en: "Schools" },
  status: {
    de: "Status (aktiv, ausgeschieden, gesperrt) mit Zeitpunkten",
    en: "Status (active, left, blocked) with its times",
  },
  sourceSystemIdentifier: {
    de: "Nummer der Person im Schulverwaltungsprogramm",
    en: "Number of the person in the school's administration program",
  },
  signIns: { de: "Zeitpunkte der Anmeldung, je App", en: "Times of sign-in, for each app" },
  login: { de: "Benutzername und Prüfwert des Passworts", en: "User name and hash of the password" },
  secondFactors: { de: "Zweite Faktoren und Wiederherstellungscodes", en: "Second factors and recovery codes" },
  loginCards: { de: "Anmeldekarten mit QR-Code", en: "Login cards with a QR code" },
  upstreamAccounts: {
    de: "Konto bei der eigenen Anmeldung der Schule (etwa IServ): Kennung, übermittelte Angaben",
    en: "Account at the school's own login (such as IServ): its id, what it sent",
  },
  sessions: {
    de: "Sitzungen, Zugriffstoken, Zustimmungen, gewählte Schule",
    en: "Sessions, tokens, consents, chosen school",
  },
  devices: {
    de: "Prüfwerte (mit Schlüssel) bekannter Geräte und Netzadressen, Zahl falscher Passwörter",
    en: "Keyed hashes of known devices and network addresses, number of wrong passwords",
  },
  notifications: {
    de: "Mitteilungen an Apps: Kennung, Zeitpunkt, welche Angabe sich geändert hat",
    en: "Notifications of apps: id, time, which property changed",
  },
  disclosures: {
    de: "Welche App wann welche Angaben lesen konnte",
    en: "Which app could read which data, and when",
  },
  accessReports: {
    de: "Was Apps über die Lizenz meldeten, mit der die Person sie nutzt",
    en: "What apps reported about the licence with which the person uses them",
  },
  dataRequests: {
    de: "Auskunftsanfragen: wer gefragt hat (als Art, ohne Namen), wann und wie geantwortet wurde",
    en: "Data requests: who asked (the kind, no name), when and how they were answered",
  },
  appRequests: { de: "Abrufe der Apps, mit der Kennung der Person", en: "Requests of apps, with the id of the person" },
  roster: { de: "Hochgeladene Listen der Schule", en: "Uploaded rosters of the school" },
  importHistory: {
    de: "Importe: wer sie gemacht hat und was sie an der Person geändert haben",
    en: "Imports: who made them and what they changed of the person",
  },
  audit: {
    de: "Protokoll: wer wann was getan hat, mit den Werten vorher und nachher",
    en: "Audit log: who did what and when, with the values before and after",
  },
  staffRoles: { de: "Rollen in der Verwaltung des Dienstes, mit Begründung", en: "Staff roles, with the reason" },
  tasks: {
    de: "Aufträge der Verwaltung: Karten und Passwörter zum Druck, Übergaben, Bitten um ein neues Passwort",
    en: "Tasks of staff: cards and passwords to print, hand-overs, requests for a new password",
  },
  agreements: {
    de: "Wer für die Schule einer Vereinbarung zugestimmt oder sie beendet hat, wann und in welcher Rolle",
    en: "Who agreed for the school or withdrew, when and in which role",
  },
  contacts: {
    de: "Angaben des Anbieters einer App: Anschrift für Hilfe, Vereinbarung",
    en: "What the provider of an app states: support address, agreement",
  },
  mailAddresses: {
    de: "E-Mail-Adressen, an die Nachrichten über Abgleiche von Listen gehen",
    en: "Mail addresses that messages about fetched rosters go to",
  },
  remains: {
    de: "Nach der Löschung: frühere Kennung mit Datum, Prüfwert des Benutzernamens",
    en: "After deletion: former id with the date, keyed hash of the user name",
  },
  serverLog: {
    de: "Betriebsprotokoll: Vorgang, Kennungen, Zeitpunkt, Ergebnis; keine Namen, keine Adressen",
    en: "Server log: operation, ids, time, result; no names, no addresses",
  },
  backups: { de: "Sicherungskopien der Datenbank", en: "Backups of the database" },
} as const satisfies Record<string, Words>;

export type DataCategory = keyof typeof dataCategories;
