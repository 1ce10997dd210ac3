import { foldText } from "../../platform/text/likeness.ts";
import type { PersonRole } from "../../directory/index.ts";

/** What a column of a plain table is read as. */
export const columnUses = [
  "ID",
  "ROLE",
  "FIRST_NAME",
  "CALL_NAME",
  "LAST_NAME",
  "FULL_NAME",
  "BIRTH_DATE",
  "USERNAME",
  "CLASSES",
  "COURSES",
  "GROUPS",
  "STATUS",
] as const;
export type ColumnUse = (typeof columnUses)[number];

/** Letters and digits only, so that `Schüler-Nr.` and `SCHUELER NR` are the same word. */
export const foldWord = (text: string): string =>
  foldText(text)
    .replace(/ä/g, "ae")
    .replace(/ö/g, "oe")
    .replace(/ü/g, "ue")
    .replace(/ß/g, "ss")
    .normalize("NFD")
    .replace(/[^a-z0-9]/g, "");

const student = "(schueler(in|innen|innenundschueler)?|sus|student(in|en|s)?|pupils?|learners?|kind(er)?)";
const teacher = "(lehrer(in|innen)?|lehrkr(aft|aefte)|lul|teachers?|kollegium)";
const who = `(${student}|${teacher}|person(en|al)?|stamm|staff|externe?|interne?|import|admission|user|nutzer)`;
const number =
  "(id|uid|guid|uuid|n[ro]|nummer|number|kennung|kennzahl|kennzeichen|(id|ident(ifikations)?)(nr|nummer|number)?)";
/** What else than a person has a number. */
const otherThing =
  "(sch(ul|ool)|mandant|klasse|class|gruppe|group|org|kurs|course|fach|raum|room|tele?|fax|handy|mobil|phone|haus|post|strasse|bus|konto|spind|schliessfach|eltern|mutter|vater|parent|guardian|sorge|kontakt|contact|notfall|kasse|versicherung|lfd|laufende|listen|katalog|platz|seiten|steuer|kfz)";

/** Headings as school programs and people write them; of two columns, the one with the earlier pattern is the use. */
const headings: readonly [ColumnUse, RegExp][] = [
  ["ID", new RegExp(`^(${who}s?){1,2}(${number}|schluessel|key|code)$`)],
  [
    "ID",
    /^(id|[ug]?uid|kennung|adno|upn|sourcedid|lokalesdifferenzierungsmerkmal|schluessel(extern)?|pkz|identifier)$/,
  ],
  [
    "ID",
    new RegExp(
      `^(fremd|e?xtern(e|er|al)?|eindeutige|personal|matrikel|sis)?(${number}|schluessel|key)(?<!^n[ro]|^nummer|^number|^key)$`,
    ),
  ],
  ["ID", new RegExp(`^(${teacher}?kuerzel|kurzname|kuerz|abbreviation|staffcode|initials)$`)],
  ["ID", new RegExp(`^(?!${otherThing}).+${number}$`)],
  ["ID", /^(nr|nummer|no|number)$/],
  ["CALL_NAME", /^(rufnamen?|callname|preferred(first)?name|preferredforename|chosenname|knownas|nickname)$/],
  ["FIRST_NAME", /^((alle|amtliche|saemtliche)?vornamen|vornamenalle)$/],
  ["FIRST_NAME", /^(v(or)?name|(legal)?(first|fore|given)names?|first|prenom)$/],
  ["FIRST_NAME", new RegExp(`^vornamen?${student}$`)],
  ["LAST_NAME", /^(nachname|nname|familiennamen?|zuname|langname|longname|(legal)?(last|sur|family)name|last|nom)$/],
  ["LAST_NAME", new RegExp(`^(nach|familien)name${student}$`)],
  ["FULL_NAME", /^((nach|familien|zu)?namen?(und)?((vor|ruf)namen?)?|(vor|ruf)name(und)?(nach|familien)?name)$/],
  ["FULL_NAME", /^(fullname|displayname|anzeigename)$/],
  ["FULL_NAME", new RegExp(`^(${student}|${teacher})(name)?$`)],
  ["BIRTH_DATE", /^(geburts(datum|tag)|geb(datum|dat|am|tag)?|geboren(am)?|dateofbirth|dob|birth(date|day)|born)$/],
  ["CLASSES", /^(kl(asse|assen)?(bezeichnung|kuerzel|kurzname|name|aktuell)?|klassenklassenbezeichnung|stammklasse)$/],
  ["CLASSES", /^(klasse(zusaetzliche)?information(en)?|klasselerngruppe|aktuelleklasse|currentclass|class(es|name)?)$/],
  ["CLASSES", /^(form(group)?|reg(istration)?(group)?|homeroom|tutorgroup)$/],
  ["COURSES", /^(kurse?\d*|kurs(name|bezeichnung)|courses?\d*|teachinggroups?)$/],
  ["GROUPS", /^(gruppen?(bezeichn?ung|name)?|groups?|cohorts?\d*|ags?|arbeitsgemeinschaft(en)?|teams?)$/],
  ["USERNAME", /^(benutzer(name)?|nutzername|username|login(name)?|anmeldename|account(name)?)$/],
  ["ROLE", /^((rollen?|roles?)\d*|funktion|personentyp|benutzertyp|usertype|typ|type|nutzergruppe|benutzergruppe)$/],
  ["STATUS", /^status$/],
];

/** `Schueler_Nachname`, `SchuelerRufname`, `student_first_name` and `an_name` mean the same without the first word. */
const firstWord = new RegExp(`^(${student}|${teacher}|person(en)?|stammdaten)s?(?=.)`);
const shortPrefix = /^(an|s|st|sch|sus)[_.:](?=.)/i;

/** The use that a heading names, with the index of its pattern: a lower one is more certain. */
export function readHeading(heading: string): { use: ColumnUse; rank: number } | undefined {
  const word = foldWord(heading);
  const shorter = foldWord(heading.replace(shortPrefix, "")).replace(firstWord, "");
  for (const [text, less] of [
    [word, 0],
    [shorter, 0.5],
  ] as const) {
    const rank = headings.findIndex(([, pattern]) => pattern.test(text));
    if (rank !== -1) return { use: headings[rank]![0], rank: rank + less };
  }
  return undefined;
}

const roles: readonly [PersonRole, RegExp][] = [
  ["STUDENT", new RegExp(`^(${student}|s)$`)],
  ["TEACHER", new RegExp(`^(${teacher}|klassenlehrer(in)?|referendar(in)?|lehramtsanwaerter(in)?|laa|lk|l)$`)],
  ["OTHER", /^(other|sonstiger?s?|sekretariat|sekretaer(in)?|verwaltung|hausmeister(in)?|mitarbeiter(in)?)$/],
  ["OTHER", /^((nichtlehrendes)?personal|staff|administrat(or|ion)|secretary|office|assistant)$/],
  ["OTHER", /^(schulsozialarbeit(er|erin)?|sozialpaedagog(e|in))$/],
];

export const readRole = (text: string): PersonRole | undefined => {
  const word = foldWord(text);
  return roles.find(([, pattern]) => pattern.test(word))?.[0];
};

const parent = [
  ...["(stief|pflege|gross|grand)?(eltern(teil)?|mutter|vater|parents?|mother|father)", "mum", "mom", "dad"],
  ...["guardians?", "carers?", "relatives?", "nextofkin", "vormu(e?nder|nd)", "sorgber"],
  ...["(verwandt|angehoerig)e?[rn]?", "(personen)?(erziehungs|sorge?)berechtigte?[rn]?(in)?"],
].join("|");
const parents = new RegExp(`^(ext)?((legal|and|or|und|oder)?(${parent}))+$`);

/** Parents and guardians, in the words and codes of every format, are not people of the school. */
export const isParentRole = (text: string): boolean => parents.test(foldWord(text));

/** The role of the people whom a title, a file name or a heading speaks of. */
export function findRoleIn(text: string): "STUDENT" | "TEACHER" | undefined {
  const words = text.split(/[^\p{L}]+/u).map(foldWord);
  if (words.some((word) => new RegExp(`^${teacher}(liste|kuerzel)?$`).test(word))) return "TEACHER";
  const ofStudents = new RegExp(`^(${student}(liste)?|klassenliste|klasse|class)$`);
  return words.some((word) => ofStudents.test(word)) ? "STUDENT" : undefined;
}

const className = /(?:^|[^\p{L}\d])(0?[1-9]|1[0-3])\s?([a-z]{1,2})(?![\p{L}\d])/iu;

/** A class that a title or a file name speaks of, such as `Klassenliste 5a`. */
export function findClassIn(text: string): string | undefined {
  if (!/klasse|class|form\b|schüler|pupil|student/i.test(text)) return undefined;
  return className.exec(text)?.slice(1, 3).join("");
}

const classNames = [
  /^(0?[1-9]|1[0-3])(\s?[./-]?\s?[a-z]{1,3}|[/-][1-9])$/i,
  /^(ef|q1|q2)$/i,
  /^(ef|q1|q2|j|jg|ks|k)\.?\s?1?\d$/i,
];

export const isClassName = (text: string): boolean => classNames.some((pattern) => pattern.test(text));

const wholeClass = /^\d{1,2}\s?[a-z]{1,2}$/i;

/** `07A/07B`, `7a, 7b` and `7a 7b` are two classes; `5/1` and `5a/b` are one name. */
export function splitClasses(text: string): string[] {
  const parts = text.split(/\s*[/+&,;]\s*|\s+(?:und|u\.|and)\s+/i);
  if (parts.every((part) => /\p{L}/u.test(part) && isClassName(part))) return parts;
  const words = text.split(/\s+/);
  return words.length > 1 && words.every((word) => wholeClass.test(word)) ? words : [text];
}

const between = String.raw`\s*(?:[/+&,;–-]|und|u\.|and|bis|to|\s)\s*`;
const isRange = (separators: string): boolean => /[–-]|bis|to/i.test(separators);
/** `5a/b`, `5a-c`, `5a b` */
const oneGrade = new RegExp(String.raw`^(\d{1,2})\s?([a-z])(${between})([a-z](?:${between}[a-z])*)$`, "i");
/** `5-6`, `5/6a`, `5a-6b` */
const twoGrades = new RegExp(String.raw`^(\d{1,2})\s?([a-z]?)${between}(\d{1,2})\s?([a-z]?)$`, "i");
/** `5ab` */
const oneWord = /^(\d{1,2})\s?([a-z]{2,4})$/i;

const lettersFrom = (first: string, last: string): string[] => {
  const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => String.fromCharCode(from + n));
};

/**
 * The classes that the name of a class may mean instead, in lower case without spaces and leading zeros; without a
 * letter, all of a grade. Empty if it can only be one class.
 */
export function findClassesIn(name: string): string[] {
  const text = name.trim().toLowerCase();
  const classOf = (grade: string, letter: string) => `${Number(grade)}${letter}`;
  const [, grade, first, separator = "", rest = ""] = oneGrade.exec(text) ?? [];
  if (grade !== undefined && first !== undefined) {
    const letters = rest.match(/(?<![a-z])[a-z](?![a-z])/g) ?? [];
    const all = isRange(separator) ? lettersFrom(first, letters.at(-1) ?? first) : [first, ...letters];
    return [...new Set(all.map((letter) => classOf(grade, letter)))];
  }
  const [, lower, one = "", higher, other = ""] = twoGrades.exec(text) ?? [];
  if (lower !== undefined && higher !== undefined && (Number(higher) > Number(lower) || (one !== "" && other !== "")))
    return [...new Set([classOf(lower, one || other), classOf(higher, other)])];
  const [, of, together = ""] = oneWord.exec(text) ?? [];
  const letters = lettersFrom(together.slice(0, 1), together.slice(-1));
  return of !== undefined && letters.join("") === together ? letters.map((letter) => classOf(of, letter)) : [];
}

/** Units: days since 1899-12-30, as spreadsheets count; dates of people alive. */
const [firstSerial, lastSerial] = [7_000, 60_000];

/** As ISO, from `31.08.2012`, `2012-08-31`, `31/08/2012` or the serial number of a spreadsheet; the day comes first. */
export function readDate(text: string): string | undefined {
  const value = text.trim().replace(/[ T]00:00(:00)?(\.0+)?Z?$/, "");
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(value);
  const local = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})$/.exec(value);
  if (iso) return toDate(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  if (local) {
    const [day, month, year] = local.slice(1).map(Number) as [number, number, number];
    // Two digits are read as spreadsheets read them.
    const full = year >= 100 ? year : year < 30 ? 2000 + year : 1900 + year;
    return month > 12 && day <= 12 ? toDate(full, day, month) : toDate(full, month, day);
  }
  const serial = /^\d{4,5}$/.test(value) ? Number(value) : 0;
  if (serial < firstSerial || serial > lastSerial) return undefined;
  return new Date(Date.UTC(1899, 11, 30 + serial)).toISOString().slice(0, 10);
}

function toDate(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year > 1900
    ? date.toISOString().slice(0, 10)
    : undefined;
}
