import {
  joinSchool as join,
  leaveSchool as leave,
  movePerson as move,
  setHomeSchool as setHome,
  type PersonId,
  type SchoolId,
} from "../directory/index.ts";
import type { AdminHandler } from "./handler.ts";
import { changePerson } from "./person-record.ts";
import { refuseOtherSchool } from "./reached.ts";

export const movePerson: AdminHandler<"movePerson"> = async (deps, request) => {
  const { body, reach } = request;
  const [to, from] = [body.toSchoolId as SchoolId, body.fromSchoolId as SchoolId | undefined];
  const schools = from === undefined ? [to] : [to, from];
  return changePerson(
    deps,
    request,
    async (change, before) => {
      for (const schoolId of [to, from ?? (before.homeSchoolId as SchoolId)]) refuseOtherSchool(reach, schoolId);
      await move(change, { personId: before.id as PersonId, to, from });
    },
    { schools: schools.filter((id) => reach.all || reach.schoolIds.has(id)) },
  );
};

export const setHomeSchool: AdminHandler<"setHomeSchool"> = async (deps, request) => {
  const { body, reach } = request;
  const schoolId = body.schoolId;
  return changePerson(deps, request, async (change, before) => {
    // The school that is the home until then loses the person's record, so it is reached too.
    for (const id of [schoolId, before.homeSchoolId as SchoolId]) refuseOtherSchool(reach, id);
    await setHome(change, { personId: before.id as PersonId, schoolId });
  });
};

export const joinSchool: AdminHandler<"joinSchool"> = async (deps, request) => {
  const { schoolId, reach } = request;
  return changePerson(
    deps,
    request,
    async (change, { id, schools }) => {
      refuseOtherSchool(reach, schoolId);
      if (!schools.some((school) => school.id === schoolId)) await join(change, { personId: id as PersonId, schoolId });
    },
    { schools: reach.all || reach.schoolIds.has(schoolId) ? [schoolId] : [] },
  );
};

export const leaveSchool: AdminHandler<"leaveSchool"> = async (deps, request) => {
  const { schoolId, reach } = request;
  return changePerson(deps, request, async (change, { id }) => {
    refuseOtherSchool(reach, schoolId);
    await leave(change, { personId: id as PersonId, schoolId });
  });
};
