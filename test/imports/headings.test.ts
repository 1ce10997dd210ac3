import { expect, test } from "vitest";
import { guessColumns } from "../../src/imports/formats/columns.ts";

/** Headings of exports after the public descriptions of programs, each with a value; N is the number of the row. */
const exports: Record<string, string> = {
  "SchILD-NRW":
    "Interne·ID-Nummer=1023N Nachname=Aydın Vorname=Elif·Su Rufname=Elif Klasse=05A Jahrgang=05 Externe·ID-Nr=",
  "a free list of SchILD-NRW": "Klasse=05A Name=Aydın Rufname=Elif Identnummer=4711N",
  "ASV, Bavaria":
    "Familienname=Bäumler Rufname=Resi Vornamen=Theresia·Maria Klasse=7c Lokales·Differenzierungsmerkmal=77N",
  "ASV-BW":
    "Schüleridentnummer=55N Nachname=Weiß Vorname=Änne Geburtsdatum=09.06.2014 Klassenart=R Klasse=5a Jahrgangsstufe=5",
  DaNiS: "SchuelerIdentNummer=88N SchuelerRufname=Jonas SchuelerNachname=Müller GruppeBezeichnung=5a GruppeId=3N",
  LUSD: "Klassen_Klassenbezeichnung=05a Schueler_Nachname=Döring Schueler_Vorname=Lina Schueler_Schueler-ID=00008N Schueler_Telefon=0611N",
  "Magellan, Berlin": "SchulNr=01K02 Mandant=1 ID=7N GUID=ab-N Nachname=Özil Namenszusatz= Vorname=Emre Vorname2=Can",
  "SaxSVS-BBS": "an_name=Strauß an_vname=Ida an_gebname= an_gebdat=28.02.2010 kl_name=BK·1a ident-nr=90N",
  WebUntis:
    "name=DoerinL longName=Döring foreName=Lina gender=FEMALE birthDate=31.08.2014 klasse.name=5a id=512N externKey=",
  Schulmanager: "Rufname=Elif Alle·Vornamen=Elif·Su Nachname=Aydın Fremdschlüssel=F-N Klasse=5a",
  IServ: "Import-ID=66N Nachname=Aydın Vorname=Elif Klasse/Information=5a Account=elif.aydin",
  "edoo.sys": "Familienname=Weiß Rufname=Ludwig Schüler-Nr.=31N Klasse=7d E-Mail·privat=wN@example.org",
  "BBS-Planung": "NNAME=Strauß VNAME=Ida GEBDAT=28.02.2010 KL_NAME=BK1a ID=A-N",
  "Sokrates, Austria": "Katalognummer=N Schülerkennzahl=9000N Familienname=Gruber Vorname=Eva Klasse=3b",
  "a list of all names": "ID-Nr.=4N Name=Aydın,·Elif Vorname=Elif Klasse=5a",
  "a list of numbers": "Lfd.·Nr.=N Name=Aydın Vorname=Elif Klasse=5a Telefon-Nr.=0301N Ausweis-Nr.=8N",
  "first names twice":
    "Name=Aydın Vornamen=Elif·Su Vorname=Elif Schüler-Kennung=x-N Klasse=5a Sorgeberechtigter·Vorname=Ali",
  Moodle: "username=uN firstname=Elif lastname=Aydın email=eN@example.org idnumber=12N cohort1=5a",
  "School Data Sync": "SIS·ID=12N School·SIS·ID=1 First·Name=Elif Last·Name=Aydın Username=uN Grade=05",
  PowerSchool: "Student_Number=77N Last_Name=Aydın First_Name=Elif Grade_Level=5 Home_Room=5a",
  "teachers of Untis": "Kürzel=AyN Nachname=Aydın Vorname=Elif Personalnummer=5N",
  Access: "[PKZ]=S10N [Name]=Aydın [Vorname]=Elif [Klasse]=5a",
};

function usesOf(text: string): string {
  const columns = text.split(" ").map((column) => column.replaceAll("·", " ").split("=") as [string, string]);
  const records = [
    columns.map(([heading]) => heading),
    ...[1, 2, 3].map((n) => columns.map(([, value]) => value.replace(/N(?!\p{L})/u, String(n)))),
  ];
  const head = {
    separator: ";",
    width: columns.length,
    records: records.map((fields, n) => ({ line: n + 1, fields })),
  } as const;
  const { headings, mapping } = guessColumns(head, { name: "liste.csv" });
  return mapping.uses.flatMap((use, index) => (use === null ? [] : [`${headings[index]}: ${use}`])).join(", ");
}

test("the columns of exports are guessed by their headings, by each other and by what stands in them", () => {
  expect(Object.fromEntries(Object.entries(exports).map(([name, text]) => [name, usesOf(text)])))
    .toMatchInlineSnapshot(`
    {
      "ASV, Bavaria": "Familienname: LAST_NAME, Rufname: CALL_NAME, Vornamen: FIRST_NAME, Klasse: CLASSES, Lokales Differenzierungsmerkmal: ID",
      "ASV-BW": "Schüleridentnummer: ID, Nachname: LAST_NAME, Vorname: FIRST_NAME, Geburtsdatum: BIRTH_DATE, Klasse: CLASSES",
      "Access": "[PKZ]: ID, [Name]: LAST_NAME, [Vorname]: FIRST_NAME, [Klasse]: CLASSES",
      "BBS-Planung": "NNAME: LAST_NAME, VNAME: FIRST_NAME, GEBDAT: BIRTH_DATE, KL_NAME: CLASSES, ID: ID",
      "DaNiS": "SchuelerIdentNummer: ID, SchuelerRufname: FIRST_NAME, SchuelerNachname: LAST_NAME, GruppeBezeichnung: CLASSES",
      "IServ": "Import-ID: ID, Nachname: LAST_NAME, Vorname: FIRST_NAME, Klasse/Information: CLASSES, Account: USERNAME",
      "LUSD": "Klassen_Klassenbezeichnung: CLASSES, Schueler_Nachname: LAST_NAME, Schueler_Vorname: FIRST_NAME, Schueler_Schueler-ID: ID",
      "Magellan, Berlin": "ID: ID, Nachname: LAST_NAME, Vorname: FIRST_NAME",
      "Moodle": "username: USERNAME, firstname: FIRST_NAME, lastname: LAST_NAME, idnumber: ID, cohort1: CLASSES",
      "PowerSchool": "Student_Number: ID, Last_Name: LAST_NAME, First_Name: FIRST_NAME, Home_Room: CLASSES",
      "SaxSVS-BBS": "an_name: LAST_NAME, an_vname: FIRST_NAME, an_gebdat: BIRTH_DATE, kl_name: CLASSES, ident-nr: ID",
      "SchILD-NRW": "Interne ID-Nummer: ID, Nachname: LAST_NAME, Vorname: FIRST_NAME, Rufname: CALL_NAME, Klasse: CLASSES",
      "School Data Sync": "SIS ID: ID, First Name: FIRST_NAME, Last Name: LAST_NAME, Username: USERNAME",
      "Schulmanager": "Rufname: CALL_NAME, Alle Vornamen: FIRST_NAME, Nachname: LAST_NAME, Fremdschlüssel: ID, Klasse: CLASSES",
      "Sokrates, Austria": "Schülerkennzahl: ID, Familienname: LAST_NAME, Vorname: FIRST_NAME, Klasse: CLASSES",
      "WebUntis": "longName: LAST_NAME, foreName: FIRST_NAME, birthDate: BIRTH_DATE, klasse.name: CLASSES, id: ID",
      "a free list of SchILD-NRW": "Klasse: CLASSES, Name: LAST_NAME, Rufname: FIRST_NAME, Identnummer: ID",
      "a list of all names": "ID-Nr.: ID, Name: FULL_NAME, Klasse: CLASSES",
      "a list of numbers": "Name: LAST_NAME, Vorname: FIRST_NAME, Klasse: CLASSES, Ausweis-Nr.: ID",
      "edoo.sys": "Familienname: LAST_NAME, Rufname: FIRST_NAME, Schüler-Nr.: ID, Klasse: CLASSES",
      "first names twice": "Name: LAST_NAME, Vornamen: FIRST_NAME, Vorname: CALL_NAME, Schüler-Kennung: ID, Klasse: CLASSES",
      "teachers of Untis": "Nachname: LAST_NAME, Vorname: FIRST_NAME, Personalnummer: ID",
    }
  `);
});

test("a person who is in a list twice does not hide its column of ids", () => {
  const list = (ids: readonly number[]) =>
    guessColumns(
      {
        separator: ";",
        width: 3,
        records: [["Nachname", "Vorname", "ID"], ...ids.map((id) => ["Aydın", "Elif", `${id}`])].map((fields, n) => ({
          line: n + 1,
          fields,
        })),
      },
      { name: "list.csv" },
    ).mapping.uses[2];
  expect([list([1, 2, 3, 4, 5, 6, 7, 7]), list([1, 1, 1, 2, 2, 2, 3, 3])]).toEqual(["ID", null]);
});
