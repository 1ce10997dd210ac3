/** A code in the spellings 1.4 and, unless it is the same, 1.7 and 1.8; and its names. */
type Names = { v17?: string; de: string; en: string };

/** The code lists of the standard by their names; records.ts sends some of the codes. */
export const codelisten = {
  Rolle: {
    LERN: { v17: "Lern", de: "Schülerin oder Schüler", en: "Student" },
    LEHR: { v17: "Lehr", de: "Lehrkraft", en: "Teacher" },
    SORGBER: { v17: "SorgBer", de: "Erziehungsberechtigte Person", en: "Parent or guardian" },
    EXTERN: { v17: "Extern", de: "Externe Person", en: "External person" },
    ORGADMIN: { v17: "OrgAdmin", de: "Verwaltung der Organisation", en: "Administrator of the organisation" },
    LEIT: { v17: "Leit", de: "Leitung der Organisation", en: "Head of the organisation" },
    SYSADMIN: { v17: "SysAdmin", de: "Systemverwaltung", en: "System administrator" },
  },
  Organisationstyp: {
    SCHULE: { v17: "Schule", de: "Schule", en: "School" },
    ANBIETER: { v17: "Anbieter", de: "Anbieter", en: "Provider" },
    SONSTIGE: { v17: "Sonstige", de: "Sonstige Organisation", en: "Other organisation" },
  },
  Gruppentyp: {
    Klasse: { de: "Klasse", en: "Class" },
    Kurs: { de: "Kurs", en: "Course" },
    Sonstig: { de: "Sonstige Gruppe", en: "Other group" },
  },
  Gruppenrolle: {
    Lern: { de: "Schülerin oder Schüler", en: "Student" },
    Lehr: { de: "Lehrkraft", en: "Teacher" },
    KlLeit: { de: "Klassenleitung", en: "Class teacher" },
    Foerd: { de: "Förderlehrkraft", en: "Special needs teacher" },
    SchB: { de: "Schulbegleitung", en: "School assistant" },
    GMit: { de: "Mitglied der Gruppe", en: "Member of the group" },
    GLeit: { de: "Gruppenleitung", en: "Leader of the group" },
  },
} satisfies Record<string, Record<string, Names>>;

/** Codes that the standard has had since version 1.5 or 1.6. */
const since18: { readonly [List in Codeliste]?: Record<string, Names> } = {
  Rolle: {
    SchB: { de: "Schulbegleitung", en: "School assistant" },
    NLehr: { de: "Nicht lehrendes Personal", en: "Staff who do not teach" },
  },
  Organisationstyp: {
    Medienzentrum: { de: "Medienzentrum", en: "Media centre" },
    Behoerde: { de: "Behörde", en: "Authority" },
    SchTrae: { de: "Schulträger", en: "School maintaining body" },
  },
  Gruppenrolle: { VLehr: { de: "Vertretungslehrkraft", en: "Substitute teacher" } },
};

/** How an app reads codes, by version of the standard. */
export type Spelling = "V1_4" | "V1_7" | "V1_8";
export const spellings: readonly Spelling[] = ["V1_4", "V1_7", "V1_8"];

export type Codeliste = keyof typeof codelisten;
export type Code<List extends Codeliste> = keyof (typeof codelisten)[List] & string;

export const namesOf = <List extends Codeliste>(list: List, code: Code<List>): Names =>
  (codelisten[list] as Record<Code<List>, Names>)[code];

export const codesOf = (list: Codeliste, spelling: Spelling): { code: string; de: string; en: string }[] => [
  ...Object.entries<Names>(codelisten[list]).map(([code, { v17 = code, de, en }]) => ({
    code: spelling === "V1_4" ? code : v17,
    de,
    en,
  })),
  ...(spelling === "V1_8" ? Object.entries(since18[list] ?? {}) : []).map(([code, { de, en }]) => ({ code, de, en })),
];
