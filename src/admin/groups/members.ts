import { listSignInTimes } from "../../access/index.ts";
import * as directory from "../../directory/index.ts";
import type { Change, GroupId, Person, PersonId, SchoolId } from "../../directory/index.ts";
import { present } from "../present.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { listUserNames } from "../../accounts/index.ts";
import { changeInDirectory } from "../change.ts";
import { groupCounts, readGroup } from "./groups.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { getReachedPerson, keepingSchools, keepsRecord } from "../whose-person.ts";
import { searchTermsOf } from "../page.ts";

type AdminMember = Schemas["AdminMember"];

const membershipOf = ({ groups }: Person, groupId: GroupId) => groups.find(({ id }) => id === groupId);

export const listMembers: AdminHandler<"listMembers"> = async (deps, request) => {
  const { groupId, query, reach, page } = request;
  const group = await readGroup(deps.db, reach, groupId);
  const schoolId = group.schoolId as SchoolId;
  const keptBy = reach.all ? null : [schoolId, ...keepingSchools(reach)];
  const state = query["sign-in"];
  const found = await directory.listPeople(storeOf(deps.db), {
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
  return page.answer(found, presentMember);
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
  request: InGroup & Pick<AdminRequest<"deleteMembership">, "query" | "reach" | "origin" | "headers">,
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
