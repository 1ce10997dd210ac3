import { personIsShown, personIsSynced } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { table } from "../platform/sql.ts";
import { organizationNotFound, type IdmHandler } from "./handler.ts";
import { listedPerson, listedPersonWithStatus, peopleOfSchool, type ListedPerson, type OfSchool } from "./records.ts";

const p = table("person", "p");

const people = makeListQuery<ListedPerson, OfSchool>("idm_school_people", (given) => ({
  ...peopleOfSchool(given),
  item: listedPerson(given),
  visible: personIsShown(given.client, p, given.school),
}));
const peopleWithDeleted = makeListQuery<ListedPerson, OfSchool>("idm_school_people_deleted", (given) => ({
  ...peopleOfSchool(given),
  item: listedPersonWithStatus(given),
  visible: personIsSynced(given.client, p, given.school),
}));

export const listSchoolPeople: IdmHandler<"listSchoolPeople"> = ({ caller, path, query }) =>
  answerList(
    query["show-deleted"] ? peopleWithDeleted : people,
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
