import type { ClientId } from "../../access/index.ts";
import type { Person, PersonId, PersonName, SchoolId } from "../../directory/index.ts";
import type { ListedRole, StaffRole, StaffRoleId, StaffRoleName } from "../../staff/index.ts";
import { bodyOf, dateOf, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

/** Shape: fields in the order in which they are printed. */
function roleOf(record: Schemas["StaffRole"]): StaffRole {
  const { id, role, holder, schoolIds, clientIds, reason, endsAt, givenAt } = record;
  const { personId, clientId } = holder;
  return {
    role,
    reason,
    endsAt: dateOf(endsAt),
    givenAt: new Date(givenAt),
    id: id as StaffRoleId,
    holder: personId === null ? { clientId: clientId as ClientId } : { personId: personId as PersonId },
    schoolIds: schoolIds as SchoolId[],
    clientIds: clientIds as ClientId[],
  };
}

const holderName = ({ personName: name, appName }: Schemas["ListedStaffRole"]): string | null =>
  name === null ? appName : `${name.firstCall} ${name.last}`;

const roles = "/admin/v1/staff-roles";

export type NewRole = Omit<StaffRole, "id" | "givenAt"> & { confirmPartners?: boolean };

export async function giveRole(
  { api }: Remote,
  { role, holder, schoolIds, clientIds, reason, endsAt, confirmPartners }: NewRole,
): Promise<StaffRole> {
  const more = { reason: reason ?? undefined, endsAt: endsAt?.toISOString(), confirmPartners };
  const body = {
    role,
    holder,
    ...given(more),
    ...(schoolIds.length > 0 && { schoolIds }),
    ...(clientIds.length > 0 && { clientIds }),
  };
  return roleOf(await bodyOf(api.POST(roles, { params: once(), body })));
}

export async function withdrawRole({ api }: Remote, staffRoleId: StaffRoleId): Promise<void> {
  await api.DELETE(`${roles}/{staffRoleId}`, { params: { path: { staffRoleId } } });
}

type Asked = {
  schoolId: SchoolId | undefined;
  personId: PersonId | undefined;
  clientId: string | undefined;
  role: StaffRoleName | undefined;
  after: string | undefined;
  limit: number;
};

export async function listRoles({ api }: Remote, asked: Asked): Promise<ListedRole[]> {
  const { schoolId, personId, clientId, role, after, limit } = asked;
  const query = given({ school: schoolId, person: personId, app: clientId, role });
  const read = (page: object) => api.GET(roles, { params: { query: { ...query, ...page } } });
  const found = await firstEntries(read, { limit, after, idOf: ({ id }) => id });
  return found.map((record) => ({ ...roleOf(record), holderName: holderName(record) }));
}

/** Somebody of the staff who is at no school. */
export type StaffPerson = Pick<Person, "id" | "status" | "name"> & { username: string | null; roles: StaffRoleName[] };

const staffPeople = "/admin/v1/staff-people";

type NewAccount = Pick<StaffRole, "role" | "schoolIds" | "clientIds" | "reason" | "endsAt"> & {
  name: PersonName;
  username: string;
};

/** Answers the login with its first password. */
export async function createStaffPerson(
  { api }: Remote,
  { name, username, role, schoolIds, clientIds, reason, endsAt }: NewAccount,
): Promise<Schemas["LoginSecret"]> {
  const body = {
    name,
    username,
    role,
    ...given({ reason: reason ?? undefined, endsAt: endsAt?.toISOString() }),
    ...(schoolIds.length > 0 && { schoolIds }),
    ...(clientIds.length > 0 && { clientIds }),
  };
  return bodyOf(api.POST(staffPeople, { params: once(), body }));
}

type Part = { search: string | undefined; after: string | undefined; limit: number };

export async function listStaffPeople({ api }: Remote, { search, after, limit }: Part): Promise<StaffPerson[]> {
  const read = (page: object) => api.GET(staffPeople, { params: { query: { ...given({ search }), ...page } } });
  const found = await firstEntries(read, { limit, after, idOf: ({ id }) => id });
  return found.map(({ id, status, name, username, roles: held }) => ({
    id: id as PersonId,
    status,
    name,
    username,
    roles: held.map(({ role }) => role),
  }));
}

/** Answers the login with its new password. */
export const newPassword = ({ api }: Remote, personId: PersonId): Promise<Schemas["LoginSecret"]> =>
  bodyOf(api.POST("/admin/v1/people/{personId}/login/password", { params: { path: { personId }, ...once() } }));
