import { gzipSync } from "node:zlib";
import { replay, type Reply } from "./replayed.ts";

/** A small school as the export for learning platforms describes it: ids of groups are those of a term. */
export function makeSvwsExport({ term = 21, schulnummer = 100815 } = {}) {
  const login = { benutzername: "vorname.nachname", initialpasswort: "Erstpasswort-17" };
  const id = (number: number) => term * 1000 + number;
  return {
    revision: 1,
    idLernplattform: 4,
    lernplattformBezeichnung: "Schultor",
    titel: "JSON für Lernplattformen",
    schulnummer,
    schuljahr: 2026,
    idSchuljahresabschnitt: term,
    schulbezeichnung: "Gymnasium am Lindenplatz",
    mailadresse: "post@lindenplatz.example",
    jahrgaenge: [
      { id: 5, kuerzel: "05", kuerzelAnzeige: "5", bezeichnung: "Jahrgang 5" },
      { id: 11, kuerzel: "EF", kuerzelAnzeige: "EF", bezeichnung: "Einführungsphase" },
      { id: 12, kuerzel: "Q1", kuerzelAnzeige: "Q1", bezeichnung: "Qualifikationsphase 1" },
    ],
    klassen: [
      { id: id(1), kuerzel: "05A", kuerzelAnzeige: "5a", idJahrgang: 5, idsKlassenlehrer: [301, 999] },
      { id: id(2), kuerzel: "EF", kuerzelAnzeige: null, idJahrgang: 11, idsKlassenlehrer: [] },
      { id: id(3), kuerzel: "Q1", kuerzelAnzeige: "Q1", idJahrgang: 12, idsKlassenlehrer: [302] },
    ],
    lehrer: [
      {
        id: 301,
        kuerzel: "BRA",
        vorname: "Katrin",
        nachname: "Brandt",
        geschlecht: "w",
        emailDienstlich: null,
        lernplattformlogin: login,
      },
      {
        id: 302,
        kuerzel: "OEZ",
        vorname: "Cem",
        nachname: "Özdemir",
        geschlecht: "m",
        emailDienstlich: "oez@lindenplatz.example",
        lernplattformlogin: login,
      },
    ],
    faecher: [{ id: 7, kuerzel: "D", kuerzelAnzeige: "D", istFremdsprache: false }],
    lerngruppen: [
      // Lessons of a class: idIntern is the class, and there is no kind of course.
      {
        id: 1,
        idIntern: id(1),
        idFach: 7,
        idKursart: null,
        bezeichnung: "D",
        kursartKuerzel: null,
        bilingualeSprache: null,
        idsLehrer: [301],
        wochenstunden: 4,
      },
      {
        id: 2,
        idIntern: id(51),
        idFach: 7,
        idKursart: 12,
        bezeichnung: "D-GK1",
        kursartKuerzel: "GK",
        bilingualeSprache: null,
        idsLehrer: [302],
        wochenstunden: 3,
      },
      {
        id: 3,
        idIntern: id(52),
        idFach: 7,
        idKursart: 12,
        bezeichnung: "D-GK1",
        kursartKuerzel: "GK",
        bilingualeSprache: null,
        idsLehrer: [null],
        wochenstunden: 3,
      },
      {
        id: 4,
        idIntern: id(53),
        idFach: 8,
        idKursart: 13,
        bezeichnung: "Chor",
        kursartKuerzel: "AG",
        bilingualeSprache: null,
        idsLehrer: [301],
        wochenstunden: null,
      },
    ],
    schueler: [
      {
        id: 12001,
        idJahrgang: 5,
        idKlasse: id(1),
        vorname: "Mia Sophie",
        nachname: "Albrecht",
        geschlecht: "w",
        geburtsdatum: "2015-03-09",
        status: 2,
        lernplattformlogin: login,
        idsLerngruppen: [1, 4],
      },
      {
        id: 12002,
        idJahrgang: 11,
        idKlasse: id(2),
        vorname: "Jannik",
        nachname: "Böhm",
        geschlecht: "m",
        geburtsdatum: "2010-11-30",
        status: 2,
        lernplattformlogin: { benutzername: null, initialpasswort: null },
        idsLerngruppen: [2, 4],
      },
      {
        id: 12003,
        idJahrgang: 12,
        idKlasse: id(3),
        vorname: "Leyla",
        nachname: "Yılmaz",
        geschlecht: "w",
        geburtsdatum: "2009-06-21",
        status: 3,
        lernplattformlogin: login,
        idsLerngruppen: [3, 4],
      },
    ],
  };
}
export type SvwsExport = ReturnType<typeof makeSvwsExport>;

const terms = [
  { id: 19, schuljahr: 2025, abschnitt: 2, idVorigerAbschnitt: 18, idFolgeAbschnitt: 21 },
  { id: 21, schuljahr: 2026, abschnitt: 1, idVorigerAbschnitt: 19, idFolgeAbschnitt: 22 },
  { id: 22, schuljahr: 2026, abschnitt: 2, idVorigerAbschnitt: 21, idFolgeAbschnitt: 23 },
  { id: 23, schuljahr: 2027, abschnitt: 1, idVorigerAbschnitt: 22, idFolgeAbschnitt: null },
];
const authorization = `Basic ${Buffer.from("schultor:geheim").toString("base64")}`;

/** SVWS-Server, in which the schema `gymlinde` has the learning platform of this service among others. */
export function replaySvws({
  exports,
  answer = () => undefined,
}: {
  exports: Record<number, object>;
  answer?: (path: string) => Reply | undefined;
}) {
  return replay(({ path, headers }) => {
    const other = answer(path);
    if (other !== undefined) return other;
    if (headers.authorization !== authorization) return { status: 401 };
    const [, schema, rest = ""] = /^\/api\/external\/([^/]+)\/v1\/(.*)$/.exec(path) ?? [];
    if (schema !== "gymlinde") return { status: 404 };
    if (rest === "lernplattformen/")
      return {
        body: [
          { id: 3, bezeichnung: "Logineo" },
          { id: 4, bezeichnung: "Schultor" },
        ],
      };
    if (rest === "schuljahresabschnitte/") return { body: terms };
    const [, platform, term] = /^lernplattformen\/(\d+)\/(\d+)\/gzip$/.exec(rest) ?? [];
    const found = platform === "4" ? exports[Number(term)] : undefined;
    return found === undefined ? { status: 404 } : { body: gzipSync(JSON.stringify(found)) };
  });
}
