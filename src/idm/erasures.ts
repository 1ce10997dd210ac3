import { erasureAskedAt, type IdKind } from "../access/index.ts";
import { jsonCode, jsonObject, jsonWhen, type JsonSql } from "../platform/database/json-sql.ts";
import { sql, table, type Sql, type Value } from "../platform/database/sql.ts";
import { rfc3339 } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";

export type Erasure = components["schemas"]["Erasure"];

const e = table("erasure", "e");

// Exact times would tell apps with ids of their own which of their people are the same.
const time: Record<IdKind, (at: Sql) => Sql> = {
  shared: rfc3339,
  own: (at) => rfc3339(sql`date_trunc('minute', ${at})`),
};

export function erasure(ids: IdKind, waitDays: Value): JsonSql<Erasure> {
  const presented = (isKept: boolean) =>
    jsonObject<Erasure>()({
      id: jsonCode(e.id),
      personId: jsonCode(e.subjectId),
      cause: jsonCode<Erasure["cause"]>(e.cause),
      state: jsonCode<Erasure["state"]>(e.state),
      reason: isKept ? jsonCode<NonNullable<Erasure["reason"]>>(e.reason) : undefined,
      askedAt: jsonCode(time[ids](erasureAskedAt(e, waitDays))),
      acknowledgedAt: jsonWhen(sql`${e.acknowledgedAt} IS NOT NULL`, jsonCode(time[ids](e.acknowledgedAt))),
    });
  return sql`(CASE ${e.state} WHEN 'kept' THEN ${presented(true)} ELSE ${presented(false)} END)` as JsonSql<Erasure>;
}
