import { fromShownGroupsOf, memberRole, schoolIsShown } from "../access/index.ts";
import { jsonArray, jsonCode, jsonFrom, jsonObject, jsonText, jsonWhen, type JsonSql } from "../platform/json-sql.ts";
import { lookUp } from "../platform/lookup-sql.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";

type Schemas = components["schemas"];
export type Personendatensatz = Schemas["Personendatensatz"];

/** Which parts of a record were asked for. */
export type Parts = { personen: boolean; personenkontexte: boolean; organisationen: boolean; gruppen: boolean };
export const allParts: Parts = { personen: true, personenkontexte: true, organisationen: true, gruppen: true };

// Asked of the registration in a SELECT of its own, which a list runs once: a join could stand before the people and undo their order.
const spelled = (client: string, v14: string, v17: string) =>
  `CASE (SELECT c.schulconnex_spelling FROM app c WHERE c.client_id = ${client}) WHEN 'V1_7' THEN ${v17} ELSE ${v14} END`;

const name: JsonSql<Schemas["SchulconnexName"]> = jsonWhen(
  "p.last IS NOT NULL",
  jsonObject<NonNullable<Schemas["SchulconnexName"]>>({
    vorname: jsonText("p.first_full"),
    familienname: jsonText("p.last"),
  }),
);

const rolle = (client: string) =>
  jsonCode<Schemas["Rolle"]>(`CASE p.role
    WHEN 'TEACHER' THEN ${spelled(client, "'LEHR'", "'Lehr'")}
    WHEN 'STUDENT' THEN ${spelled(client, "'LERN'", "'Lern'")}
    ELSE ${spelled(client, "'EXTERN'", "'Extern'")} END`);

const purgeIn = (form: string) => `to_char(p.purge_at AT TIME ZONE 'UTC', '${form}')`;
const loeschung = (client: string): JsonSql<Schemas["Loeschung"]> =>
  jsonWhen(
    "p.status = 'SOFT_DELETED'",
    jsonObject<NonNullable<Schemas["Loeschung"]>>({
      zeitpunkt: jsonCode(spelled(client, purgeIn('YYYY-MM-DD"T"HH24:MI"Z"'), purgeIn('YYYY-MM-DD"T"HH24:MI:SS"Z"'))),
    }),
  );

const organisation = (client: string, { organisationen: whole }: Parts) =>
  jsonObject<Schemas["Organisation"]>({
    id: jsonCode("s.id"),
    kennung: whole ? jsonText("s.official_id") : undefined,
    name: whole ? jsonText("s.name") : undefined,
    anschrift: whole
      ? jsonObject<Schemas["Anschrift"]>({ postleitzahl: jsonText("s.zip_code"), ort: jsonText("s.city") })
      : undefined,
    typ: whole ? jsonCode<Schemas["Organisationstyp"]>(spelled(client, "'SCHULE'", "'Schule'")) : undefined,
  });

const gruppe = jsonObject<Schemas["Gruppendatensatz"]>({
  gruppe: jsonObject<Schemas["Gruppe"]>({
    id: jsonCode("g.id"),
    bezeichnung: jsonText("g.name"),
    typ: jsonCode<Schemas["Gruppentyp"]>(
      "CASE g.type WHEN 'KLASSE' THEN 'Klasse' WHEN 'KURS' THEN 'Kurs' ELSE 'Sonstig' END",
    ),
    orgid: jsonCode("g.school_id"),
  }),
  gruppenzugehoerigkeit: jsonObject<Schemas["Gruppenzugehoerigkeit"]>({
    rollen: jsonList(
      jsonCode<Schemas["Gruppenrolle"]>(
        `CASE ${memberRole("m", "p")} WHEN 'TEACHER' THEN 'Lehr' WHEN 'STUDENT' THEN 'Lern' ELSE 'GMit' END`,
      ),
    ),
  }),
});

function jsonList<T>(only: JsonSql<T>): JsonSql<T[]> {
  return `('[' || ${only} || ']')` as JsonSql<T[]>;
}

/**
 * The schools of the person that the app may see: the home school first, if it is among them. The others by id and not by name: the
 * first one may stand for the home school, and a school's new name is no event of its people.
 */
const fromShownSchools = (client: string) =>
  `FROM affiliation a ${lookUp("school", "s", "s.id = a.school_id")} WHERE a.person_id = p.id AND ${schoolIsShown(client, "a.school_id")}`;
const schoolOrder = "(s.id = p.home_school_id) DESC, s.id";

export const personHasShownSchool = (client: string) => `EXISTS (SELECT ${fromShownSchools(client)} OFFSET 0)`;

/** The record of the person `p` as the app reads it, or as much of it as was asked for. */
export function personendatensatz(client: string, parts: Parts): JsonSql<Personendatensatz> {
  const gruppen = jsonFrom(
    jsonArray(gruppe, "g.sort_key, g.id"),
    `${fromShownGroupsOf(client, "p.id")} AND m.school_id = s.id`,
  );
  const kontext = jsonObject<Schemas["Personenkontext"]>({
    id: jsonCode("a.id"),
    loeschung: loeschung(client),
    rolle: rolle(client),
    organisation: organisation(client, parts),
    gruppen: parts.personenkontexte && parts.gruppen ? gruppen : undefined,
  });
  const stammorganisation = jsonFrom(
    organisation(client, parts),
    `${fromShownSchools(client)} ORDER BY ${schoolOrder} LIMIT 1`,
  );
  return jsonObject<Personendatensatz>({
    pid: jsonCode("p.id"),
    person: parts.personen ? jsonObject<Schemas["SchulconnexPerson"]>({ name, stammorganisation }) : undefined,
    personenkontexte: jsonFrom(jsonArray(kontext, schoolOrder), fromShownSchools(client)),
  });
}
