import {
  listProposedTeachers,
  makeArea,
  nameOf,
  onlyIf,
  redirectToSearch,
  aboutOf,
  makeChoices,
  mostChoices,
  pickable,
  readChosen,
  searchOf,
} from "../frame/index.ts";
import type { PageRequest, PageView, Redirect, Choices } from "../frame/index.ts";
import { staffRoleNames, targetOfRole, type AdminSchemas } from "../../admin/index.ts";

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
  const roles = personIds.length === 0 ? [] : await call("giveClassTeacherRoles", { body: { personIds } });
  return { to: at("/admin/schools/:schoolId/staff"), done: "classTeachersGiven", count: roles.length };
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

type RoleName = AdminSchemas["StaffRoleName"];

/** The staff of one school, or of the whole service. */
type Staff = {
  schoolId: string | null;
  address: string;
  page: NonNullable<PageView["page"]>;
  given: readonly RoleName[];
};

function staffOf({ permissions, param }: PageRequest): Staff {
  const schoolId = param("schoolId") || null;
  const roles = permissions.rolesToGive(schoolId);
  if (schoolId === null) return { schoolId, address: "/admin/staff", page: "operator_staff", given: roles };
  return { schoolId, address: `/admin/schools/${schoolId}/staff`, page: "staff", given: roles };
}

const showNewRole = (request: PageRequest): Promise<PageView> =>
  request.query("person") === "" && request.field("person") === "" ? showSearch(request) : showForm(request);

async function showSearch(request: PageRequest): Promise<PageView> {
  const { list, query, reveal, t } = request;
  const { schoolId, address, page } = staffOf(request);
  const search = reveal(query("q"));
  const filters = { search, status: "ACTIVE", limit: 20, school: schoolId } as const;
  const results = search === "" ? null : await list("listPeople", { query: filters });
  const people =
    results?.items.map((person) => ({ ...person, ...pickable(person, request), fullName: nameOf(person, request) })) ??
    null;
  const model = { address, search, people, isMore: results !== null && results.next !== null };
  return { title: t("give.title"), view: "search", model, page };
}

async function showForm(request: PageRequest): Promise<PageView> {
  const { call, field, query, t } = request;
  const { address, page, given } = staffOf(request);
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([call("getPerson", { path: { personId } }), findChoices(request)]);
  const names = { name: nameOf(person, request), about: aboutOf(person, request) };
  const model = { address, formAddress: `${address}/new`, person, ...names, given, ...choices };
  return { title: t("give.title"), view: "give", model, page };
}

/** The schools or apps found for a role, and those chosen before. */
async function findChoices(request: PageRequest): Promise<{ choices: Record<"school" | "app", Choices> | null }> {
  const { call } = request;
  if (staffOf(request).schoolId !== null) return { choices: null };
  const filters = (name: string) => ({ query: { limit: mostChoices + 1, search: searchOf(request, name) } });
  const [schools, apps] = await Promise.all([call("listSchools", filters("school")), call("listApps", filters("app"))]);
  const choose = (name: string, results: { id: string; name: string }[]) =>
    makeChoices(searchOf(request, name), results, readChosen(request, name));
  const named = apps.map(({ clientId, name }) => ({ id: clientId, name }));
  return { choices: { school: choose("school", schools), app: choose("app", named) } };
}

const isSearch = ({ field }: Pick<PageRequest, "field">): boolean => field("step") === "search";

function readRole(request: PageRequest): Omit<AdminSchemas["StaffRoleInput"], "holder"> {
  const { field, times } = request;
  const { schoolId } = staffOf(request);
  const [role, reason] = [field("role") as RoleName, field("reason")];
  const endsAt = times.startOf(field("endsOn"), 1);
  const schoolIds = schoolId === null ? readChosen(request, "school") : [schoolId];
  const clientIds = readChosen(request, "app");
  return {
    role,
    ...(targetOfRole(role) === "schools" && schoolIds.length > 0 && { schoolIds }),
    ...(targetOfRole(role) === "apps" && clientIds.length > 0 && { clientIds }),
    ...(reason !== "" && { reason }),
    ...(endsAt !== null && { endsAt }),
  };
}

async function giveRole(request: PageRequest): Promise<Redirect | PageView> {
  if (isSearch(request)) return showForm(request);
  const body = { holder: { personId: request.field("person") }, ...readRole(request) };
  await request.call("giveStaffRole", { body });
  return { to: staffOf(request).address, done: "roleGiven" };
}
