import { fields, findRows, sql, statement, table, type Queryable } from "../platform/database/sql.ts";
import type { GroupId } from "./ids.ts";
import { isInSignInState } from "./sign-in-state.ts";

export type SignInCounts = { students: number; neverSignedIn: number; withoutLogin: number };

const g = table("group", "g");
const m = table("membership", "m");
const p = table("person", "p");

type Row = SignInCounts & { id: GroupId };

// Guests get logins and passwords from their home school.
const isAtHome = sql`${p.homeSchoolId} = ${g.schoolId}`;

const selectCounts = statement<{ groupIds: GroupId[] }>(
  ({ groupIds }) => sql`
  SELECT ${fields<Row>({
    id: g.id,
    students: sql`count(*)::int`,
    neverSignedIn: sql`(count(*) FILTER (WHERE ${isAtHome} AND ${isInSignInState.NEVER(p)}))::int`,
    withoutLogin: sql`(count(*) FILTER (WHERE ${isAtHome} AND ${isInSignInState.IMPOSSIBLE(p)}))::int`,
  })}
  FROM ${g} JOIN ${m} ON ${m.groupId} = ${g.id} JOIN ${p} ON ${p.id} = ${m.personId}
  WHERE ${g.id} = ANY (${groupIds}::uuid[]) AND ${p.status} = 'ACTIVE' AND ${p.role} = 'STUDENT'
  GROUP BY ${g.id}`,
);

/** Counts the active pupils of groups, as `listPeople` finds them. A group without any is missing. */
export async function countSignIns(db: Queryable, groupIds: GroupId[]): Promise<Map<GroupId, SignInCounts>> {
  const rows = await findRows<Row, { groupIds: GroupId[] }>(db, selectCounts, { groupIds });
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
