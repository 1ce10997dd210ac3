import { personIsShown, personIsSynced, schoolIsShown, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { organizationNotFound } from "./missing.ts";
import {
  client,
  fromPeopleOfSchool,
  listedPerson,
  listedPersonWithStatus,
  orderOfPeople,
  type ListedPerson,
} from "./records.ts";

const order = {
  values: 2,
  ...orderOfPeople,
  shown: schoolIsShown(client, "$2"),
  version: viewVersion(client, "SELECT $2::uuid"),
};
const people = makeListQuery<ListedPerson>("idm_school_people", {
  item: listedPerson,
  from: `${fromPeopleOfSchool} AND ${personIsShown(client, "p", "$2")}`,
  ...order,
});
const peopleWithDeleted = makeListQuery<ListedPerson>("idm_school_people_deleted", {
  item: listedPersonWithStatus,
  from: `${fromPeopleOfSchool} AND ${personIsSynced(client, "p", "$2")}`,
  ...order,
});

export const listSchoolPeople: IdmHandler<"listSchoolPeople"> = ({ caller, path, query }) =>
  answerList(
    query["show-deleted"] ? peopleWithDeleted : people,
    [caller.clientId, path.id],
    organizationNotFound,
    query,
  );
