import { groupIsReadable, groupIsSynced, visibleBy } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { table, type Parameters } from "../platform/database/sql.ts";
import { organizationNotFound, type IdmHandler } from "./contract.ts";
import { groupsOfSchool, listedGroup, ofSchool, type ListedGroup, type OfSchool } from "./records.ts";

const g = table("group", "g");

const groupsOf = (params: Parameters<OfSchool>) => ({
  ...groupsOfSchool(params),
  ...ofSchool(params),
  item: listedGroup,
});
const groups = makeListQuery<ListedGroup, OfSchool>("idm_school_groups", (params) => ({
  ...groupsOf(params),
  visible: groupIsReadable(params.client, g),
}));
const groupsWithDeleted = makeListQuery<ListedGroup, OfSchool>("idm_school_groups_deleted", (params) => ({
  ...groupsOf(params),
  visible: visibleBy(
    "groups:read",
    { client: params.client, schoolId: g.schoolId },
    groupIsSynced(params.client, g.id),
  ),
}));

export const listSchoolGroups: IdmHandler<"listSchoolGroups"> = ({ caller, path, query }) =>
  answerList(
    query["show-deleted"] ? groupsWithDeleted : groups,
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
