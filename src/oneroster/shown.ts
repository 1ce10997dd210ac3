import { appIds, groupIsInRoster, personIsInRoster, readTable, schoolIsShown } from "../access/index.ts";
import { exists, join, literal, sql, table, type Sql } from "../platform/database/sql.ts";
import { derivedIdOf } from "./school-year.ts";
import type { Reader, Way } from "./records/record.ts";

const p = readTable("person", "p");
const g = table("group", "g");
const synced = table("syncedGroup", "y");

/** SQL condition: the app sees what the address of an operation names. */
export function wayIsShown(reader: Reader, { school, group, person, course, role }: Way): Sql {
  const { client, ids } = reader;
  const conditions: Sql[] = [];
  if (school) conditions.push(schoolIsShown(client, reader.schoolId));
  if (group) {
    const ofSchool = school ? sql` AND ${g.schoolId} = ${reader.schoolId}` : sql``;
    conditions.push(exists(sql`${g} WHERE ${g.id} = ${reader.groupId}${ofSchool} AND ${groupIsInRoster(client, g)}`));
  }
  if (person) {
    const isInRole = role === undefined ? sql`` : sql` AND ${p.role} = ${literal(role)}`;
    const who = appIds[ids].recordOf(client, reader.personId);
    conditions.push(exists(sql`${p} WHERE ${p.id} = ${who}${isInRole} AND ${personIsInRoster({ client }, p)}`));
  }
  if (course)
    conditions.push(sql`EXISTS (SELECT FROM ${synced} JOIN ${g} ON ${g.id} = ${synced.groupId}
      WHERE ${synced.clientId} = ${client} AND ${derivedIdOf("course", g.id)} = ${reader.courseId}::uuid
        AND ${groupIsInRoster(client, g)})`);
  return conditions.length === 0 ? sql`true` : join(conditions, " AND ");
}
