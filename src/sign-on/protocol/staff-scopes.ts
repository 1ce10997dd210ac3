import type { ScopeName, SignOnRight } from "../../access/index.ts";
import { adminScopesOf } from "../../staff/index.ts";

const adminScopes = ["admin:read", "admin:write"] as const satisfies ScopeName[];

/** Admin scopes that a person at no school does not get, because none of their roles gives them. */
export function refusedScopes(right: SignOnRight): (typeof adminScopes)[number][] {
  if (right.kind === "refused" || right.schools.length > 0) return [];
  const given = adminScopesOf(right.staffRoles);
  return adminScopes.filter((scope) => !given.includes(scope));
}

export function withoutRefused(right: SignOnRight, scopes: readonly ScopeName[]): ScopeName[] {
  const refused: readonly ScopeName[] = refusedScopes(right);
  return scopes.filter((scope) => !refused.includes(scope));
}
