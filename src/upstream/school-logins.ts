import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { isInGroups, isWide } from "./roster.ts";

/** A login of the school's own that lets a person in. Times are ISO texts; null before the first sign-in. */
export type SchoolLogin = { name: string; linkedAt: string | null; lastAt: string | null };

const person = table("person", "person");
const connection = table("upstreamConnection", "connection");
const link = table("upstreamLink", "link");

/** SQL of a JSON array of `SchoolLogin`: the connections of the home school that are on for the person. */
export const schoolLoginsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT coalesce(json_agg(json_build_object('name', ${connection.name}, 'linkedAt', ${link.linkedAt},
    'lastAt', ${link.lastSignInAt}) ORDER BY ${connection.id}), '[]')
  FROM ${person} JOIN ${connection} ON ${connection.schoolId} = ${person.homeSchoolId} AND ${connection.state} = 'ON'
  LEFT JOIN ${link} ON ${link.connectionId} = ${connection.id} AND ${link.personId} = ${person.id}
    AND ${link.issuer} = ${connection.issuer}
  WHERE ${person.id} = ${personId} AND NOT ${isWide(now)} AND ${isInGroups(sql`${connection.groupIds}`)})`;
