import {
  columnNames,
  insert,
  run,
  sql,
  statement,
  table,
  update,
  type Queryable,
} from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";
import type { SchoolId } from "../../directory/index.ts";

const item = table("withheldItem", "v_item");
const open = table("withheldPeriod", "v_open");

type Recorded = { clientId: ClientId; schoolId: SchoolId | null; at: Date };

const isSame = sql`${open.clientId} = ${item.clientId} AND ${open.schoolId} = ${item.schoolId}
  AND ${open.item} = ${item.item} AND ${open.reason} = ${item.reason}`;

const record = statement<Recorded>(
  ({ clientId, schoolId, at }) => sql`
  WITH ended AS (
    ${update("withheldPeriod", "v_open", { until: sql`greatest(${open.since}, ${at})` })}
    WHERE ${open.clientId} = ${clientId} AND (${schoolId}::uuid IS NULL OR ${open.schoolId} = ${schoolId})
      AND ${open.until} IS NULL AND NOT EXISTS (SELECT FROM ${item} WHERE ${isSame}))
  ${insert(
    "withheldPeriod",
    { clientId: item.clientId, schoolId: item.schoolId, item: item.item, reason: item.reason, since: item.since },
    sql`FROM ${item}
    WHERE ${item.clientId} = ${clientId} AND (${schoolId}::uuid IS NULL OR ${item.schoolId} = ${schoolId})
      AND NOT EXISTS (SELECT FROM ${open} WHERE ${isSame} AND ${open.until} IS NULL)`,
  )}
  ON CONFLICT (${columnNames("withheldPeriod", "clientId", "schoolId", "item", "reason", "since")})
  DO UPDATE SET ${columnNames("withheldPeriod", "until")} = NULL`,
  "access.recordWithheld",
);

/** Records what is withheld from now on; call it after each write of `withheld_item`. Null means all schools. */
export async function recordWithheld(tx: Queryable, recorded: Recorded): Promise<void> {
  await run(tx, record, recorded);
}
