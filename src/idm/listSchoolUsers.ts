import { schoolIsShown, userIsShownAt, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { organizationNotFound } from "./missing.ts";
import { client, fromPeopleOfSchool, listedUser, orderOfPeople, type User } from "./records.ts";

const usersOfSchool = makeListQuery<User>("idm_school_users", {
  item: listedUser,
  from: `${fromPeopleOfSchool} AND ${userIsShownAt(client, "p", "$2")}`,
  values: 2,
  ...orderOfPeople,
  shown: schoolIsShown(client, "$2"),
  version: viewVersion(client, "SELECT $2::uuid"),
});

export const listSchoolUsers: IdmHandler<"listSchoolUsers"> = ({ caller, path, query }) =>
  answerList(usersOfSchool, [caller.clientId, path.id], organizationNotFound, query);
