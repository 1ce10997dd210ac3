import type { Group, GroupId, GroupType, PersonId, PersonRole, SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import { bodyOf, firstEntries, fromLatest, given, once, tagged, type Remote, type Schemas } from "../admin-api.ts";

/** Shape: fields in the order in which they are printed. */
const groupOf = (record: Schemas["AdminGroup"]): Group => {
  const { id, schoolId, name, type, status, sourceSystemIdentifier, members } = record;
  return { id: id as GroupId, schoolId: schoolId as SchoolId, name, type, status, sourceSystemIdentifier, members };
};

const oneGroup = "/admin/v1/groups/{groupId}";

const readGroup = ({ api }: Remote, groupId: GroupId) => tagged(api.GET(oneGroup, { params: { path: { groupId } } }));

export const findGroup = async (remote: Remote, groupId: GroupId): Promise<Group> =>
  groupOf((await readGroup(remote, groupId)).record);

type Asked = {
  schoolId: SchoolId;
  withDeleted: boolean;
  search: string | undefined;
  after: string | undefined;
  limit: number;
};

export async function listGroups({ api }: Remote, asked: Asked): Promise<Group[]> {
  const { schoolId, withDeleted, search, after, limit } = asked;
  const query = { school: schoolId, "show-deleted": withDeleted, ...given({ search }) };
  const read = (page: object) => api.GET("/admin/v1/groups", { params: { query: { ...query, ...page } } });
  return (await firstEntries(read, { limit, after, idOf: ({ id }) => id })).map(groupOf);
}

type NewGroup = { schoolId: SchoolId; name: string; type: GroupType; sourceSystemIdentifier: string | undefined };

export async function createGroup({ api }: Remote, { sourceSystemIdentifier, ...rest }: NewGroup): Promise<string> {
  const body = { ...rest, ...given({ sourceSystemIdentifier }) };
  return (await bodyOf(api.POST("/admin/v1/groups", { params: once(), body }))).id;
}

/** Answers whether the name differs now. */
export async function renameGroup(remote: Remote, groupId: GroupId, name: string): Promise<boolean> {
  return fromLatest(async () => {
    const { record: before, ifMatch } = await readGroup(remote, groupId);
    await remote.api.PATCH(oneGroup, { params: { path: { groupId }, header: ifMatch }, body: { name } });
    return (await readGroup(remote, groupId)).record.name !== before.name;
  });
}

export async function deleteGroup({ api }: Remote, groupId: GroupId): Promise<void> {
  await api.DELETE(oneGroup, { params: { path: { groupId } } });
}

export async function restoreGroup({ api }: Remote, groupId: GroupId): Promise<void> {
  await api.POST(`${oneGroup}/restoration`, { params: { path: { groupId } } });
}

type Member = { groupId: GroupId; personId: PersonId };

const oneMember = `${oneGroup}/members/{personId}` as const;

/** The person's role in the group; undefined for somebody who is not in it. */
async function roleIn({ api }: Remote, { groupId, personId }: Member): Promise<PersonRole | undefined> {
  await bodyOf(api.GET(oneGroup, { params: { path: { groupId } } }));
  const person = await bodyOf(api.GET("/admin/v1/people/{personId}", { params: { path: { personId } } }));
  return person.groups.find(({ id }) => id === groupId)?.role;
}

/** Errors: conflict membership_exists, beside those of the service. */
export async function addMembership(
  remote: Remote,
  { role, ...path }: Member & { role: PersonRole | undefined },
): Promise<void> {
  if ((await roleIn(remote, path)) !== undefined)
    throw new AppError("conflict", "membership_exists", "The person is in the group already.");
  await remote.api.PUT(oneMember, { params: { path }, body: given({ role }) });
}

export async function removeMembership({ api }: Remote, path: Member): Promise<void> {
  await api.DELETE(oneMember, { params: { path } });
}

/** Answers whether the role differs now. Errors: not_found membership_not_found. */
export async function setMembershipRole(
  remote: Remote,
  { role, ...path }: Member & { role: PersonRole },
): Promise<boolean> {
  const before = await roleIn(remote, path);
  if (before === undefined) throw new AppError("not_found", "membership_not_found", "The person is not in the group.");
  if (before === role) return false;
  await remote.api.PUT(oneMember, { params: { path }, body: { role } });
  return true;
}
