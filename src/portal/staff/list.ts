import { staffRoleNames, targetOfRole } from "../../admin/index.ts";
import { nameOf, postAndRedirect, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { staffOf } from "./staff-page.ts";

export async function listRoles(request: PageRequest): Promise<PageView> {
  const { api, query, t, me, permissions } = request;
  const { schoolId, address, page, given } = staffOf(request);
  const role = staffRoleNames.find((one) => one === query("role"));
  const asked = {
    limit: 50,
    ...(schoolId !== null && { school: schoolId }),
    ...(role && { role }),
    ...request.cursor,
  };
  const { items, more } = await unwrapPage(api.GET("/admin/v1/staff-roles", { params: { query: asked } }));
  const held = items.map((one) => ({
    ...one,
    name:
      one.holder.personId === null ? (one.appName ?? one.holder.clientId) : nameOf({ name: one.personName }, request),
    target: targetOfRole(one.role),
    isApp: one.holder.personId === null,
    isOwn: one.holder.personId === me.personId,
    mayWithdraw: permissions.reachesAll || given.includes(one.role),
  }));
  const next = more(address, role && { role });
  const model = {
    schoolId,
    address,
    held,
    more: next,
    role: role ?? "",
    roles: staffRoleNames,
    mayGive: given.length > 0,
  };
  return { title: t("staff.title"), view: "list", model, page };
}

export const withdrawRole = postAndRedirect(
  "roleWithdrawn",
  (request) => staffOf(request).address,
  ({ api, path }) => api.DELETE("/admin/v1/staff-roles/{staffRoleId}", { params: { path } }),
  "staff_role_not_found",
);
