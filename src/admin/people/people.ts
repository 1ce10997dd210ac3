import { askingApps, previewChange } from "../../access/index.ts";
import * as directory from "../../directory/index.ts";
import type { Change, GroupId, Person, PersonId, SchoolId } from "../../directory/index.ts";
import { recordAuditLines, type Origin } from "../../events/index.ts";
import { addDays } from "../../platform/clock.ts";
import { storeOf, withPrismaTransaction } from "../../platform/database/db.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";
import { forgetPerson, giveUserNames } from "../../accounts/index.ts";
import { refuseLastOperatorLeaves } from "../../staff/index.ts";
import { answerRecord, createRecord } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "../handler.ts";
import { readGroup } from "../groups/groups.ts";
import { changePerson, makePresenter, passing, readPerson } from "./person-record.ts";
import { refuseOtherSchool, keepingSchools } from "../reached.ts";
import { presentViewChanges } from "../view-changes.ts";
import { invalidRequest, searchTermsOf } from "../page.ts";

/** Errors: invalid invalid_request for an order or a filter without an index over several schools. */
function refuseUnbounded({ sort, school, group, "sign-in": signIn }: AdminRequest<"listPeople">["query"]): void {
  if (school !== undefined || group !== undefined) return;
  if (signIn !== undefined) throw invalidRequest("The query parameter sign-in needs school or group.");
  if (sort !== undefined && sort !== "name")
    throw invalidRequest("The query parameter sort allows times only together with school or group.");
}

/** Records each person found at their home school, and a search without a result alone. */
async function recordSearch({ db }: AdminDeps, people: readonly Person[], origin: Origin): Promise<void> {
  const line = { ...origin, action: "people_searched" } as const;
  const lines = people.map(({ id, homeSchoolId }) => ({ ...line, personId: id, schoolId: homeSchoolId }));
  await withPrismaTransaction(db, (tx) => recordAuditLines(tx, lines.length === 0 ? [line] : lines));
}

export const listPeople: AdminHandler<"listPeople"> = async (deps, request) => {
  const { query, reach, page } = request;
  refuseUnbounded(query);
  const [schoolId, groupId] = [query.school, query.group];
  const group = groupId === undefined ? null : await readGroup(deps.db, reach, groupId);
  const homeSchoolId = schoolId ?? (group?.schoolId as SchoolId);
  const { "sign-in": state, "left-days": leftDays } = query;
  const personId = uuidPattern.test(query.search ?? "") ? (query.search as PersonId) : undefined;
  const people = await directory.listPeople(storeOf(deps.db), {
    schoolId,
    groupId,
    status: query.status,
    role: query.role,
    hasLogin: query["has-login"],
    signIn: state && { state, homeSchoolId },
    leftSince: leftDays === undefined ? undefined : addDays(request.origin.at, -leftDays),
    personId,
    words: personId === undefined ? searchTermsOf(query.search) : undefined,
    identifiersOf: reach.all ? null : keepingSchools(reach),
    among: reach.all ? null : [...reach.schoolIds],
    sort: query.sort,
    order: query.order,
    ...page.range,
  });
  const isOverSchools = schoolId === undefined && groupId === undefined && (reach.all || reach.schoolIds.size > 1);
  if (query.search !== undefined && isOverSchools) await recordSearch(deps, people, request.origin);
  return page.answer(people, await makePresenter(deps.db, reach, people));
};

export const getPerson: AdminHandler<"getPerson"> = async ({ db }, { personId, reach }) =>
  answerRecord(await readPerson(db, reach, personId), passing);

export const createPerson: AdminHandler<"createPerson"> = async (deps, request) => {
  const { db } = deps;
  const { query, body, reach, origin } = request;
  const { schoolIds, groupIds = [], ...rest } = body;
  const schools = schoolIds as [SchoolId, ...SchoolId[]];
  for (const schoolId of schools) refuseOtherSchool(reach, schoolId);
  for (const groupId of groupIds) await readGroup(db, reach, groupId as GroupId);
  const make = async (change: Change): Promise<PersonId> => {
    await change.touch({ schools, groups: groupIds as GroupId[] });
    const personId = await directory.createPerson(change, { ...rest, schools });
    for (const groupId of groupIds) await directory.addMembership(change, { groupId: groupId as GroupId, personId });
    await giveUserNames(change.tx, { schoolId: schools[0], people: [personId] }, change.now);
    return personId;
  };
  if (query["dry-run"] === true)
    return { status: 200, body: await previewChange(db, origin, make, presentViewChanges) };
  return createRecord(deps, request, {
    path: "/admin/v1/people",
    make: async (change) => readPerson(change.tx, reach, await make(change)),
    without: passing,
  });
};

export const updatePerson: AdminHandler<"updatePerson"> = (deps, request) =>
  changePerson(deps, request, (change, { id }) =>
    directory.updatePerson(change, { personId: id as PersonId, ...request.body }),
  );

export const softDeletePerson: AdminHandler<"softDeletePerson"> = (deps, request) =>
  changePerson(deps, request, async (change, { id }) => {
    const personId = id as PersonId;
    await refuseLastOperatorLeaves(change.tx, { personId });
    await directory.softDeletePerson(change, { personId, restoreWindowDays: deps.restoreWindowDays });
  });

export const restorePerson: AdminHandler<"restorePerson"> = (deps, request) =>
  changePerson(deps, request, (change, { id }) => directory.restorePerson(change, { personId: id as PersonId }));

export const deletePerson: AdminHandler<"deletePerson"> = (deps, request) =>
  changePerson(
    deps,
    request,
    async (change, { id, status }) => {
      const personId = id as PersonId;
      if (status === "ACTIVE") await refuseLastOperatorLeaves(change.tx, { personId });
      await directory.deletePerson(change, { personId, forget: askingApps(forgetPerson) });
    },
    { forgets: true },
  );

export const movePerson: AdminHandler<"movePerson"> = (deps, request) => {
  const { body, reach } = request;
  const [to, from] = [body.toSchoolId as SchoolId, body.fromSchoolId as SchoolId | undefined];
  return changePerson(
    deps,
    request,
    async (change, before) => {
      for (const schoolId of [to, from ?? (before.homeSchoolId as SchoolId)]) refuseOtherSchool(reach, schoolId);
      await directory.movePerson(change, { personId: before.id as PersonId, to, from });
    },
    { schools: (from === undefined ? [to] : [to, from]).filter((id) => reach.all || reach.schoolIds.has(id)) },
  );
};

export const setHomeSchool: AdminHandler<"setHomeSchool"> = (deps, request) => {
  const { body, reach } = request;
  const schoolId = body.schoolId;
  return changePerson(deps, request, async (change, before) => {
    // The school that is the home until then loses the person's record, so it is reached too.
    for (const id of [schoolId, before.homeSchoolId as SchoolId]) refuseOtherSchool(reach, id);
    await directory.setHomeSchool(change, { personId: before.id as PersonId, schoolId });
  });
};

export const joinSchool: AdminHandler<"joinSchool"> = (deps, request) => {
  const { schoolId, reach } = request;
  return changePerson(
    deps,
    request,
    async (change, { id, schools }) => {
      refuseOtherSchool(reach, schoolId);
      if (!schools.some((school) => school.id === schoolId))
        await directory.joinSchool(change, { personId: id as PersonId, schoolId });
    },
    { schools: reach.all || reach.schoolIds.has(schoolId) ? [schoolId] : [] },
  );
};

export const leaveSchool: AdminHandler<"leaveSchool"> = (deps, request) => {
  const { schoolId, reach } = request;
  return changePerson(deps, request, async (change, { id }) => {
    refuseOtherSchool(reach, schoolId);
    await directory.leaveSchool(change, { personId: id as PersonId, schoolId });
  });
};
