import type {
  FoundPerson,
  GroupId,
  NewPerson,
  Person,
  PersonId,
  PersonStatus,
  SchoolId,
} from "../../directory/index.ts";
import type { PersonName, PersonUpdate } from "../../directory/index.ts";
import { writeNewFile } from "./new-file.ts";
import {
  bodyOf,
  dateOf,
  firstEntries,
  fromLatest,
  given,
  once,
  tagged,
  type Remote,
  type Schemas,
} from "../admin-api.ts";

/** Shape: fields in the order in which they are printed. */
function personOf(record: Schemas["AdminPerson"]): Person {
  const { id, role, status, name, sourceSystemIdentifier, softDeletedAt, purgeAt, blockedAt, createdAt } = record;
  return {
    role,
    status,
    sourceSystemIdentifier,
    softDeletedAt: dateOf(softDeletedAt),
    purgeAt: dateOf(purgeAt),
    blockedAt: dateOf(blockedAt),
    createdAt: new Date(createdAt),
    id: id as PersonId,
    name,
    homeSchoolId: record.homeSchoolId as SchoolId | null,
    schools: record.schools.map((school) => ({ id: school.id as SchoolId, name: school.name })),
    groups: record.groups.map((group) => ({
      id: group.id as GroupId,
      schoolId: group.schoolId as SchoolId,
      name: group.name,
      status: group.status,
      role: group.role,
    })),
  };
}

const onePerson = "/admin/v1/people/{personId}";

const readPerson = ({ api }: Remote, personId: PersonId) =>
  tagged(api.GET(onePerson, { params: { path: { personId } } }));

export const findPerson = async (remote: Remote, personId: PersonId): Promise<Person> =>
  personOf((await readPerson(remote, personId)).record);

type Part = { search: string | undefined; after: string | undefined; limit: number };
type Of = { schoolId: SchoolId; groupId: GroupId | undefined; status: PersonStatus | undefined };

const idOf = ({ id }: { id: string }): string => id;

export async function listPeople({ api }: Remote, asked: Part & Of): Promise<Person[]> {
  const { schoolId, groupId, status, search, after, limit } = asked;
  const query = { school: schoolId, ...given({ group: groupId, status, search }) };
  const read = (page: object) => api.GET("/admin/v1/people", { params: { query: { ...query, ...page } } });
  return (await firstEntries(read, { limit, after, idOf })).map(personOf);
}

export async function findPeople({ api }: Remote, { search, after, limit }: Part): Promise<FoundPerson[]> {
  const read = (page: object) => api.GET("/admin/v1/people", { params: { query: { ...given({ search }), ...page } } });
  const found = await firstEntries(read, { limit, after, idOf });
  const schools = new Map<string, FoundPerson["homeSchool"]>();
  for (const schoolId of new Set(found.map(({ homeSchoolId }) => homeSchoolId))) {
    // The home school of a guest is not reached.
    if (schoolId === null || found.every((one) => one.isGuest || one.homeSchoolId !== schoolId)) continue;
    const { id, name, officialId } = await bodyOf(
      api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }),
    );
    schools.set(schoolId, { id: id as SchoolId, name, officialId });
  }
  return found.map(({ id, role, status, name, homeSchoolId }) => ({
    id: id as PersonId,
    role,
    status,
    name,
    homeSchool: homeSchoolId === null ? null : (schools.get(homeSchoolId) ?? null),
  }));
}

export async function createPerson(
  { api }: Remote,
  person: Omit<NewPerson, "id"> & { groups: readonly GroupId[] },
): Promise<string> {
  const { schools, groups, role, name, sourceSystemIdentifier = null } = person;
  const of = { schoolIds: [...schools], groupIds: [...new Set(groups)] };
  const body = { ...of, role, name, sourceSystemIdentifier };
  // The other answer is that of a dry run.
  const made = (await bodyOf(api.POST("/admin/v1/people", { params: once(), body }))) as Schemas["AdminPerson"];
  return made.id;
}

const flat = ({ role, name, sourceSystemIdentifier }: Schemas["AdminPerson"]): Record<string, unknown> => ({
  role,
  firstFull: name?.firstFull,
  firstCall: name?.firstCall,
  last: name?.last,
  sourceSystemIdentifier,
});

/** Answers the names of what differs now. Shape: `name` makes the new name of the present one. */
export async function updatePerson(
  remote: Remote,
  {
    personId,
    name,
    ...rest
  }: Omit<PersonUpdate, "name"> & {
    name: (before: PersonName | null) => PersonName | null | undefined;
  },
): Promise<string[]> {
  return fromLatest(async () => {
    const { record: before, ifMatch } = await readPerson(remote, personId);
    const body = given({ ...rest, name: name(before.name) });
    if (Object.keys(body).length === 0) return [];
    await remote.api.PATCH(onePerson, { params: { path: { personId }, header: ifMatch }, body });
    const after = flat((await readPerson(remote, personId)).record);
    return Object.keys(after).filter((field) => after[field] !== flat(before)[field]);
  });
}

/** Answers until when the person can be restored. */
export async function softDeletePerson(remote: Remote, personId: PersonId): Promise<Date> {
  await remote.api.POST(`${onePerson}/soft-deletion`, { params: { path: { personId } } });
  return (await findPerson(remote, personId)).purgeAt!;
}

/** What is done to one person and answers nothing. */
const act =
  (send: (api: Remote["api"], params: { params: { path: { personId: PersonId } } }) => Promise<unknown>) =>
  async ({ api }: Remote, personId: PersonId): Promise<void> => {
    await send(api, { params: { path: { personId } } });
  };

export const restorePerson = act((api, of) => api.POST(`${onePerson}/restoration`, of));
export const deletePerson = act((api, of) => api.DELETE(onePerson, of));
export const signOutPerson = act((api, of) => api.POST(`${onePerson}/sign-out`, of));
export const blockPerson = act((api, of) => api.POST(`${onePerson}/block`, of));
export const unblockPerson = act((api, of) => api.DELETE(`${onePerson}/block`, of));
export const revokeSecondFactors = act((api, of) => api.DELETE(`${onePerson}/second-factors`, of));

export const withdrawPasswordRequests = act((api, of) => api.DELETE(`${onePerson}/login/password-request`, of));

type Moved = { personId: PersonId; to: SchoolId; from: SchoolId | undefined };

export async function movePerson({ api }: Remote, { personId, to, from }: Moved): Promise<void> {
  const body = { toSchoolId: to, ...given({ fromSchoolId: from }) };
  await api.POST(`${onePerson}/move`, { params: { path: { personId } }, body });
}

/** Answers the new password. */
export async function setLogin({ api }: Remote, personId: PersonId, username: string): Promise<string> {
  const made = await bodyOf(api.PUT(`${onePerson}/login`, { params: { path: { personId } }, body: { username } }));
  return made.password;
}

type At = { personId: PersonId; schoolId: SchoolId };

export async function requestPassword({ api }: Remote, { personId, schoolId }: At): Promise<void> {
  await api.POST(`${onePerson}/login/password-request`, { params: { path: { personId } }, body: { schoolId } });
}

export async function joinSchool({ api }: Remote, path: At): Promise<void> {
  await api.PUT(`${onePerson}/schools/{schoolId}`, { params: { path } });
}

export async function leaveSchool({ api }: Remote, path: At): Promise<void> {
  await api.DELETE(`${onePerson}/schools/{schoolId}`, { params: { path } });
}

export async function setHomeSchool({ api }: Remote, { personId, schoolId }: At): Promise<void> {
  await api.PUT(`${onePerson}/home-school`, { params: { path: { personId } }, body: { schoolId } });
}

/** Writes what is stored about a person to a new file that only its owner can read. */
export async function writeData({ api }: Remote, personId: PersonId, file: string): Promise<void> {
  await writeNewFile(file, async () => {
    const data = await bodyOf(api.GET(`${onePerson}/data`, { params: { path: { personId } } }));
    return { content: `${JSON.stringify(data, null, 2)}\n` };
  });
}
