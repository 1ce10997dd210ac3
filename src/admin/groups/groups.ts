import * as directory from "../../directory/index.ts";
import type { Change, Group, GroupId, Person, PersonId, SchoolId } from "../../directory/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { groupsInReach, isGroupReached, type Reach } from "../../staff/index.ts";
import { answerRecord, changeInDirectory, createRecord, type PreviewedRequest } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { refuseOtherSchool, getReachedPerson, keepingSchools, keepsRecord } from "../reached.ts";
import { listSignInTimes } from "../../access/index.ts";
import { listUserNames } from "../../accounts/index.ts";
import { searchTermsOf } from "../page.ts";

async function listReached({ db }: AdminDeps, reach: Reach, filter: Parameters<typeof directory.listGroups>[1]) {
  const seen = groupsInReach(reach, filter.schoolId);
  if (!seen.all && seen.taughtBy === null) return [];
  return directory.listGroups(storeOf(db), {
    ...filter,
    taughtBy: seen.all ? undefined : (seen.taughtBy ?? undefined),
  });
}

export const listGroups: AdminHandler<"listGroups"> = async (deps, request) => {
  const { query, reach, page } = request;
  const schoolId = query.school;
  const withDeleted = query["show-deleted"] === true;
  const filter = { schoolId, withDeleted, search: query.search, byIdentifier: true, order: query.order };
  return page.answer(await listReached(deps, reach, { ...filter, ...page.range }));
};

export const listClassSignIns: AdminHandler<"listClassSignIns"> = async (deps, request) => {
  const { schoolId, query, reach, page } = request;
  const filter = { schoolId, withDeleted: false, type: "KLASSE", search: query.search, byIdentifier: true } as const;
  const groups = await listReached(deps, reach, { ...filter, ...page.range });
  const counts = await directory.countSignIns(
    deps.db.pool,
    groups.map(({ id }) => id),
  );
  const none = { students: 0, neverSignedIn: 0, withoutLogin: 0 };
  return page.answer(groups, (group) => present("ClassSignIns", { ...group, ...(counts.get(group.id) ?? none) }));
};

export const getGroup: AdminHandler<"getGroup"> = async ({ db }, { groupId, reach }) =>
  answerRecord(await readGroup(db, reach, groupId), groupCounts);

export const createGroup: AdminHandler<"createGroup"> = async (deps, request) => {
  const { body, reach } = request;
  const schoolId = body.schoolId;
  refuseOtherSchool(reach, schoolId);
  return createRecord(deps, request, {
    path: "/admin/v1/groups",
    make: async (change) => readGroup(change.tx, reach, await directory.createGroup(change, { ...body, schoolId })),
    without: groupCounts,
  });
};

async function changeGroup(
  deps: AdminDeps,
  request: PreviewedRequest & Pick<AdminRequest<"getGroup">, "groupId" | "reach">,
  work: (change: Change, groupId: GroupId) => Promise<unknown>,
) {
  const { groupId, reach } = request;
  await readGroup(deps.db, reach, groupId);
  return changeInDirectory(deps, request, {
    touch: (change) => change.touch({ groups: [groupId] }),
    record: (tx) => readGroup(tx, reach, groupId),
    work: (change) => work(change, groupId),
    without: groupCounts,
  });
}

export const updateGroup: AdminHandler<"updateGroup"> = (deps, request) =>
  changeGroup(deps, request, (change, groupId) => directory.renameGroup(change, { groupId, name: request.body.name }));

export const deleteGroup: AdminHandler<"deleteGroup"> = (deps, request) =>
  changeGroup(deps, request, (change, groupId) => directory.deleteGroup(change, { groupId }));

export const restoreGroup: AdminHandler<"restoreGroup"> = (deps, request) =>
  changeGroup(deps, request, (change, groupId) => directory.restoreGroup(change, { groupId }));

export type AdminGroup = Schemas["AdminGroup"];

/** Does not compile if a group has a property that the contract lacks. */
export const groupProperties: Same<keyof AdminGroup, keyof Group> = true;

/** Properties that change without a change of the group itself. */
export const groupCounts = ["members"] as const satisfies (keyof AdminGroup)[];

export const groupUnknown = () => new AppError("not_found", "group_not_found", "The group does not exist.");

/** Errors: not_found group_not_found, also if out of reach. */
export async function readGroup(db: RecordStore, reach: Reach, groupId: GroupId): Promise<AdminGroup> {
  const group = await directory.findGroup(db, groupId);
  if (group === null || !(await isGroupReached(db, reach, group))) throw groupUnknown();
  return group;
}

const membershipOf = ({ groups }: Person, groupId: GroupId) => groups.find(({ id }) => id === groupId);

export const listMembers: AdminHandler<"listMembers"> = async (deps, request) => {
  const { groupId, query, reach, page } = request;
  const group = await readGroup(deps.db, reach, groupId);
  const schoolId = group.schoolId as SchoolId;
  const keptBy = reach.all ? null : [schoolId, ...keepingSchools(reach)];
  const state = query["sign-in"];
  const people = await directory.listPeople(storeOf(deps.db), {
    groupId,
    status: query.status,
    role: query.role,
    hasLogin: query["has-login"],
    signIn: state && { state, homeSchoolId: schoolId },
    words: searchTermsOf(query.search),
    identifiersOf: keptBy,
    ...page.range,
  });
  const ids = people.map(({ id }) => id);
  const logins = await listUserNames(deps.db, ids);
  const times = await listSignInTimes(deps.db, ids);
  const presentMember = (person: Person): Schemas["AdminMember"] => {
    const { id, homeSchoolId } = person;
    const role = membershipOf(person, groupId)?.role ?? person.role;
    const { username = null, hasPassword: hasLogin = false } = logins.get(id) ?? {};
    const isGuest = homeSchoolId !== schoolId && !keepsRecord(reach, homeSchoolId);
    const ofHome = <T>(value: T): T | null => (isGuest ? null : value);
    return present("AdminMember", {
      ...person,
      role,
      username: ofHome(username),
      hasLogin,
      isGuest,
      blockedAt: ofHome(person.blockedAt),
      lastSignInAt: ofHome(times.get(id)?.lastSignInAt ?? null),
    });
  };
  return page.answer(people, presentMember);
};

type InGroup = { groupId: GroupId; personId: PersonId };

/** The membership of one person, which the audit log shows with the group. */
async function readMembership(db: RecordStore, { groupId, personId }: InGroup) {
  const person = await directory.findPerson(db, personId);
  const membership = person === null ? undefined : membershipOf(person, groupId);
  return { membership: membership === undefined ? null : { personId, role: membership.role } };
}

async function changeMembership(
  deps: AdminDeps,
  request: InGroup & PreviewedRequest & Pick<AdminRequest<"deleteMembership">, "reach">,
  work: (change: Change, of: InGroup) => Promise<unknown>,
) {
  const { groupId, personId, reach } = request;
  const of = { groupId, personId };
  await readGroup(deps.db, reach, groupId);
  await getReachedPerson(deps.db, reach, personId);
  return changeInDirectory(deps, request, {
    touch: (change) => change.touch({ people: [personId], groups: [groupId] }),
    record: (tx) => readGroup(tx, reach, groupId),
    work: (change) => work(change, of),
    without: groupCounts,
    recorded: async (group, tx) => ({ ...group, ...(await readMembership(tx, of)) }),
  });
}

export const putMembership: AdminHandler<"putMembership"> = (deps, request) =>
  changeMembership(deps, request, async (change, of) => {
    const { membership } = await readMembership(change.tx, of);
    if (membership === null) return directory.addMembership(change, { ...of, role: request.body.role });
    const { role } = await getReachedPerson(change.tx, request.reach, of.personId);
    return directory.setMembershipRole(change, { ...of, role: request.body.role ?? role });
  });

export const deleteMembership: AdminHandler<"deleteMembership"> = (deps, request) =>
  changeMembership(deps, request, directory.removeMembership);
