import { fields, makeFindOne, sql, table, type Sql } from "../platform/database/sql.ts";
import { isFirst } from "./queue.ts";

export type EndpointFigures = {
  attempts: number;
  succeeded: number;
  p50Ms: number | null;
  p95Ms: number | null;
  waitingSince: Date | null;
};

const mostDeliveries = 10_000;

const d = table("webhookDelivery", "d");
const w = table("webhookDelivery", "w");
const a = table("webhookAttempt", "a");
const answered = sql`${a.status} IS NOT NULL`;
const percentile = (part: Sql) =>
  sql`(percentile_disc(${part}) WITHIN GROUP (ORDER BY ${a.durationMs})
    FILTER (WHERE ${answered}))`;

export const findEndpointFigures = makeFindOne<EndpointFigures, { endpointId: string; since: Date }>(
  ({ endpointId, since }) => sql`
  SELECT ${fields<EndpointFigures>({
    attempts: sql`count(*)::int`,
    succeeded: sql`(count(*) FILTER (WHERE ${a.status} BETWEEN 200 AND 299))::int`,
    p50Ms: percentile(sql`0.5`),
    p95Ms: percentile(sql`0.95`),
    waitingSince: sql`(SELECT min(${w.createdAt}) FROM ${w} WHERE ${w.endpointId} = ${endpointId} AND ${isFirst(w)})`,
  })}
  FROM (
    SELECT ${d.id} FROM ${d} WHERE ${d.endpointId} = ${endpointId} ORDER BY ${d.id} DESC LIMIT ${mostDeliveries}
  ) newest JOIN ${a} ON ${a.deliveryId} = newest.id AND ${a.at} >= ${since}`,
);
