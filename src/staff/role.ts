import type { ClientId } from "../access/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";

export type StaffRoleId = string & { readonly __staffRoleId: true };

/** From the role that may do most to the one that may do least, partners and support apart. */
export const staffRoleNames = [
  "OPERATOR",
  "DISTRICT",
  "SCHOOL_ADMIN",
  "SECRETARY",
  "CLASS_TEACHER",
  "PARTNER",
  "SUPPORT",
] as const;

export type StaffRoleName = (typeof staffRoleNames)[number];

/** The scopes of the admin API that roles have a use for: who only reads gets no token to write with. */
export function adminScopesOf(roles: readonly StaffRoleName[]): ("admin:read" | "admin:write")[] {
  if (roles.length === 0) return [];
  return roles.every((role) => role === "SUPPORT") ? ["admin:read"] : ["admin:read", "admin:write"];
}

/** The person or the app that holds a role. */
export type RoleHolder = { personId: PersonId } | { clientId: ClientId };

/**
 * A role as it is held.
 *
 * Shape: `schoolIds` is empty for operators and partners, `clientIds` for all but partners; `reason` and `endsAt` stand
 *        for support, others may end too.
 */
export type StaffRole = {
  id: StaffRoleId;
  role: StaffRoleName;
  holder: RoleHolder;
  schoolIds: SchoolId[];
  clientIds: ClientId[];
  reason: string | null;
  endsAt: Date | null;
  givenAt: Date;
};
