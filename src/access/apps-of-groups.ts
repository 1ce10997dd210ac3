import type { GroupId } from "../directory/index.ts";
import { makeFind, sql, table } from "../platform/database/sql.ts";
import type { ClientId } from "./token.ts";

export type AppOfGroup = { groupId: GroupId; clientId: ClientId; name: string };

const app = table("app");
const [synced, signOn] = [table("syncedGroup", "synced"), table("grantSignOnGroup", "sign_on")];

/** The apps whose grants name these groups. */
export const listAppsOfGroups = makeFind<AppOfGroup, { groupIds: readonly GroupId[] }>(
  ({ groupIds }) => sql`
  SELECT named.group_id AS "groupId", ${app.clientId} AS "clientId", ${app.name} FROM (
    SELECT ${synced.groupId}, ${synced.clientId} FROM ${synced} WHERE ${synced.groupId} = ANY (${groupIds}::uuid[])
    UNION SELECT ${signOn.groupId}, ${signOn.clientId} FROM ${signOn} WHERE ${signOn.groupId} = ANY (${groupIds}::uuid[])
  ) AS named JOIN ${app} ON ${app.clientId} = named.client_id ORDER BY ${app.name}, ${app.clientId}`,
);
