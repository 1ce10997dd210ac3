import { staffRoleNames, targetOfRole } from "../../admin/index.ts";
import { Refused, take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { nameOf, staffOf } from "./place.ts";

export async function listRoles(visit: Visit): Promise<Shown> {
  const { api, query, t, me, permissions } = visit;
  const { schoolId, address, page, given } = staffOf(visit);
  const [cursor, role] = [query("cursor"), staffRoleNames.find((one) => one === query("role"))];
  const asked = {
    limit: 50,
    ...(schoolId !== null && { school: schoolId }),
    ...(role && { role }),
    ...(cursor !== "" && { cursor }),
  };
  const { items, next } = await takePage(api.GET("/admin/v1/staff-roles", { params: { query: asked } }));
  const held = items.map((one) => ({
    ...one,
    name: one.holder.personId === null ? (one.appName ?? one.holder.clientId) : nameOf(one.personName, visit),
    target: targetOfRole(one.role),
    isApp: one.holder.personId === null,
    isOwn: one.holder.personId === me.personId,
    mayWithdraw: permissions.reachesAll || given.includes(one.role),
  }));
  const following = new URLSearchParams({ ...(role && { role }), cursor: next ?? "" });
  const more = next === null ? null : `${address}?${following.toString()}`;
  const model = { schoolId, address, held, more, role: role ?? "", roles: staffRoleNames, mayGive: given.length > 0 };
  return { title: t("staff.title"), view: "list", model, page };
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
