import { personIsListed, readTable, syncedPersonIsListed } from "../access/index.ts";
import { answerList } from "../platform/http/index.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { listedPerson, listedPersonWithStatus, makePeopleLists } from "./records.ts";

const p = readTable("person", "p");

const people = makePeopleLists("idm_school_people", (params) => ({
  item: listedPerson(params),
  visible: personIsListed({ client: params.client }, p, params.school),
}));
const peopleWithDeleted = makePeopleLists("idm_school_people_deleted", (params) => ({
  item: listedPersonWithStatus(params),
  visible: syncedPersonIsListed({ client: params.client }, p, params.school),
}));

export const listSchoolPeople: IdmHandler<"listSchoolPeople"> = ({ caller, path, query }) =>
  answerList(
    (query["show-deleted"] ? peopleWithDeleted : people)(caller),
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
