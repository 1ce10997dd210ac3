import { scopeFromWire } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Db, RecordStore } from "../../platform/database/db.ts";
import { findRows, sql, statement, table } from "../../platform/database/sql.ts";
import { holdsRoleBeyondHome } from "../../staff/index.ts";
import type { StaffSecondFactor } from "./deps.ts";
import { hasPassword, hasSecondFactor, hasSecondFactors, hasStaffFactor } from "../../accounts/index.ts";

type Deps = { db: RecordStore; staffSecondFactor: StaffSecondFactor };

const asksForAdmin = (scopes: Iterable<string>): boolean =>
  [...scopes].some((scope) => scopeFromWire(scope)?.startsWith("admin:"));

type Asked = { personId: PersonId; scopes: Iterable<string>; amr: readonly string[] | undefined };

/**
 * Whether scopes of the admin API are requested in a session that does not open them: one by login card, or one by the
 * login of a school if the person has a role beyond it.
 */
export async function lacksStaffFactor(
  { db, clock }: { db: Db; clock: Clock },
  { personId, scopes, amr }: Asked,
): Promise<boolean> {
  if (hasPassword(amr) || !asksForAdmin(scopes)) return false;
  if (!hasStaffFactor(amr)) return true;
  const [found] = await findRows<{ isHeld: boolean }, Held>(db.pool, selectBeyondHome, { personId, now: clock() });
  return found?.isHeld === true;
}

const person = table("person");

type Held = { personId: PersonId; now: Date };

const selectBeyondHome = statement<Held>(
  ({ personId, now }) =>
    sql`SELECT ${holdsRoleBeyondHome(person, now)} AS "isHeld" FROM ${person} WHERE ${person.id} = ${personId}`,
  "sign-on.holdsRoleBeyondHome",
);

export const needsSecondFactor = async ({ db, staffSecondFactor }: Deps, personId: PersonId): Promise<boolean> =>
  staffSecondFactor === "required" || hasSecondFactors(db, personId);

export async function lacksSecondFactor(deps: Deps, { personId, scopes, amr }: Asked): Promise<boolean> {
  if (hasSecondFactor(amr) || !asksForAdmin(scopes)) return false;
  return needsSecondFactor(deps, personId);
}
