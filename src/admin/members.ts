import { listSignInTimes } from "../access/index.ts";
import {
  addMembership,
  findPerson,
  listPeople,
  removeMembership,
  setMembershipRole,
  type Change,
  type GroupId,
  type Person,
  type PersonId,
  type SchoolId,
} from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf, type RecordStore } from "../platform/database/db.ts";
import { listUserNames } from "../accounts/index.ts";
import { changeRecord, refuseStale } from "./change.ts";
import { groupCounts, groupTag, readGroup, type AdminGroup } from "./group-record.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { getReachedPerson, keepingSchools, keepsRecord, type PersonReach } from "./whose-person.ts";
import { searchTermsOf } from "./query.ts";

type AdminMember = Schemas["AdminMember"];
type PersonRole = AdminMember["role"];

const membershipOf = ({ groups }: Person, groupId: GroupId) => groups.find(({ id }) => id === groupId);

export const listMembers: AdminHandler<"listMembers"> = async (deps, request) => {
  const { groupId, query, reach } = request;
  const page = readPage(deps, request);
  const group = await readGroup(deps.db, reach, groupId);
  const schoolId = group.schoolId as SchoolId;
  const keptBy = reach.all ? null : [schoolId, ...keepingSchools(reach)];
  const state = query["sign-in"];
  const found = await listPeople(storeOf(deps.db), {
    groupId,
    status: query.status,
    role: query.role,
    hasLogin: query["has-login"],
    signIn: state && { state, homeSchoolId: schoolId },
    words: searchTermsOf(query.search),
    identifiersOf: keptBy,
    ...page.range,
  });
  const ids = found.map(({ id }) => id);
  const logins = await listUserNames(deps.db, ids);
  const times = await listSignInTimes(deps.db, ids);
  const presentMember = (person: Person): AdminMember => {
    const { id, name, status, homeSchoolId } = person;
    const role = membershipOf(person, groupId)?.role ?? person.role;
    const { username = null, hasPassword: hasLogin = false } = logins.get(id) ?? {};
    const isGuest = homeSchoolId !== schoolId && !keepsRecord(reach, homeSchoolId);
    const ofHome = <T>(value: T): T | null => (isGuest ? null : value);
    return present<AdminMember>({
      id,
      role,
      name,
      status,
      username: ofHome(username),
      hasLogin,
      isGuest,
      blockedAt: ofHome(person.blockedAt),
      lastSignInAt: ofHome(times.get(id)?.lastSignInAt ?? null),
    });
  };
  return page.answer(found, presentMember);
};

/** A group with the membership of one person, as the audit log records it. */
type Subject = AdminGroup & { membership: { personId: PersonId; role: PersonRole } | null };

async function readSubject(
  db: RecordStore,
  { reach, groupId, personId }: InGroup & { reach: PersonReach },
): Promise<Subject> {
  const group = await readGroup(db, reach, groupId);
  const person = await findPerson(db, personId);
  const found = person === null ? undefined : membershipOf(person, groupId);
  return { ...group, membership: found === undefined ? null : { personId, role: found.role } };
}

const groupOf = ({ membership: _of, ...group }: Subject): AdminGroup => group;

type InGroup = { groupId: GroupId; personId: PersonId };

async function changeMembership(
  deps: AdminDeps,
  request: InGroup & Pick<AdminRequest<"deleteMembership">, "query" | "reach" | "origin" | "headers">,
  work: (change: Change, of: InGroup, before: Subject) => Promise<unknown>,
): ReturnType<typeof changeRecord> {
  const { groupId, personId, reach, headers } = request;
  const of = { groupId, personId };
  await readGroup(deps.db, reach, groupId);
  await getReachedPerson(deps.db, reach, personId);
  return changeRecord(deps, request, {
    touch: (change) => change.touch({ people: [personId], groups: [groupId] }),
    record: (tx) => readSubject(tx, { reach, ...of }),
    work: async (change, record) => {
      const before = record as Subject;
      refuseStale(headers, groupOf(before), groupCounts);
      await work(change, of, before);
    },
    tag: (record) => groupTag(groupOf(record as Subject)),
  });
}

export const putMembership: AdminHandler<"putMembership"> = (deps, request) =>
  changeMembership(deps, request, async (change, of, { membership }) => {
    if (membership === null) return addMembership(change, { ...of, role: request.body.role });
    const { role } = await getReachedPerson(change.tx, request.reach, of.personId);
    return setMembershipRole(change, { ...of, role: request.body.role ?? role });
  });

export const deleteMembership: AdminHandler<"deleteMembership"> = (deps, request) =>
  changeMembership(deps, request, (change, of) => removeMembership(change, of));
