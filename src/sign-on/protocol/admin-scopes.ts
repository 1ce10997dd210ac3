import { scopeFromWire } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import type { StaffSecondFactor } from "./deps.ts";
import { hasPassword, hasSecondFactor, hasSecondFactors } from "../../accounts/index.ts";

type Deps = { db: RecordStore; staffSecondFactor: StaffSecondFactor };

const isAdminScope = (platform: string, scope: string): boolean =>
  scopeFromWire(platform, scope)?.startsWith("admin:") === true;

const asksForAdmin = (platform: string, scopes: Iterable<string>): boolean =>
  [...scopes].some((scope) => isAdminScope(platform, scope));

/** Whether scopes of the admin API are requested in a session without a password, such as one by login card. */
export const lacksPassword = (
  { platform }: { platform: string },
  { scopes, amr }: { scopes: Iterable<string>; amr: readonly string[] | undefined },
): boolean => !hasPassword(amr) && asksForAdmin(platform, scopes);

export const needsSecondFactor = async ({ db, staffSecondFactor }: Deps, personId: PersonId): Promise<boolean> =>
  staffSecondFactor === "required" || hasSecondFactors(db, personId);

export async function lacksSecondFactor(
  deps: Deps & { platform: string },
  of: { personId: PersonId; scopes: Iterable<string>; amr: readonly string[] | undefined },
): Promise<boolean> {
  const { personId, scopes, amr } = of;
  if (hasSecondFactor(amr) || !asksForAdmin(deps.platform, scopes)) return false;
  return needsSecondFactor(deps, personId);
}
