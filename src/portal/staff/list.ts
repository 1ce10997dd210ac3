import { Refused, take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { nameOf, staffOf, type RoleName } from "./place.ts";

const roles: readonly RoleName[] = [
  ...(["OPERATOR", "DISTRICT", "SCHOOL_ADMIN", "SECRETARY", "CLASS_TEACHER", "PARTNER", "SUPPORT"] as const),
];

export async function listRoles(visit: Visit): Promise<Shown> {
  const { api, query, t, me } = visit;
  const { schoolId, address, place, given } = staffOf(visit);
  const [cursor, role] = [query("cursor"), roles.find((one) => one === query("role"))];
  const asked = {
    limit: 50,
    ...(schoolId !== null && { school: schoolId }),
    ...(role && { role }),
    ...(cursor !== "" && { cursor }),
  };
  const { items, next } = await takePage(api.GET("/admin/v1/staff-roles", { params: { query: asked } }));
  const isOperator = me.roles.some((held) => held.role === "OPERATOR");
  const held = items.map((one) => ({
    ...one,
    name: one.holder.personId === null ? (one.appName ?? one.holder.clientId) : nameOf(one.personName, visit),
    isApp: one.holder.personId === null,
    isOwn: one.holder.personId === me.personId,
    mayWithdraw: isOperator || given.includes(one.role),
  }));
  const following = new URLSearchParams({ ...(role && { role }), cursor: next ?? "" });
  const more = next === null ? null : `${address}?${following.toString()}`;
  const model = { schoolId, address, held, more, role: role ?? "", roles, mayGive: given.length > 0 };
  return { title: t("staff.title"), view: "list", model, place };
}

export async function withdrawRole(visit: Visit): Promise<Gone> {
  const path = { staffRoleId: visit.part("staffRoleId") };
  const call = visit.api.DELETE("/admin/v1/staff-roles/{staffRoleId}", { params: { path } });
  await take(call).catch((error: unknown) => {
    // The same form came twice: there is nothing left to withdraw.
    if (!(error instanceof Refused) || error.code !== "staff_role_not_found") throw error;
  });
  return { to: staffOf(visit).address, done: "roleWithdrawn" };
}
