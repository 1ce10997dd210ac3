import {
  appIds,
  fromShownGroupsOf,
  fromShownSchoolsOf,
  jsonGranted,
  memberRole,
  readTable,
  schulconnexRole,
  type IdKind,
} from "../access/index.ts";
import {
  jsonArray,
  jsonArrayOf,
  jsonCode,
  jsonFrom,
  jsonObject,
  jsonText,
  jsonWhen,
  type JsonSql,
} from "../platform/database/json-sql.ts";
import { literal, sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import type { components } from "../../generated/openapi/schulconnex.ts";
import { namesOf, type Code, type Codeliste } from "./codes.ts";

type Schemas = components["schemas"];
export type Personendatensatz = Schemas["Personendatensatz"];

export type Parts = { personen: boolean; personenkontexte: boolean; organisationen: boolean; gruppen: boolean };
export const allParts: Parts = { personen: true, personenkontexte: true, organisationen: true, gruppen: true };

const app = table("app", "c");
const p = readTable("person", "p");
const s = readTable("school", "s");
const g = table("group", "g");
const m = table("membership", "m");
const a = readTable("affiliation", "a");

// A subselect, which a list runs once. A join could be placed before the people and undo their order.
const spelled = (client: Value, v14: Sql, v17: Sql) =>
  sql`CASE (SELECT ${app.schulconnexSpelling} FROM ${app} WHERE ${app.clientId} = ${client})
    WHEN 'V1_4' THEN ${v14} ELSE ${v17} END`;

function codeOf<List extends Codeliste>(client: Value, list: List, code: Code<List>): Sql {
  const { v17 } = namesOf(list, code);
  return v17 === undefined ? literal(code) : spelled(client, literal(code), literal(v17));
}

const name = (client: Value): JsonSql<Schemas["SchulconnexName"]> =>
  jsonGranted(client, "PERSON_NAME", p, (p) =>
    jsonWhen(
      sql`${p.last} IS NOT NULL`,
      jsonObject<NonNullable<Schemas["SchulconnexName"]>>()({
        vorname: jsonText(p.firstFull),
        familienname: jsonText(p.last),
      }),
    ),
  );

const rolle = (client: Value) => jsonCode<Schemas["Rolle"]>(schulconnexRole(client, p.role));

const purgeIn = (form: string) => sql`to_char(${p.purgeAt} AT TIME ZONE 'UTC', ${literal(form)})`;
/** Exact to the minute for apps with ids of their own: seconds would tell them which of their people are the same. */
const loeschung = (client: Value, kind: IdKind): JsonSql<Schemas["Loeschung"]> =>
  jsonWhen(
    sql`${p.status} = 'SOFT_DELETED'`,
    jsonObject<NonNullable<Schemas["Loeschung"]>>()({
      zeitpunkt: jsonCode(
        spelled(
          client,
          purgeIn('YYYY-MM-DD"T"HH24:MI"Z"'),
          purgeIn(`YYYY-MM-DD"T"HH24:MI:${kind === "own" ? "00" : "SS"}"Z"`),
        ),
      ),
    }),
  );

const kennung = (client: Value) => jsonGranted(client, "SCHOOL_OFFICIAL_ID", s, (s) => jsonText(s.officialId));
const anschrift = (client: Value): JsonSql<Schemas["Anschrift"]> =>
  jsonGranted(client, "SCHOOL_ADDRESS", s, (s) =>
    jsonObject<NonNullable<Schemas["Anschrift"]>>()({ postleitzahl: jsonText(s.zipCode), ort: jsonText(s.city) }),
  );

const organisation = (client: Value, { organisationen: whole }: Parts) =>
  jsonObject<Schemas["Organisation"]>()({
    id: jsonCode(s.id),
    kennung: whole ? kennung(client) : undefined,
    name: whole ? jsonText(s.name) : undefined,
    anschrift: whole ? anschrift(client) : undefined,
    typ: whole ? jsonCode<Schemas["Organisationstyp"]>(codeOf(client, "Organisationstyp", "SCHULE")) : undefined,
  });

const groupType = (code: Code<"Gruppentyp">) => literal(code);
const groupRole = (code: Code<"Gruppenrolle">) => literal(code);

const gruppe = jsonObject<Schemas["Gruppendatensatz"]>()({
  gruppe: jsonObject<Schemas["Gruppe"]>()({
    id: jsonCode(g.id),
    bezeichnung: jsonText(g.name),
    typ: jsonCode<Schemas["Gruppentyp"]>(
      sql`CASE ${g.type} WHEN 'KLASSE' THEN ${groupType("Klasse")} WHEN 'KURS' THEN ${groupType("Kurs")}
        ELSE ${groupType("Sonstig")} END`,
    ),
    orgid: jsonCode(g.schoolId),
  }),
  gruppenzugehoerigkeit: jsonObject<Schemas["Gruppenzugehoerigkeit"]>()({
    rollen: jsonArrayOf(
      jsonCode<Schemas["Gruppenrolle"]>(
        sql`CASE ${memberRole(m, p)} WHEN 'TEACHER' THEN ${groupRole("Lehr")} WHEN 'STUDENT' THEN ${groupRole("Lern")}
          ELSE ${groupRole("GMit")} END`,
      ),
    ),
  }),
});

/** The home school first, if visible; then by id, because a school's new name must not change its people's records. */
const schoolOrder = sql`(${s.id} = ${p.homeSchoolId}) DESC, ${s.id}`;

/** `pid` is the app's id of the person. */
export function personendatensatz(
  client: Value,
  parts: Parts,
  { kind, pid }: { kind: IdKind; pid: Sql },
): JsonSql<Personendatensatz> {
  const schools = fromShownSchoolsOf(client, p.id);
  const gruppen = jsonFrom(
    jsonArray(gruppe, sql`${g.sortKey}, ${g.id}`),
    sql`${fromShownGroupsOf(client, p.id)} AND ${m.schoolId} = ${s.id}`,
  );
  const kontext = jsonObject<Schemas["Personenkontext"]>()({
    id: jsonCode(appIds[kind].of(client, p.id, a.id)),
    loeschung: loeschung(client, kind),
    rolle: rolle(client),
    organisation: organisation(client, parts),
    gruppen: parts.personenkontexte && parts.gruppen ? gruppen : undefined,
  });
  const stammorganisation = jsonFrom(organisation(client, parts), sql`${schools} ORDER BY ${schoolOrder} LIMIT 1`);
  return jsonObject<Personendatensatz>()({
    pid: jsonCode(pid),
    person: parts.personen
      ? jsonObject<Schemas["SchulconnexPerson"]>()({ name: name(client), stammorganisation })
      : undefined,
    personenkontexte: jsonFrom(jsonArray(kontext, schoolOrder), schools),
  });
}
