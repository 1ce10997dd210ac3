import { recordAudit, type Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { dropPending } from "./drop.ts";
import { lockQueues } from "./queue.ts";

export type Reason = "asked_for" | "failing" | "gone";
export type EndpointState =
  | { state: "ACTIVE" }
  | { state: "PAUSED"; reason: "asked_for" | "failing"; /** None when it was asked for. */ resumeAt: Date | null }
  | { state: "DISABLED"; reason: Reason };

const facts = {
  ACTIVE: "webhook_endpoint_resumed",
  PAUSED: "webhook_endpoint_paused",
  DISABLED: "webhook_endpoint_disabled",
};

/** Puts an endpoint into a state, with the audit line that tells its partner; what waits for a disabled one is given up, much of it soon after. */
export async function setEndpointState(tx: Queryable, id: string, to: EndpointState, origin: Origin): Promise<void> {
  const reason = "reason" in to ? to.reason : null;
  if (to.state === "DISABLED") await lockQueues(tx, "exclusive");
  const { rows } = await tx.query<{ clientId: string }>(
    `UPDATE webhook_endpoint SET state = $2::webhook_endpoint_state, reason = $3, resume_at = $4, state_changed_at = $5, updated_at = $5,
       failures = CASE WHEN $2 = 'ACTIVE' THEN 0 ELSE failures END, failing_since = CASE WHEN $2 = 'ACTIVE' THEN NULL ELSE failing_since END
     WHERE id = $1 RETURNING client_id AS "clientId"`,
    [id, to.state, reason, "resumeAt" in to ? to.resumeAt : null, origin.at],
  );
  if (!rows[0]) return;
  if (to.state === "DISABLED") await dropPending(tx, id, origin.at);
  await recordAudit(tx, {
    ...origin,
    action: facts[to.state],
    clientId: rows[0].clientId,
    detail: { endpointId: id, ...(reason !== null && { reason }) },
  });
}
