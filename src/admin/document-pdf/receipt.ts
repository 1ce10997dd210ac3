import type { Schemas } from "../handler.ts";
import type { PrintedDocument } from "./draw.ts";

type Item = Schemas["AppAttribute"] | Schemas["AppScope"];

type Words = {
  file: string;
  title: string;
  lead: (school: string, app: string) => string;
  headings: Record<
    "agreement" | "acceptance" | "given" | "withheld" | "purposes" | "deletion" | "subprocessors" | "text",
    string
  >;
  app: (name: string, provider: string | null) => string;
  version: (version: string, date: string) => string;
  sha256: (hash: string) => string;
  accepted: (at: string, who: string) => string;
  inForce: string;
  replaced: (at: string) => string;
  withdrawn: (at: string, who: string) => string;
  required: string;
  optional: string;
  none: string;
  pdf: string;
  unnamed: string;
  items: Record<Item, string>;
  roles: Record<Schemas["AgreementActor"]["role"], string>;
  footer: (id: string) => string;
};

export const receiptWords: Record<"de" | "en", Words> = {
  de: {
    file: "nachweis-vereinbarung",
    title: "Nachweis über eine Vereinbarung zur Auftragsverarbeitung",
    lead: (school, app) =>
      `${school} hat der Vereinbarung zur Auftragsverarbeitung (Art. 28 DSGVO) für ${app} zugestimmt.`,
    headings: {
      agreement: "Vereinbarung",
      acceptance: "Zustimmung",
      given: "Vereinbarte Daten und Berechtigungen",
      withheld: "Bei der Zustimmung ausgeschaltet",
      purposes: "Zwecke",
      deletion: "Löschfristen",
      subprocessors: "Weitere Auftragsverarbeiter",
      text: "Wortlaut",
    },
    app: (name, provider) => (provider === null ? `App: ${name}` : `App: ${name}, Anbieter: ${provider}`),
    version: (version, date) => `Fassung ${version}, veröffentlicht am ${date}`,
    sha256: (hash) => `SHA-256 des Dokuments: ${hash}`,
    accepted: (at, who) => `Zugestimmt am ${at} durch ${who}`,
    inForce: "Die Zustimmung gilt.",
    replaced: (at) => `Abgelöst durch eine neue Zustimmung am ${at}`,
    withdrawn: (at, who) => `Zurückgenommen am ${at} durch ${who}`,
    required: "erforderlich",
    optional: "nicht erforderlich",
    none: "Keine",
    pdf: "Das Dokument ist eine PDF-Datei. Sie ist zusammen mit diesem Nachweis abrufbar; die Prüfsumme oben weist sie nach.",
    unnamed: "eine Person, die nicht mehr gespeichert ist",
    items: {
      SCHOOL_ADDRESS: "Anschrift der Schule",
      SCHOOL_LOCATION: "Land und Bundesland der Schule",
      SCHOOL_OFFICIAL_ID: "Schulnummer",
      SCHOOLING_LEVEL: "Schulform",
      PERSON_NAME: "Namen von Personen",
      SOURCE_SYSTEM_IDENTIFIER: "Kennungen aus dem Schulverwaltungsprogramm",
      openid: "Anmeldung",
      offline_access: "Angemeldet bleiben",
      profile: "Name bei der Anmeldung",
      school: "Schule bei der Anmeldung",
      role: "Rolle bei der Anmeldung",
      groups: "Gruppen bei der Anmeldung",
      pseudonym: "Pseudonym",
      school_name: "Name der Schule bei der Anmeldung",
      school_official_id: "Schulnummer bei der Anmeldung",
      school_location: "Land und Bundesland bei der Anmeldung",
      school_address: "Anschrift der Schule bei der Anmeldung",
      schooling_level: "Schulform bei der Anmeldung",
      "schools:read": "Schulen lesen",
      "users:read": "Nutzende lesen",
      "groups:read": "Gruppen lesen",
      "people:read": "Personen lesen",
      "admin:read": "Verwaltung lesen",
      "admin:write": "Verwaltung ändern",
    },
    roles: {
      OPERATOR: "Betrieb",
      DISTRICT: "Schulträger",
      SCHOOL_ADMIN: "Schul-Administration",
      SECRETARY: "Sekretariat",
      CLASS_TEACHER: "Klassenleitung",
      PARTNER: "App-Anbieter",
      SUPPORT: "Support",
      NONE: "ohne Rolle",
    },
    footer: (id) => `Nachweis ${id}`,
  },
  en: {
    file: "agreement-receipt",
    title: "Receipt for a data processing agreement",
    lead: (school, app) => `${school} agreed to the data processing agreement (Art. 28 GDPR) for ${app}.`,
    headings: {
      agreement: "Agreement",
      acceptance: "Consent of the school",
      given: "Data and permissions agreed to",
      withheld: "Switched off at the time",
      purposes: "Purposes",
      deletion: "Deletion periods",
      subprocessors: "Other processors",
      text: "Wording",
    },
    app: (name, provider) => (provider === null ? `App: ${name}` : `App: ${name}, provider: ${provider}`),
    version: (version, date) => `Version ${version}, published on ${date}`,
    sha256: (hash) => `SHA-256 of the document: ${hash}`,
    accepted: (at, who) => `Agreed on ${at} by ${who}`,
    inForce: "The agreement is in force.",
    replaced: (at) => `Replaced by a later consent on ${at}`,
    withdrawn: (at, who) => `Withdrawn on ${at} by ${who}`,
    required: "required",
    optional: "optional",
    none: "None",
    pdf: "The document is a PDF file. It can be downloaded together with this receipt; the hash above identifies it.",
    unnamed: "a person who is no longer stored",
    items: {
      SCHOOL_ADDRESS: "School address",
      SCHOOL_LOCATION: "Country and state of the school",
      SCHOOL_OFFICIAL_ID: "Official school ID",
      SCHOOLING_LEVEL: "School type",
      PERSON_NAME: "Names of people",
      SOURCE_SYSTEM_IDENTIFIER: "IDs of people in the school’s administration software",
      openid: "Signing in",
      offline_access: "Staying signed in",
      profile: "Name at sign-in",
      school: "School at sign-in",
      role: "Role at sign-in",
      groups: "Groups at sign-in",
      pseudonym: "Pseudonym",
      school_name: "Name of the school at sign-in",
      school_official_id: "Official school ID at sign-in",
      school_location: "Country and state at sign-in",
      school_address: "School address at sign-in",
      schooling_level: "School type at sign-in",
      "schools:read": "Reading schools",
      "users:read": "Reading users",
      "groups:read": "Reading groups",
      "people:read": "Reading people",
      "admin:read": "Reading administration",
      "admin:write": "Changing administration",
    },
    roles: {
      OPERATOR: "Operator",
      DISTRICT: "District",
      SCHOOL_ADMIN: "School administrator",
      SECRETARY: "School office",
      CLASS_TEACHER: "Class teacher",
      PARTNER: "App provider",
      SUPPORT: "Support",
      NONE: "without a role",
    },
    footer: (id) => `Receipt ${id}`,
  },
};

/** The receipt as a document to print. */
export function describeReceipt(
  { receipt, schoolName, agreement }: Schemas["AgreementProof"],
  { language, now }: { language: "de" | "en"; now: Date },
): PrintedDocument {
  const words = receiptWords[language];
  const timeZone = "Europe/Berlin";
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone });
  const day = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone });
  const at = (text: string) => time.format(new Date(text));
  const who = ({ name, role }: Schemas["AgreementActor"]) => `${name ?? words.unnamed} (${words.roles[role]})`;
  const inWords = ({ de, en }: Schemas["AppText"]) => (language === "de" ? (de ?? en) : (en ?? de)) ?? words.none;
  const list = (items: readonly Item[]) =>
    items.length === 0 ? [words.none] : [items.map((item) => words.items[item]).join(", ")];
  const describeNeed = (item: Item, { isRequired, purpose }: { isRequired: boolean; purpose: Schemas["AppText"] }) =>
    `${words.items[item]} (${isRequired ? words.required : words.optional}): ${inWords(purpose)}`;
  const { headings } = words;
  const state =
    receipt.withdrawnAt !== null && receipt.withdrawnBy !== undefined
      ? words.withdrawn(at(receipt.withdrawnAt), who(receipt.withdrawnBy))
      : receipt.replacedAt !== null
        ? words.replaced(at(receipt.replacedAt))
        : words.inForce;
  return {
    language,
    now,
    title: words.title,
    lead: words.lead(schoolName, receipt.appName),
    footer: words.footer(receipt.id),
    sections: [
      {
        heading: headings.agreement,
        lines: [
          words.app(receipt.appName, receipt.provider),
          words.version(receipt.version, day.format(new Date(agreement.publishedAt!))),
          words.sha256(receipt.sha256),
        ],
      },
      { heading: headings.acceptance, lines: [words.accepted(at(receipt.acceptedAt), who(receipt.acceptedBy)), state] },
      { heading: headings.given, lines: list([...receipt.attributes, ...receipt.scopes]) },
      { heading: headings.withheld, lines: list(receipt.withheld) },
      {
        heading: headings.purposes,
        lines: [
          ...agreement.attributes.map(({ attribute, ...need }) => describeNeed(attribute, need)),
          ...agreement.scopes.map(({ scope, ...need }) => describeNeed(scope, need)),
        ],
      },
      { heading: headings.deletion, lines: inWords(agreement.deletionPeriods).split("\n") },
      {
        heading: headings.subprocessors,
        lines:
          agreement.subprocessors.length === 0
            ? [words.none]
            : agreement.subprocessors.map(({ name, country, purpose }) => `${name} (${country}): ${purpose}`),
      },
      { heading: headings.text, lines: agreement.text === null ? [words.pdf] : agreement.text.split("\n") },
    ],
  };
}
