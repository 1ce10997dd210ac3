import { userIsShownAt } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { table } from "../platform/sql.ts";
import { organizationNotFound, type IdmHandler } from "./handler.ts";
import { peopleOfSchool, user, type OfSchool, type User } from "./records.ts";

const p = table("person", "p");

const usersOfSchool = makeListQuery<User, OfSchool>("idm_school_users", (given) => ({
  ...peopleOfSchool(given),
  item: user(given),
  visible: userIsShownAt(given.client, p, given.school),
}));

export const listSchoolUsers: IdmHandler<"listSchoolUsers"> = ({ caller, path, query }) =>
  answerList(usersOfSchool, { client: caller.clientId, school: path.id }, organizationNotFound, query);
