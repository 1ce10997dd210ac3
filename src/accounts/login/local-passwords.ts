import type { PersonId } from "../../directory/index.ts";
import { makeFindOne, type Queryable, sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { mayAlwaysUsePassword } from "../../staff/index.ts";

const v_way = table("schoolWayIn", "v_way");

/**
 * SQL condition, the rule of who may sign in with a password: not those at home in a school that has switched passwords
 * off in favour of its own login, except in an emergency. Its admins always may, because they repair that login; so may
 * those with roles beyond it, whom that login does not let in, and people at no school.
 */
export const mayUsePassword = (of: { readonly id: Sql; readonly homeSchoolId: Sql }, now: Value): Sql =>
  sql`(NOT EXISTS (SELECT FROM ${v_way} WHERE ${v_way.schoolId} = ${of.homeSchoolId} AND NOT ${v_way.localPasswords}
      AND (${v_way.emergencyUntil} IS NULL OR ${v_way.emergencyUntil} <= ${now}))
    OR ${mayAlwaysUsePassword(of, now)})`;

const person = table("person");

/** SQL of a scalar subquery: `mayUsePassword` of one person; NULL for nobody. */
export const mayUsePasswordOf = (personId: Value, now: Value): Sql =>
  sql`(SELECT ${mayUsePassword(person, now)} FROM ${person} WHERE ${person.id} = ${personId})`;

type PersonAt = { personId: PersonId; now: Date };

const selectMay = makeFindOne<{ mayUse: boolean | null }, PersonAt>("find-may-use-password")`
  SELECT ${({ personId, now }) => mayUsePasswordOf(personId, now)} AS "mayUse"`;

export const findMayUsePassword = async (db: Queryable, person: PersonAt): Promise<boolean> =>
  (await selectMay(db, person)).mayUse === true;
