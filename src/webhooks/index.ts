/*
 * webhooks: delivers events to the addresses that apps registered.
 *
 * Nouns:      endpoint (an app's address, its event types, secrets and state), listening endpoint
 *             (one without an address, whose deliveries are fetched), delivery (one event for one endpoint, with the
 *             body that is sent), queue (what one subject has pending for one endpoint), attempt (one request
 *             and its result), lease (one process's right to deliver to an endpoint), endpoint worker (what that
 *             process has under way there), dispatcher (the loop that keeps them going).
 * Invariants: what is committed is delivered at least once and under one webhook-id; of one subject one delivery is
 *             under way at a time; no endpoint waits for another; secrets are shown once and kept sealed; no address
 *             inside the network is called.
 * Never knows: what a school, a person or a group is, who may see what, or why something changed.
 */
export {
  changeEndpointState,
  checkEndpoint,
  disableEndpoint,
  pauseEndpoint,
  registerEndpoint,
  registerEndpointIn,
  removeDeliveries,
  removeEndpoint,
  removeEndpointIn,
  resumeEndpoint,
  rotateEndpointSecret,
  rotateEndpointSecretIn,
  updateEndpoint,
  updateEndpointIn,
} from "./endpoint.ts";
export type { NewEndpoint } from "./endpoint.ts";
export { findEndpointFigures } from "./endpoint-figures.ts";
export type { EndpointFigures } from "./endpoint-figures.ts";
export {
  endpointNotFound,
  getEndpoint,
  getEndpointState,
  listEndpoints,
  lockEndpoint,
  readEndpoint,
} from "./find-endpoint.ts";
export type { Endpoint, EndpointPlace } from "./find-endpoint.ts";
export { makeWebhooks } from "./jobs.ts";
export type { WebhookDeps, WebhookSettings } from "./jobs.ts";
export {
  deliveryNotFound,
  getDelivery,
  listDeliveries,
  redeliver,
  redeliverFailed,
  redeliverIn,
  sendTestEvent,
  sendTestEventIn,
} from "./log.ts";
export type { Attempt, Delivery, DeliveryState } from "./log.ts";
export { listDeliveriesOf } from "./of-subject.ts";
export { recordAttempts } from "./listener/attempts.ts";
export type { AttemptRules } from "./listener/attempts.ts";
export { makeListenerIn } from "./listener/make.ts";
export { replayIn } from "./listener/replay.ts";
export { takeDeliveries } from "./listener/take.ts";
export type { Taken } from "./listener/take.ts";
export type { ListenerWaits } from "./listener/waits.ts";
export { eventTypes } from "./payload.ts";
export type { EventType } from "./payload.ts";
export { reEncryptWebhookSecrets, replaceLostSecrets } from "./secret.ts";
export type { ReplacedSecret } from "./secret.ts";
export { makeHeaders as makeSignatureHeaders, readSecret as readSigningSecret } from "./signature.ts";
