import type { ClientId } from "../../access/index.ts";
import { createStaffPerson as createStaff, listUserNames, makeStaffPassword } from "../../accounts/index.ts";
import * as directory from "../../directory/index.ts";
import type { Person, PersonId, SchoolId } from "../../directory/index.ts";
import { recordDifference } from "../../events/index.ts";
import { storeOf, type Store } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import * as staff from "../../staff/index.ts";
import type { Reach, StaffRole } from "../../staff/index.ts";
import { answerCreated, answerRecord, commit, commitCreated, commitDone, commitSeen } from "../change.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { findNames } from "../names.ts";
import { readPerson } from "../people/person-record.ts";
import { readTime, searchTermsOf } from "../page.ts";
import { refuseUnknownApp, refuseUnknownSchool, getReachedPerson, type PersonReach } from "../reached.ts";

export function presentRole({ id, role, schoolIds, clientIds, reason, holder, endsAt, givenAt }: StaffRole) {
  const named = { personId: null, clientId: null, ...holder };
  return present("StaffRole", { id, role, schoolIds, clientIds, reason, holder: named, endsAt, givenAt });
}

export const getMe: AdminHandler<"getMe"> = async ({ db }, { caller }) => {
  const { personId, clientId, roles } = caller;
  const { all, schoolIds } = staff.joinReach(roles);
  const among = [...schoolIds];
  const [person, schools] = await Promise.all([
    personId === null ? null : directory.findPerson(db, personId),
    all || among.length === 0 ? [] : directory.listSchools(storeOf(db), { limit: among.length, among }),
  ]);
  const body = present("Me", {
    personId,
    clientId,
    name: person?.name ?? null,
    roles: roles.map(presentRole),
    schools,
  });
  return answerRecord(body);
};

const withinReach = ({ all, schoolIds, clientIds }: Reach, role: StaffRole): StaffRole =>
  all
    ? role
    : {
        ...role,
        schoolIds: role.schoolIds.filter((id) => schoolIds.has(id)),
        clientIds: role.clientIds.filter((id) => clientIds.has(id)),
      };

export const listStaffRoles: AdminHandler<"listStaffRoles"> = async (deps, request) => {
  const { query, reach, page } = request;
  const { school: schoolId, person: personId, app: clientId, role } = query;
  const filter = { schoolId, personId, clientId, role, reach, now: deps.clock(), withEnded: false };
  const roles = await staff.listRoles(deps.db, { ...filter, ...page.range });
  const names = await findNames(deps.db, {
    personIds: roles.map(({ holder }) => ("personId" in holder ? holder.personId : null)),
    clientIds: roles.map(({ holder }) => ("clientId" in holder ? holder.clientId : null)),
  });
  const presentNamed = (role: StaffRole) => {
    const presented = presentRole(withinReach(reach, role));
    const { personId, clientId } = presented.holder;
    return present("ListedStaffRole", {
      ...presented,
      personName: names.ofPerson(personId),
      appName: names.ofApp(clientId),
    });
  };
  return page.answer(roles, presentNamed);
};

export function readRole(input: Omit<Schemas["StaffRoleInput"], "holder">) {
  const { role, schoolIds = [], clientIds = [], reason = null, endsAt } = input;
  return {
    role,
    reason,
    schoolIds: schoolIds as SchoolId[],
    clientIds: clientIds as ClientId[],
    endsAt: readTime(endsAt) ?? null,
  };
}

const holderOf = ({ personId, clientId }: Schemas["StaffRoleHolderInput"]): StaffRole["holder"] =>
  personId === undefined ? { clientId: clientId as ClientId } : { personId: personId as PersonId };

/** Errors: not_found for a holder, school or app that is out of reach. */
async function refuseOthers(
  tx: Store,
  reach: PersonReach,
  { holder, schoolIds, clientIds }: Pick<StaffRole, "holder" | "schoolIds" | "clientIds">,
): Promise<void> {
  if ("personId" in holder) await getReachedPerson(tx, reach, holder.personId);
  else await refuseUnknownApp(tx, reach, holder.clientId);
  for (const id of schoolIds) await refuseUnknownSchool(tx, reach, id);
  for (const id of clientIds) await refuseUnknownApp(tx, reach, id);
}

export const giveStaffRole: AdminHandler<"giveStaffRole"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { body, caller, reach, origin } = request;
    const input = { ...readRole(body), holder: holderOf(body.holder), confirmPartners: body.confirmPartners };
    await refuseOthers(tx, reach, input);
    const role = await staff.giveRole(tx, input, {
      giver: caller.roles,
      origin,
      supportRoleDays: deps.supportRoleDays,
    });
    return { body: presentRole(role) };
  });

export const withdrawStaffRole: AdminHandler<"withdrawStaffRole"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { staffRoleId: id, caller, reach, origin } = request;
    if (!staff.isReached(reach, { schools: (await staff.getRole(tx, id)).schoolIds }))
      throw new AppError("not_found", "staff_role_not_found", "There is no such staff role.");
    const withdrawn = await staff.withdrawRole(tx, id, { giver: caller.roles, origin });
    await recordDifference(tx, origin, { before: presentRole(withdrawn), after: null });
  });

export const listProposedTeachers: AdminHandler<"listProposedTeachers"> = async ({ db }, request) => {
  const { schoolId, origin, page } = request;
  const proposals = await staff.listProposedTeachers(db.pool, { schoolId, now: origin.at });
  return page.answerFrom(proposals, (proposal) => present("ClassTeacherProposal", proposal));
};

export const giveClassTeacherRoles: AdminHandler<"giveClassTeacherRoles"> = (deps, request) =>
  commit(deps, request, async (tx) => {
    const { schoolId, body, caller, origin } = request;
    const teachers = { schoolId, personIds: body.personIds };
    const roles = (await staff.giveClassTeacherRoles(tx, teachers, { giver: caller.roles, origin })).map(presentRole);
    for (const role of roles)
      await recordDifference(tx, { ...origin, personId: role.holder.personId }, { before: null, after: role });
    return { status: 200 as const, body: roles };
  });

export const listStaffPeople: AdminHandler<"listStaffPeople"> = async (deps, request) => {
  const { query, origin, page } = request;
  const filter = { status: query.status, words: searchTermsOf(query.search), atNoSchool: true };
  const people = await directory.listPeople(storeOf(deps.db), { ...filter, ...page.range });
  const personIds = people.map(({ id }) => id);
  const logins = await listUserNames(deps.db, personIds);
  const roles = await staff.listRolesOf(deps.db, { personIds, now: origin.at });
  const presentPerson = (person: Person) =>
    present("StaffPerson", {
      ...person,
      username: logins.get(person.id)?.username ?? null,
      hasLogin: logins.get(person.id)?.hasPassword ?? false,
      roles: (roles.get(person.id) ?? []).map(presentRole),
    });
  return page.answer(people, presentPerson);
};

export const createStaffPerson: AdminHandler<"createStaffPerson"> = async (deps, request) => {
  const { body, caller, reach } = request;
  const { password, passwordHash } = await makeStaffPassword();
  const person = { name: body.name, username: body.username, passwordHash, role: readRole(body) };
  return commitSeen(deps, request, async (change) => {
    const rules = { giver: caller.roles, supportRoleDays: deps.supportRoleDays };
    const personId = await createStaff(change, person, rules);
    const recorded = await readPerson(change.tx, reach, personId);
    const body = present("LoginSecret", { personId, username: recorded.username!, password });
    return answerCreated(change.tx, request, { body, location: `/admin/v1/people/${personId}`, recorded });
  });
};
