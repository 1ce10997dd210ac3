import { readTable, userIsListed } from "../access/index.ts";
import { answerList } from "../platform/http/index.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { makePeopleLists, user } from "./records.ts";

const p = readTable("person", "p");

const usersOfSchool = makePeopleLists("idm_school_users", (params) => ({
  item: user(params),
  visible: userIsListed({ client: params.client }, p, params.school),
}));

export const listSchoolUsers: IdmHandler<"listSchoolUsers"> = ({ caller, path, query }) =>
  answerList(usersOfSchool(caller), { client: caller.clientId, school: path.id }, organizationNotFound, query);
