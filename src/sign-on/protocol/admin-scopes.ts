import { scopeFromWire } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import type { StaffSecondFactor } from "./deps.ts";
import { hasPassword, hasSecondFactor, hasSecondFactors } from "../../accounts/index.ts";

type Deps = { db: RecordStore; staffSecondFactor: StaffSecondFactor };

const asksForAdmin = (scopes: Iterable<string>): boolean =>
  [...scopes].some((scope) => scopeFromWire(scope)?.startsWith("admin:"));

type Asked = { scopes: Iterable<string>; amr: readonly string[] | undefined };

/** Whether scopes of the admin API are requested in a session without a password, such as one by login card. */
export const lacksPassword = ({ scopes, amr }: Asked): boolean => !hasPassword(amr) && asksForAdmin(scopes);

export const needsSecondFactor = async ({ db, staffSecondFactor }: Deps, personId: PersonId): Promise<boolean> =>
  staffSecondFactor === "required" || hasSecondFactors(db, personId);

export async function lacksSecondFactor(
  deps: Deps,
  { personId, scopes, amr }: Asked & { personId: PersonId },
): Promise<boolean> {
  if (hasSecondFactor(amr) || !asksForAdmin(scopes)) return false;
  return needsSecondFactor(deps, personId);
}
