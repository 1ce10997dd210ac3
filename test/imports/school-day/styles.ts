import type { Wishes } from "../rosters.ts";
import { writeWorkbook } from "../workbook.ts";
import type { Pupil, School } from "./school.ts";

export type SchoolFile = { name: string; content: Buffer };
type Uses = NonNullable<Wishes["columns"]>["uses"];

/** `uses` are chosen by hand where the service cannot guess them. */
export type Style = {
  program: string;
  write(school: School): SchoolFile | Promise<SchoolFile>;
  spell(name: string): string;
  uses?: Uses;
};

const windows1252 = (text: string): Buffer => {
  const special = new Map(
    [..."€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"].map((sign, n) => [
      sign,
      [
        0x80, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8e, 0x91, 0x92, 0x93, 0x94, 0x95,
        0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9e, 0x9f,
      ][n]!,
    ]),
  );
  // Letters that the encoding lacks are written without their marks, as the programs do.
  const known = text.replace(/[^\0-\xff]/gu, (sign) =>
    special.has(sign) ? sign : sign === "ı" ? "i" : sign === "Ł" ? "L" : sign.normalize("NFD")[0]!,
  );
  return Buffer.from(Array.from(known, (sign) => special.get(sign) ?? sign.charCodeAt(0)));
};
const quoted = (cells: readonly string[], separator = ";") =>
  `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(separator)}\r\n`;
const plain = (cells: readonly string[], separator = ";") => `${cells.join(separator)}\r\n`;
const grade = ({ in: name }: Pupil) => String(Number.parseInt(name)).padStart(2, "0");
const padded = (name: string) => name.replace(/^\d+/, (digits) => digits.padStart(2, "0"));
const capital = (name: string) => padded(name).toUpperCase();
const asItIs = (name: string) => name;
const serial = (date: string) => {
  const [day, month, year] = date.split(".").map(Number) as [number, number, number];
  return String(Math.round(Date.UTC(year, month - 1, day) / 86_400_000) + 25_569);
};

/** Export of pupils of SVWS and SchILD-NRW: every field quoted, a sum below. */
const svws: Style = {
  program: "SVWS/SchILD",
  spell: capital,
  write: ({ pupils }) => ({
    name: "SchuelerExport.csv",
    content: windows1252(
      quoted([
        "Interne ID-Nummer",
        "Nachname",
        "Vorname",
        "Rufname",
        "Geburtsdatum",
        "Klasse",
        "Jahrgang",
        "Externe ID-Nr",
      ]) +
        pupils
          .map((pupil) =>
            quoted([
              String(pupil.id),
              pupil.last,
              pupil.first,
              pupil.call,
              pupil.born,
              capital(pupil.in),
              grade(pupil),
              "",
            ]),
          )
          .join("") +
        quoted(["", `Summe ${pupils.length}`, "", "", "", "", "", ""]) +
        "\r\n",
    ),
  }),
};
/** ASV of Bavaria: UTF-8 with byte order mark, rows of separators at the end. */
const asv: Style = {
  program: "ASV",
  spell: asItIs,
  write: ({ pupils }) => ({
    name: "asv-schueler.csv",
    content: Buffer.from(
      "\ufeff" +
        plain([
          "Familienname",
          "Rufname",
          "Vornamen",
          "Namensbestandteil vorangestellt",
          "Geschlecht",
          "Geburtsdatum",
          "Klasse",
          "Eintritt",
          "Schüler-ID",
        ]) +
        pupils
          .map((pupil) =>
            plain([pupil.last, pupil.call, pupil.first, "", "W", pupil.born, pupil.in, "12.09.2025", `A-${pupil.id}`]),
          )
          .join("") +
        plain(Array.from({ length: 9 }, () => "")).repeat(2),
    ),
  }),
};
/** LUSD of Hesse: a workbook with a title, dates as numbers, and a footer. */
const lusd: Style = {
  program: "LUSD",
  spell: padded,
  write: async ({ name, pupils }) => ({
    name: "LUSD Schülerliste.xlsx",
    content: await writeWorkbook([
      [`${name}: Schülerliste`],
      [],
      ["Schüler_Nachname", "Schüler_Vorname", "Schüler_Geburtsdatum", "Klassen_Klassenbezeichnung", "Schüler_ID"],
      ...pupils.map((pupil) => [
        pupil.last,
        pupil.first,
        serial(pupil.born),
        padded(pupil.in),
        String(pupil.id).padStart(10, "0"),
      ]),
      [],
      [`Anzahl: ${pupils.length}`],
      ["Stand: 29.11.2026"],
    ]),
  }),
};
/** Students of WebUntis: tabs, texts with quotation marks. */
const webuntis: Style = {
  program: "WebUntis",
  spell: asItIs,
  write: ({ pupils }) => ({
    name: "Schueler.csv",
    content: Buffer.from(
      plain(
        [
          "name",
          "longName",
          "foreName",
          "gender",
          "birthDate",
          "klasse.name",
          "entryDate",
          "exitDate",
          "text",
          "id",
          "externKey",
        ],
        "\t",
      ) +
        pupils
          .map((pupil, n) =>
            plain(
              [
                `${pupil.last}${pupil.call}`.slice(0, 8),
                pupil.last,
                pupil.first,
                "FEMALE",
                pupil.born,
                pupil.in,
                "01.08.2025",
                "",
                n === 3 ? '"Allergie: Nüsse; ""EpiPen"""' : "",
                String(pupil.id),
                "",
              ],
              "\t",
            ),
          )
          .join(""),
    ),
  }),
};
/** `schueler.txt` of sophomorix and linuxmuster: no headings, a separator at the end of each line. */
const sophomorix: Style = {
  program: "sophomorix",
  spell: asItIs,
  uses: ["CLASSES", "LAST_NAME", "FIRST_NAME", "BIRTH_DATE", "ID"],
  write: ({ pupils }) => ({
    name: "schueler.txt",
    content: windows1252(
      pupils.map((pupil) => `${pupil.in};${pupil.last};${pupil.first};${pupil.born};${pupil.id};\n`).join(""),
    ),
  }),
};
export const styles: readonly Style[] = [svws, asv, lusd, webuntis, sophomorix];

export const svwsFile = (school: School) => svws.write(school) as SchoolFile;

/** The list of the staff room: a title, initials, rows of separators at the end. */
export const staffFile = ({ name, teachers }: School, spell: Style["spell"] = capital): SchoolFile => ({
  name: "Kollegium.csv",
  content: windows1252(
    plain([`Lehrerkollegium ${name}`, "", "", "", ""]) +
      plain(["Kürzel", "Titel", "Name", "Vorname", "Klasse"]) +
      teachers
        .map(({ id, last, first, classes }) => plain([id, "", last, first, classes.map(spell).join(",")]))
        .join("") +
      plain(["", "", "", "", ""]).repeat(3),
  ),
});
/** Courses without classes, of the pupils who have any. */
export const coursesFile = ({ pupils }: School): SchoolFile => ({
  name: "Kurse.csv",
  content: windows1252(
    plain(["Interne ID-Nummer", "Nachname", "Vorname", "Kurse"]) +
      pupils.map(({ id, last, first, courses }) => plain([String(id), last, first, courses.join(",")])).join(""),
  ),
});

/** As it is after a full disk or a closed laptop: in the middle of a row. */
export const cut = ({ name, content }: SchoolFile): SchoolFile => ({
  name,
  content: content.subarray(0, content.length * 0.6),
});
