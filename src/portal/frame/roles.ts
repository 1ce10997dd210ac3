import german from "./locales/de.json" with { type: "json" };
import type { Me } from "./visit.ts";

export type Role = Me["roles"][number]["role"];

/** Who runs a school. */
export const managers: readonly Role[] = ["OPERATOR", "DISTRICT", "SCHOOL_ADMIN"];
/** Who changes its people and groups. */
export const office: readonly Role[] = [...managers, "SECRETARY"];

/** Whether a text is the name of a role, which `staffRoles` of the texts says in words. */
export const isStaffRole = (text: string): text is Role => text in german.staffRoles;

/** Whether somebody holds one of these roles at a school. */
export const mayAt = (me: Me, schoolId: string, roles: readonly Role[]): boolean =>
  me.roles.some(({ role, schoolIds }) => roles.includes(role) && (role === "OPERATOR" || schoolIds.includes(schoolId)));
