/*
 * webhooks: delivers events to the addresses that apps registered.
 *
 * Nouns:      endpoint (an app's address, its event types, secrets and state), listening endpoint (one without an
 *             address; the app fetches its deliveries), delivery (one event for one endpoint), queue (the pending
 *             deliveries of one subject for one endpoint), attempt (one request and its result), lease (a process's
 *             right to deliver to an endpoint), endpoint worker (its deliveries under way), dispatcher (the loop).
 * Invariants: every committed event is delivered at least once, under one webhook-id; deliveries of one subject never
 *             overlap; no endpoint waits for another; secrets are shown once and stored encrypted; addresses inside the
 *             network are never called.
 * Never knows: what a school, a person or a group is, who may see what, or why something changed.
 */
export {
  changeEndpointState,
  checkEndpoint,
  registerEndpointIn,
  removeDeliveries,
  removeEndpointIn,
  rotateEndpointSecretIn,
  updateEndpointIn,
} from "./endpoint.ts";
export {
  endpointNotFound,
  findEndpointFigures,
  getEndpointState,
  listEndpoints,
  lockEndpoint,
  readEndpoint,
  type Endpoint,
  type EndpointPosition,
} from "./find-endpoint.ts";
export { makeWebhooks, type WebhookSettings } from "./jobs.ts";
export {
  deliveryNotFound,
  getDelivery,
  listDeliveries,
  listDeliveriesOf,
  redeliverFailed,
  redeliverIn,
  sendTestEventIn,
} from "./log.ts";
export type { DeliveryOfSubject, Attempt, Delivery } from "./log.ts";
export { recordAttempts, type AttemptRules } from "./listener/attempts.ts";
export { makeListenerIn } from "./listener/endpoint.ts";
export { replayIn } from "./listener/replay.ts";
export { takeDeliveries, type SignedDelivery } from "./listener/take.ts";
export type { ListenerWaits } from "./listener/waits.ts";
export type { EventType } from "./payload.ts";
export { reEncryptWebhookSecrets, replaceLostSecrets, type ReplacedSecret } from "./secret.ts";
