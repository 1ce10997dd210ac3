import type { PersonRole, SchoolId } from "../directory/index.ts";
import { fields, literal, makeFind, sql, table, type Sql } from "../platform/database/sql.ts";
import {
  groupIsReadable,
  personIsListed,
  schoolIsReadable,
  syncedPersonIsListed,
  userIsListed,
  userIsReadable,
} from "./readable.ts";
import type { ClientId, ScopeName } from "./token.ts";

/** What an app can read of a school by itself, without a person who signs in. */
export type AppReads = {
  school: boolean;
  /** The names of the groups that it reads with their members. */
  groups: string[];
  /** In lists of people of the school. */
  people: number;
  /** Only otherwise: soft-deleted, or through another school. */
  otherPeople: number;
  /** In lists of users of the school. */
  users: number;
  /** Only one by one. */
  otherUsers: number;
  /** The roles of all of them. */
  roles: PersonRole[];
};

type Row = AppReads & { clientId: ClientId };

const app = table("app");
const a = table("affiliation", "a");
const p = table("person", "p");
const g = table("group", "g");
const s = table("school", "s");

export const findAppReads = makeFind<Row, { schoolId: SchoolId; clientIds: readonly ClientId[] }>(
  ({ schoolId, clientIds }) => {
    const reader = { client: app.clientId };
    const school = sql`${schoolId}::uuid`;
    // Only a confidential app gets a token of its own.
    const has = (scope: ScopeName) => sql`(${app.type} = 'CONFIDENTIAL' AND ${literal(scope)} = ANY (${app.scopes}))`;
    const listed = {
      id: sql`listed.id`,
      role: sql`listed.role`,
      status: sql`listed.status`,
      seenBy: sql`listed.seen_by`,
    };
    const condition = {
      people: sql`(${has("people:read")} AND ${personIsListed(reader, p, school)})`,
      synced: sql`(${has("people:read")} AND ${syncedPersonIsListed(reader, listed)})`,
      users: sql`(${has("users:read")} AND ${userIsListed(reader, p, school)})`,
      user: sql`(${has("users:read")} AND ${userIsReadable(reader, listed)})`,
    };
    const count = (counted: Sql) => sql`count(*) FILTER (WHERE ${counted})::int`;
    return sql`
    SELECT ${fields<Row>({
      clientId: app.clientId,
      school: sql`(${has("schools:read")} AND EXISTS (
        SELECT FROM ${s} WHERE ${s.id} = ${school} AND ${schoolIsReadable(app.clientId, s)}))`,
      groups: sql`ARRAY(
        SELECT ${g.name} FROM ${g}
        WHERE ${g.schoolId} = ${school} AND ${has("groups:read")} AND ${groupIsReadable(app.clientId, g)}
        ORDER BY ${g.naturalKey}, ${g.id})`,
      people: sql`found.people`,
      otherPeople: sql`found.other_people`,
      users: sql`found.users`,
      otherUsers: sql`found.other_users`,
      roles: sql`found.roles`,
    })}
    FROM ${app} CROSS JOIN LATERAL (
      SELECT ${count(sql`known.in_people`)} AS people, ${count(sql`known.is_synced AND NOT known.in_people`)} AS other_people,
        ${count(sql`known.in_users`)} AS users, ${count(sql`known.is_user AND NOT known.in_users`)} AS other_users,
        coalesce(array_agg(DISTINCT known.role) FILTER (WHERE known.is_synced OR known.in_users OR known.is_user), '{}') AS roles
      FROM (
        SELECT listed.role::text AS role, listed.in_people, listed.in_users,
          CASE WHEN listed.in_people THEN true ELSE ${condition.synced} END AS is_synced,
          CASE WHEN listed.in_users THEN true ELSE ${condition.user} END AS is_user
        FROM (
          SELECT ${p.id}, ${p.role}, ${p.status}, ${p.seenBy}, ${condition.people} AS in_people, ${condition.users} AS in_users
          FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId} WHERE ${a.schoolId} = ${school} OFFSET 0
        ) AS listed
        OFFSET 0
      ) AS known
    ) AS found
    WHERE ${app.clientId} = ANY (${clientIds}::text[])`;
  },
  "access.findAppReads",
);
