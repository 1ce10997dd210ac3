import { groupIsShown } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { groupNotFound } from "./missing.ts";
import { group, type Group } from "./records.ts";

const groupById = makeReadQuery<Group>("idm_group", {
  item: group,
  from: `"group" g WHERE g.id = ${asked.id} AND ${groupIsShown(asked.client, "g")}`,
});

export const getGroup: IdmHandler<"getGroup"> = ({ caller, path }) =>
  answerRead(groupById, { client: caller.clientId, id: path.id }, groupNotFound);
