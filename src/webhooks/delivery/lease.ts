import type { Queryable } from "../../platform/db.ts";
import { isDue } from "../queue.ts";
import type { SealedSecret } from "../secret.ts";

/** An endpoint as whoever delivers to it needs it. */
export type LeasedEndpoint = {
  id: string;
  clientId: string;
  url: string;
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  isResumable: boolean;
  failures: number;
  failingSince: Date | null;
  /** The valid ones, the newest first. */
  secrets: SealedSecret[];
};

export type Holder = { holder: string; now: Date; until: Date };

/**
 * Lets this statement commit without waiting for the disk. After a crash of the database the last moments of bookkeeping may be
 * missing: then something is sent again, with the same webhook-id.
 */
export const unhurried = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL";

const returned = `
  RETURNING w.id, w.client_id AS "clientId", w.url, w.state::text, coalesce(w.resume_at <= $2, false) AS "isResumable", w.failures, w.failing_since AS "failingSince",
    (SELECT coalesce(json_agg(json_build_object('id', s.id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.created_at DESC, s.expires_at DESC NULLS FIRST), '[]')
     FROM webhook_secret s WHERE s.endpoint_id = w.id AND (s.expires_at IS NULL OR s.expires_at > $2)) AS secrets`;

const takeLeases = `
  UPDATE webhook_endpoint w SET leased_by = $1, leased_until = $3
  WHERE w.id IN (
    SELECT due.id FROM webhook_endpoint due
    CROSS JOIN LATERAL (SELECT FROM webhook_delivery d WHERE d.endpoint_id = due.id AND ${isDue("d", "$2")} ORDER BY d.due_at LIMIT 1) delivery
    WHERE (due.leased_until IS NULL OR due.leased_until <= $2) AND (due.state = 'ACTIVE' OR due.resume_at <= $2)
    LIMIT $4 FOR UPDATE OF due SKIP LOCKED)
    AND ${unhurried}
  ${returned}`;

const renewLeases = `
  UPDATE webhook_endpoint w SET leased_until = $3 WHERE w.leased_by = $1 AND w.id = ANY ($4::uuid[]) AND ${unhurried} ${returned}`;

/** Takes endpoints for which something is due: nobody else delivers to them until the lease is over, given back or renewed. */
export async function lease(db: Queryable, { holder, now, until }: Holder, limit: number): Promise<LeasedEndpoint[]> {
  const { rows } = await db.query<LeasedEndpoint>({
    name: "webhooks.lease",
    text: takeLeases,
    values: [holder, now, until, limit],
  });
  return rows;
}

/** Holds leases for longer; those that are missing in the answer are lost. */
export async function renew(
  db: Queryable,
  { holder, now, until }: Holder,
  ids: readonly string[],
): Promise<LeasedEndpoint[]> {
  const { rows } = await db.query<LeasedEndpoint>({
    name: "webhooks.renew",
    text: renewLeases,
    values: [holder, now, until, ids],
  });
  return rows;
}

const giveBack = `UPDATE webhook_endpoint SET leased_by = NULL, leased_until = NULL WHERE leased_by = $1 AND id = ANY ($2::uuid[]) AND ${unhurried}`;

export async function release(db: Queryable, holder: string, ids: readonly string[]): Promise<void> {
  await db.query({ name: "webhooks.release", text: giveBack, values: [holder, ids] });
}
