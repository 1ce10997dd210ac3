import { staffRoleNames, targetOfRole } from "../../admin/index.ts";
import { listProposedTeachers, nameOf, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { staffOf } from "./give.ts";

export async function listRoles(request: PageRequest): Promise<PageView> {
  const { list, query, t, me, permissions } = request;
  const { schoolId, address, page, given } = staffOf(request);
  const role = staffRoleNames.find((one) => one === query("role"));
  const [{ items, more }, teachers] = await Promise.all([
    list("listStaffRoles", { query: { school: schoolId, role } }),
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
  const filters = { role: role ?? "", roles: staffRoleNames };
  const model = { schoolId, address, held, teachers, more: more(address), ...filters, mayGive: given.length > 0 };
  return { title: t("frame.pages.staff"), view: "list", model, page };
}

/** Gives the role to the teachers that are ticked; those who got it meanwhile are skipped. */
export async function giveClassTeachers({ call, at, typed }: PageRequest): Promise<Redirect> {
  const personIds = [...new Set(typed["person"] ?? [])];
  const given = personIds.length === 0 ? [] : await call("giveClassTeacherRoles", { body: { personIds } });
  return { to: at("/admin/schools/:schoolId/staff"), done: "classTeachersGiven", count: given.length };
}
