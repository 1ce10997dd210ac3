import { createHmac } from "node:crypto";

export type UnsignedEvent = { messageId: string; eventType: string; body: string };

/**
 * Makes the headers with which the service sends an event. `secrets` are the valid ones, the newest first:
 * webhook-signature has a signature with each, X-EP-Signature-Sha256 one with the oldest.
 *
 * Source: openapi/webhooks.yaml; Standard Webhooks 1.0.
 */
export function signEvent(
  { messageId, eventType, body }: UnsignedEvent,
  secrets: readonly string[],
  signedAt: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(signedAt.getTime() / 1000));
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    return `v1,${createHmac("sha256", key).update(`${messageId}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "Content-Type": "application/json",
    "User-Agent": "Schultor-Webhooks/1",
    "X-EP-Event-Type": eventType,
    "X-EP-Signature-Sha256": createHmac("sha256", secrets.at(-1)!).update(body).digest("hex"),
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}
