import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { dropPending } from "./drop.ts";
import { lockQueues } from "./queue.ts";

export type Reason = "asked_for" | "failing" | "gone";
export type EndpointState =
  | { state: "ACTIVE" }
  | { state: "PAUSED"; reason: "asked_for"; resumeAt: null }
  | { state: "PAUSED"; reason: "failing"; resumeAt: Date; tryNewAt: Date }
  | { state: "DISABLED"; reason: Reason };

const actions = {
  ACTIVE: "webhook_endpoint_resumed",
  PAUSED: "webhook_endpoint_paused",
  DISABLED: "webhook_endpoint_disabled",
} as const;

/** Does nothing if the endpoint was removed. Of a disabled one, drops a first batch; a job drops the rest. */
export async function setEndpointState(tx: Transaction, id: string, to: EndpointState, origin: Origin): Promise<void> {
  if (to.state === "DISABLED") await lockQueues(tx, "exclusive");
  const [endpoint] = await tx.prisma.webhookEndpoint.updateManyAndReturn({
    where: { id },
    data: {
      reason: null,
      resumeAt: null,
      tryNewAt: null,
      ...to,
      stateChangedAt: origin.at,
      updatedAt: origin.at,
      ...(to.state === "ACTIVE" && { failures: 0, failingSince: null }),
    },
    select: { clientId: true },
  });
  if (endpoint === undefined) return;
  if (to.state === "DISABLED") await dropPending(tx, id, origin.at);
  await recordAudit(tx, {
    ...origin,
    action: actions[to.state],
    clientId: endpoint.clientId,
    detail: { endpointId: id, ...("reason" in to && { reason: to.reason }) },
  });
}
