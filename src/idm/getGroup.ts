import { groupIsShown, viewVersion } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql, table } from "../platform/database/sql.ts";
import { groupNotFound, type IdmHandler } from "./handler.ts";
import { group, type Group } from "./records.ts";

const g = table("group", "g");

const groupById = makeReadQuery<Group>("idm_group", {
  item: group(asked),
  version: viewVersion(asked.client, sql`SELECT ${g.schoolId}`),
  from: sql`${g}`,
  where: sql`${g.id} = ${asked.id}`,
  visible: groupIsShown(asked.client, g),
});

export const getGroup: IdmHandler<"getGroup"> = ({ caller, path }) =>
  answerRead(groupById, { client: caller.clientId, id: path.id }, groupNotFound);
