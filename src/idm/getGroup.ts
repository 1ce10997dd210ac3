import { groupIsShown } from "../access/index.ts";
import { answerRead, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { groupNotFound } from "./missing.ts";
import { client, group, type Group } from "./records.ts";

const groupById = makeReadQuery<Group>("idm_group", {
  item: group,
  from: `"group" g WHERE g.id = $2 AND ${groupIsShown(client, "g")}`,
});

export const getGroup: IdmHandler<"getGroup"> = ({ caller, path }) => answerRead(groupById, [caller.clientId, path.id], groupNotFound());
