import { groupIsShown, groupIsSynced, schoolIsShown, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { organizationNotFound } from "./missing.ts";
import { client, listedGroup, listedGroupWithStatus, type ListedGroup } from "./records.ts";

const order = {
  values: 2,
  sortKey: "g.sort_key",
  id: "g.id",
  shown: schoolIsShown(client, "$2"),
  version: viewVersion(client, "SELECT $2::uuid"),
};
const groups = makeListQuery<ListedGroup>("idm_school_groups", {
  item: listedGroup,
  from: `"group" g WHERE g.school_id = $2 AND ${groupIsShown(client, "g")}`,
  ...order,
});
const groupsWithDeleted = makeListQuery<ListedGroup>("idm_school_groups_deleted", {
  item: listedGroupWithStatus,
  from: `"group" g WHERE g.school_id = $2 AND ${groupIsSynced(client, "g.id")}`,
  ...order,
});

export const listSchoolGroups: IdmHandler<"listSchoolGroups"> = ({ caller, path, query }) =>
  answerList(
    query["show-deleted"] ? groupsWithDeleted : groups,
    [caller.clientId, path.id],
    organizationNotFound,
    query,
  );
