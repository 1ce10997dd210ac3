import { groupIsReadable, groupIsSynced, visibleBy } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { table, type Parameters } from "../platform/database/sql.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { groupsOfSchool, listedGroup, ofSchool, type ListedGroup, type OfSchool } from "./records.ts";

const g = table("group", "g");

const groupsOf = (given: Parameters<OfSchool>) => ({
  ...groupsOfSchool(given),
  ...ofSchool(given),
  item: listedGroup,
});
const groups = makeListQuery<ListedGroup, OfSchool>("idm_school_groups", (given) => ({
  ...groupsOf(given),
  visible: groupIsReadable(given.client, g),
}));
const groupsWithDeleted = makeListQuery<ListedGroup, OfSchool>("idm_school_groups_deleted", (given) => ({
  ...groupsOf(given),
  visible: visibleBy("groups:read", { client: given.client, schoolId: g.schoolId }, groupIsSynced(given.client, g.id)),
}));

export const listSchoolGroups: IdmHandler<"listSchoolGroups"> = ({ caller, path, query }) =>
  answerList(
    query["show-deleted"] ? groupsWithDeleted : groups,
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
