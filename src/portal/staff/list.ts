import { staffRoleNames, targetOfRole } from "../../admin/index.ts";
import { listProposedTeachers, nameOf, postAndRedirect, unwrap, unwrapPage } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
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
  const [{ items, more }, teachers] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/staff-roles", { params: { query: asked } })),
    listProposedTeachers(request),
  ]);
  const ended = permissions.rolesToEnd(schoolId);
  const held = items.map((one) => ({
    ...one,
    name:
      one.holder.personId === null ? (one.appName ?? one.holder.clientId) : nameOf({ name: one.personName }, request),
    target: targetOfRole(one.role),
    isApp: one.holder.personId === null,
    isOwn: one.holder.personId === me.personId,
    mayWithdraw: ended.includes(one.role),
    withdrawal: one.holder.personId === me.personId ? "own" : permissions.reachesAll ? "everywhere" : "here",
  }));
  const next = more(address, role && { role });
  const model = {
    schoolId,
    address,
    held,
    teachers,
    more: next,
    role: role ?? "",
    roles: staffRoleNames,
    mayGive: given.length > 0,
  };
  return { title: t("frame.pages.staff"), view: "list", model, page };
}

export const withdrawRole = postAndRedirect(
  "roleWithdrawn",
  (request) => staffOf(request).address,
  ({ api, path }) => api.DELETE("/admin/v1/staff-roles/{staffRoleId}", { params: { path } }),
  "staff_role_not_found",
);

/** Gives the role to the teachers that are ticked; those who got it meanwhile are skipped. */
export async function giveClassTeachers(request: PageRequest): Promise<Redirect> {
  const { api, path, typed, idempotencyKey } = request;
  const personIds = [...new Set(typed["person"] ?? [])];
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  const giving = () => api.POST("/admin/v1/schools/{schoolId}/class-teachers", { params, body: { personIds } });
  const given = personIds.length === 0 ? [] : await unwrap(giving());
  return { to: staffOf(request).address, done: "classTeachersGiven", count: given.length };
}
