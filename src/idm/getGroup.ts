import { groupIsReadable, nameOfOrder, viewVersion, type IdKind } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql, table } from "../platform/database/sql.ts";
import { groupNotFound, type IdmHandler } from "./contract.ts";
import { group, type Group } from "./records.ts";

const g = table("group", "g");

const makeGroupRead = (kind: IdKind) =>
  makeReadQuery<Group>(`idm_group${nameOfOrder({ by: "all", ids: kind })}`, {
    item: group(asked, kind),
    version: viewVersion(asked.client, sql`SELECT ${g.schoolId}`),
    from: sql`${g}`,
    where: sql`${g.id} = ${asked.id}`,
    visible: groupIsReadable(asked.client, g),
  });
const groupById = { shared: makeGroupRead("shared"), own: makeGroupRead("own") };

export const getGroup: IdmHandler<"getGroup"> = ({ caller, path }) =>
  answerRead(groupById[caller.ids], { client: caller.clientId, id: path.id }, groupNotFound);
