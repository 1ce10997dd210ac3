import type { Prisma } from "../../../generated/prisma/client.ts";
import { appIsSuspended } from "../../access/index.ts";
import { fields, makeFind, makeRun, pick, sql, table, update, asynchronous } from "../../platform/database/sql.ts";
import type { Part, Sql } from "../../platform/database/sql.ts";
import { isDue } from "../queue.ts";
import type { SealedSecret } from "../secret.ts";

type Stored = Pick<Prisma.WebhookEndpointModel, "id" | "clientId" | "url" | "state" | "failures" | "failingSince">;
export type LeasedEndpoint = Stored & { isResumable: boolean; secrets: SealedSecret[] };

type Holder = { holder: string; now: Date; until: Date };

const w = table("webhookEndpoint", "w");
const due = table("webhookEndpoint", "due");
const d = table("webhookDelivery", "d");
const s = table("webhookSecret", "s");

export const secretsAt = (now: Part) => sql`
  (SELECT coalesce(json_agg(json_build_object('id', ${s.id}, 'sealed', encode(${s.sealed}, 'base64'))
     ORDER BY ${s.createdAt} DESC, ${s.expiresAt} DESC NULLS FIRST), '[]')
   FROM ${s} WHERE ${s.endpointId} = ${w.id} AND (${s.expiresAt} IS NULL OR ${s.expiresAt} > ${now}))`;

/** SQL: webhooks of a suspended app wait as those of a paused endpoint do. */
export const workingState = (endpoint: typeof w): Sql =>
  sql`CASE WHEN ${appIsSuspended(endpoint.clientId)} THEN 'PAUSED' ELSE ${endpoint.state}::text END`;

const leasedFields = (now: Part) =>
  fields<LeasedEndpoint>({
    ...pick(w, "id", "clientId", "url", "failures", "failingSince"),
    state: workingState(w),
    isResumable: sql`coalesce(${w.resumeAt} <= ${now} OR ${w.tryNewAt} <= ${now}, false)`,
    secrets: secretsAt(now),
  });

export const lease = makeFind<LeasedEndpoint, Holder & { limit: number }>(({ holder, now, until, limit }) => {
  const canRetry = sql`(${due.state} = 'ACTIVE' OR ${due.resumeAt} <= ${now})`;
  const one = (fails: Sql) => sql`(
      SELECT FROM ${d} WHERE ${d.endpointId} = ${due.id} AND ${fails} AND ${isDue(d, now)} ORDER BY ${d.dueAt} LIMIT 1)`;
  return sql`
  ${update("webhookEndpoint", "w", { leasedBy: holder, leasedUntil: until })}
  WHERE ${w.id} IN (
    SELECT ${due.id} FROM ${due}
    CROSS JOIN LATERAL (
      ${one(sql`NOT ${d.subjectFails}`)} UNION ALL ${one(sql`${d.subjectFails} AND ${canRetry}`)} LIMIT 1) delivery
    WHERE ${due.listensUntil} IS NULL AND NOT ${appIsSuspended(due.clientId)} AND (${due.leasedUntil} IS NULL OR ${due.leasedUntil} <= ${now})
      AND (${canRetry} OR ${due.tryNewAt} <= ${now})
    LIMIT ${limit} FOR UPDATE OF due SKIP LOCKED)
    AND ${asynchronous}
  RETURNING ${leasedFields(now)}`;
}, "webhooks.lease");

export const renew = makeFind<LeasedEndpoint, Holder & { ids: readonly string[] }>(
  ({ holder, now, until, ids }) => sql`
  ${update("webhookEndpoint", "w", { leasedUntil: until })}
  WHERE ${w.leasedBy} = ${holder} AND ${w.id} = ANY (${ids}::uuid[]) AND ${asynchronous}
  RETURNING ${leasedFields(now)}`,
  "webhooks.renew",
);

export const release = makeRun<{ holder: string; ids: readonly string[] }>("webhooks.release")`
  ${update("webhookEndpoint", "w", { leasedBy: sql`NULL`, leasedUntil: sql`NULL` })}
  WHERE ${w.leasedBy} = ${"holder"} AND ${w.id} = ANY (${"ids"}::uuid[]) AND ${asynchronous}`;
