import type { Words } from "./words.ts";

/** Technical and organisational measures (Art. 32 GDPR) that the service itself takes. */
export const measures = {
  MINIMISATION: {
    de: "Datensparsamkeit: Eine App erhält nur, wozu ihre Registrierung und die Freigabe der Schule berechtigen; alles andere bleibt leer. In Listen von Personen stehen für sie nur Mitglieder freigegebener Klassen und Kurse. Als Nutzer kann sie, wenn ihre Registrierung das umfasst, alle lesen, die eine Freigabe bei ihr anmelden lässt oder die sich schon angemeldet haben, bis sie endgültig gelöscht sind.",
    en: "Data minimisation: an app gets only what its registration and the school's grant allow; anything else is empty. Its lists of people have only members of granted classes and courses. As users it can read, if its registration includes this, everybody whom a grant lets sign in to it or who has signed in to it, until they are deleted for good.",
  },
  PSEUDONYMS: {
    de: "Pseudonymisierung: Neue Apps kennen eine Person unter einer zufälligen Kennung, die keine andere App hat.",
    en: "Pseudonymisation: new apps know a person by a random id that no other app has.",
  },
  ENCRYPTION: {
    de: "Verschlüsselung: Geheimnisse, Schlüssel und Drucksachen liegen mit AES-256-GCM verschlüsselt in der Datenbank; außerhalb der Entwicklung werden Apps nur über https aufgerufen.",
    en: "Encryption: secrets, keys and documents to print are stored encrypted with AES-256-GCM; outside development apps are called by https only.",
  },
  HASHES: {
    de: "Prüfwerte statt Geheimnissen: Passwörter mit Argon2id, Zugriffstoken und Karten als SHA-256, Geräte und Adressen als Prüfwerte mit Schlüssel.",
    en: "Hashes instead of secrets: passwords with Argon2id, tokens and cards as SHA-256, devices and addresses as keyed hashes.",
  },
  ROLES: {
    de: "Zugriffskontrolle: Jeder Vorgang verlangt eine Rolle, die auf Schulen oder Apps begrenzt ist; Unterstützung durch Dritte ist befristet, begründet und für die Schule sichtbar.",
    en: "Access control: every operation needs a role that is limited to schools or apps; support by others has an end and a reason and is visible to the school.",
  },
  SECOND_FACTOR: {
    de: "Starke Anmeldung: Verwaltende melden sich mit einem zweiten Faktor an; falsche Passwörter werden gebremst.",
    en: "Strong sign-on: staff sign in with a second factor; wrong passwords are slowed down.",
  },
  SEPARATION: {
    de: "Trennung: Eine Schule sieht nur ihre eigenen Personen; Gäste bleiben bei ihrer Stammschule.",
    en: "Separation: a school sees only its own people; guests stay with their home school.",
  },
  AUDIT: {
    de: "Nachvollziehbarkeit: Jede Änderung und jede Auskunft steht mit Person, Rolle und Zeitpunkt im Protokoll.",
    en: "Accountability: every change and every response to a data request is in the audit log with person, role and time.",
  },
  INTEGRITY: {
    de: "Unversehrtheit: Änderung, Protokoll und Mitteilungen werden zusammen oder gar nicht gespeichert; Mitteilungen an Apps sind signiert.",
    en: "Integrity: a change, its audit entry and its notifications are stored together or not at all; notifications of apps are signed.",
  },
  AVAILABILITY: {
    de: "Verfügbarkeit: mehrere Prozesse, Sicherung und geprobte Wiederherstellung, Überwachung mit Alarmen.",
    en: "Availability: several processes, backups with a rehearsed restore, monitoring with alerts.",
  },
  DELETION: {
    de: "Löschung: Fristen laufen von selbst ab; ein Befehl durchsucht Datenbank, Protokolle und Sicherungen nach Resten einer gelöschten Person.",
    en: "Deletion: periods end by themselves; a command searches database, logs and backups for what is left of a deleted person.",
  },
} as const satisfies Record<string, Words>;
