import { changeDirectory } from "../../access/index.ts";
import { giveUserNames } from "../../accounts/index.ts";
import { addMembership, createGroup, createPerson, createSchool } from "../../directory/index.ts";
import type { Change, GroupId, PersonId, SchoolId } from "../../directory/index.ts";
import type { Schemas } from "../admin-api.ts";
import type { Machine } from "../command.ts";

// Records that have an id already. The admin API does not offer this.

const inChange = <T>({ withDatabase, origin }: Machine, work: (change: Change) => Promise<T>): Promise<T> =>
  withDatabase(({ db }) => changeDirectory(db, origin(), work));

export const createSchoolWithId = (machine: Machine, id: SchoolId, school: Schemas["SchoolInput"]): Promise<string> =>
  inChange(machine, (change) => createSchool(change, { ...school, id }));

export function createGroupWithId(machine: Machine, id: GroupId, group: Schemas["GroupInput"]): Promise<string> {
  const schoolId = group.schoolId as SchoolId;
  const sourceSystemIdentifier = group.sourceSystemIdentifier ?? undefined;
  return inChange(machine, (change) => createGroup(change, { ...group, id, schoolId, sourceSystemIdentifier }));
}

export function createPersonWithId(machine: Machine, id: PersonId, person: Schemas["PersonInput"]): Promise<string> {
  const { groupIds = [], role, name } = person;
  const schools = person.schoolIds as [SchoolId, ...SchoolId[]];
  const sourceSystemIdentifier = person.sourceSystemIdentifier ?? undefined;
  return inChange(machine, async (change) => {
    await createPerson(change, { id, schools, role, name, sourceSystemIdentifier });
    for (const groupId of groupIds) await addMembership(change, { groupId: groupId as GroupId, personId: id });
    await giveUserNames(change.tx, { schoolId: schools[0], people: [id] }, change.now);
    return id;
  });
}
