import {
  makePage,
  listProposedTeachers,
  makeArea,
  callName,
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
  const places = [
    ["/admin/schools/:schoolId/staff", "giveStaffRole", "staff"],
    ["/admin/staff", "createStaffPerson", "operator_staff"],
  ] as const;
  for (const [staff, operation, page] of places) {
    const onStaff = pages.at(staff, listRoles, { page });
    onStaff.form("new", giveRole, onlyIf(operation, showNewRole));
    pages.post(`${staff}/new/search`, redirectToSearch(`${staff}/new`));
    onStaff.act(":staffRoleId/withdrawal", "withdrawStaffRole", "roleWithdrawn", { repeated: "staff_role_not_found" });
    if (operation === "giveStaffRole") onStaff.post("class-teachers", giveClassTeachers);
  }
  const accounts = pages.at("/admin/staff/accounts", listAccounts, { page: "operator_staff" });
  const showNew = onlyIf("createStaffPerson", showNewAccount);
  accounts.post("", addAccount, showNew);
  accounts.get("new", showNew);
  accounts.post(":personId/password", givePassword);
  accounts.act(":personId/deletion", "softDeletePerson", "accountDeleted");
});

export async function listRoles(request: PageRequest): Promise<PageView> {
  const { list, query, t, me, permissions } = request;
  const schoolId = schoolOf(request);
  const role = staffRoleNames.find((one) => one === query("role"));
  const [{ items, more }, teachers] = await Promise.all([
    list("listStaffRoles", { query: { school: schoolId, role } }),
    listProposedTeachers(request),
  ]);
  const ended = permissions.rolesToEnd(schoolId);
  const held = items.map((one) => ({
    ...one,
    name:
      one.holder.personId === null ? (one.appName ?? one.holder.clientId) : callName({ name: one.personName }, request),
    target: targetOfRole(one.role),
    isApp: one.holder.personId === null,
    isOwn: one.holder.personId === me.personId,
    mayWithdraw: ended.includes(one.role),
    withdrawal: one.holder.personId === me.personId ? "own" : permissions.reachesAll ? "everywhere" : "here",
  }));
  return makePage("list", t("frame.pages.staff"), {
    schoolId,
    held,
    teachers,
    more,
    role: role ?? "",
    roles: staffRoleNames,
    mayGive: rolesToGive(request).length > 0,
  });
}

/** Gives the role to the teachers that are ticked; those who got it meanwhile are skipped. */
export async function giveClassTeachers({ call, at, typed }: PageRequest): Promise<Redirect> {
  const personIds = [...new Set(typed["person"] ?? [])];
  const roles = personIds.length === 0 ? [] : await call("giveClassTeacherRoles", { body: { personIds } });
  return { to: at("/admin/schools/:schoolId/staff"), done: "classTeachersGiven", count: roles.length };
}

export async function listAccounts(request: PageRequest): Promise<PageView> {
  const { list, t, me } = request;
  const { items, more } = await list("listStaffPeople", { query: { status: "ACTIVE" } });
  const accounts = items.map((one) => ({
    ...one,
    fullName: one.name === null ? (one.username ?? callName({ name: null }, request)) : callName(one, request),
    isOwn: one.id === me.personId,
  }));
  return makePage("accounts", t("accounts.title"), { accounts, more });
}

export async function showNewAccount(request: PageRequest): Promise<PageView> {
  return makePage("new-account", request.t("accounts.new"), {
    formAddress: request.base,
    given: rolesToGive(request),
    ...(await findChoices(request)),
  });
}

const showSecret = ({ t }: PageRequest, title: string, secret: AdminSchemas["LoginSecret"]): PageView =>
  makePage("secret", t(title), { secret });

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

/** The school whose staff the page is about; null for that of the whole service. */
const schoolOf = ({ param }: PageRequest): string | null => param("schoolId") || null;

const rolesToGive = (request: PageRequest): readonly RoleName[] => request.permissions.rolesToGive(schoolOf(request));

const showNewRole = (request: PageRequest): Promise<PageView> =>
  request.query("person") === "" && request.field("person") === "" ? showSearch(request) : showForm(request);

async function showSearch(request: PageRequest): Promise<PageView> {
  const { list, query, reveal, t } = request;
  const schoolId = schoolOf(request);
  const search = reveal(query("q"));
  const filters = { search, status: "ACTIVE", limit: 20, school: schoolId } as const;
  const results = search === "" ? null : await list("listPeople", { query: filters });
  const people = results?.items.map((person) => ({ ...person, ...pickable(person, request) })) ?? null;
  return makePage("search", t("give.title"), { search, people, isMore: results !== null && results.next !== null });
}

async function showForm(request: PageRequest): Promise<PageView> {
  const { call, field, query, t, base } = request;
  const personId = field("person") || query("person");
  const [person, choices] = await Promise.all([call("getPerson", { path: { personId } }), findChoices(request)]);
  return makePage("give", t("give.title"), {
    formAddress: `${base}/new`,
    person,
    name: callName(person, request),
    about: aboutOf(person, request),
    given: rolesToGive(request),
    ...choices,
  });
}

/** The schools or apps found for a role, and those chosen before. */
async function findChoices(request: PageRequest): Promise<{ choices: Record<"school" | "app", Choices> | null }> {
  const { call } = request;
  if (schoolOf(request) !== null) return { choices: null };
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
  const schoolId = schoolOf(request);
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
  return { to: request.base, done: "roleGiven" };
}
