import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import type { ConnectionId } from "./ids.ts";
import { isInGroups, isStaff, worksBeyondHome } from "./roster.ts";

/** A login of the school's own. Times are ISO texts. */
export type SchoolLogin = {
  id: ConnectionId;
  name: string;
  /** Whether it is on for everybody, or for a class of the person. */
  isInClasses: boolean;
  /** False while it lets in pupils only, and the person is none. */
  isConfirmed: boolean;
  /** Null while it works. */
  failingSince: string | null;
  /** Null before the first sign-in, as `lastAt`. */
  linkedAt: string | null;
  lastAt: string | null;
};

const person = table("person", "person");
const connection = table("upstreamConnection", "connection");
const link = table("upstreamLink", "link");

/** SQL of a JSON array of `SchoolLogin`: the home school's connections that are on; none for roles that use none. */
export const schoolLoginsOf = (personId: Value, now: Value): Sql => sql`(
  SELECT coalesce(json_agg(json_build_object('id', ${connection.id}, 'name', ${connection.name},
    'isInClasses', ${isInGroups(sql`${connection.groupIds}`)},
    'isConfirmed', ${connection.confirmedForStaff} OR NOT ${isStaff(now)}, 'failingSince', ${connection.failingSince},
    'linkedAt', ${link.linkedAt}, 'lastAt', ${link.lastSignInAt}) ORDER BY ${connection.id}), '[]')
  FROM ${person} JOIN ${connection} ON ${connection.schoolId} = ${person.homeSchoolId} AND ${connection.state} = 'ON'
  LEFT JOIN ${link} ON ${link.connectionId} = ${connection.id} AND ${link.personId} = ${person.id}
    AND ${link.issuer} = ${connection.issuer}
  WHERE ${person.id} = ${personId} AND NOT ${worksBeyondHome(now)})`;
