import { listProposedTeachers, makeArea, nameOf, onlyIf, redirectToSearch } from "../frame/index.ts";
import type { PageRequest, PageView, Redirect } from "../frame/index.ts";
import { findChoices, giveRole, isSearch, readRole, showNewRole, staffOf } from "./give.ts";
import { type AdminSchemas, staffRoleNames, targetOfRole } from "../../admin/index.ts";

/** `/admin/schools/:schoolId/staff`, and `/admin/staff` of the whole service: who has which role, and accounts. */
export const staffPages = makeArea({ folder: import.meta.dirname, page: "staff" }, (pages) => {
  const places = { "/admin/schools/:schoolId/staff": "giveStaffRole", "/admin/staff": "createStaffPerson" } as const;
  for (const [staff, operation] of Object.entries(places)) {
    pages.get(staff, listRoles);
    pages.form(`${staff}/new`, giveRole, onlyIf(operation, showNewRole));
    pages.post(`${staff}/new/search`, redirectToSearch(`${staff}/new`));
    pages.act(`${staff}/:staffRoleId/withdrawal`, "withdrawStaffRole", {
      to: staff,
      done: "roleWithdrawn",
      repeated: "staff_role_not_found",
      again: listRoles,
    });
  }
  pages.post("/admin/schools/:schoolId/staff/class-teachers", giveClassTeachers, listRoles);
  const accounts = "/admin/staff/accounts";
  pages.get(accounts, listAccounts);
  pages.post(accounts, addAccount, onlyIf("createStaffPerson", showNewAccount));
  pages.get(`${accounts}/new`, onlyIf("createStaffPerson", showNewAccount));
  pages.post(`${accounts}/:personId/password`, givePassword, listAccounts);
  pages.act(`${accounts}/:personId/deletion`, "softDeletePerson", {
    to: accounts,
    done: "accountDeleted",
    again: listAccounts,
  });
});

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

const address = "/admin/staff/accounts";

export async function listAccounts(request: PageRequest): Promise<PageView> {
  const { list, t, me } = request;
  const { items, more } = await list("listStaffPeople", { query: { status: "ACTIVE" } });
  const accounts = items.map((one) => ({
    ...one,
    fullName: one.name === null ? (one.username ?? nameOf({ name: null }, request)) : nameOf(one, request),
    isOwn: one.id === me.personId,
  }));
  const model = { address, accounts, more: more(address) };
  return { title: t("accounts.title"), view: "accounts", model, page: staffOf(request).page };
}

export async function showNewAccount(request: PageRequest): Promise<PageView> {
  const { given, page } = staffOf(request);
  const model = { address, formAddress: address, given, ...(await findChoices(request)) };
  return { title: request.t("accounts.new"), view: "new-account", model, page };
}

const showSecret = (request: PageRequest, title: string, secret: AdminSchemas["LoginSecret"]): PageView => ({
  title: request.t(title),
  view: "secret",
  model: { address, secret },
  page: staffOf(request).page,
});

export async function addAccount(request: PageRequest): Promise<PageView> {
  if (isSearch(request)) return showNewAccount(request);
  const { call, field } = request;
  const first = field("firstCall");
  const name = { firstCall: first, firstFull: first, last: field("last") };
  const body = { name, username: field("username"), ...readRole(request) };
  return showSecret(request, "accounts.made", await call("createStaffPerson", { body }));
}

export const givePassword = async (request: PageRequest): Promise<PageView> =>
  showSecret(request, "words.newPassword", await request.call("newPassword"));
