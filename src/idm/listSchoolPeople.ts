import { personIsListed, readTable, syncedPersonIsListed } from "../access/index.ts";
import { answerList } from "../platform/http/index.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { listedPerson, listedPersonWithStatus, makePeopleLists } from "./records.ts";

const p = readTable("person", "p");

const people = makePeopleLists("idm_school_people", (given) => ({
  item: listedPerson(given),
  visible: personIsListed({ client: given.client }, p, given.school),
}));
const peopleWithDeleted = makePeopleLists("idm_school_people_deleted", (given) => ({
  item: listedPersonWithStatus(given),
  visible: syncedPersonIsListed({ client: given.client }, p, given.school),
}));

export const listSchoolPeople: IdmHandler<"listSchoolPeople"> = ({ caller, path, query }) =>
  answerList(
    (query["show-deleted"] ? peopleWithDeleted : people)(caller),
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
