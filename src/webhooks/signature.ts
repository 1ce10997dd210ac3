import { createHmac, createSecretKey, randomBytes, type KeyObject } from "node:crypto";
import { present } from "../platform/contract-types.ts";
import type { EventHeaders } from "./contract.ts";
import type { EventType } from "./payload.ts";

export type SigningSecret = { text: string; key: KeyObject };

const prefix = "whsec_";

export function makeSecretText(): string {
  return prefix + randomBytes(32).toString("base64");
}

export function readSecret(text: string): SigningSecret {
  return { text, key: createSecretKey(text.slice(prefix.length), "base64") };
}

/**
 * Makes the headers of an attempt. `secrets` are the valid ones, newest first: webhook-signature has one signature of
 * each; X-EP-Signature-Sha256 has room for the oldest only, which receivers know until a rotation's overlap ends.
 *
 * Source: openapi/webhooks.yaml; Standard Webhooks 1.0.
 */
export function makeHeaders(
  { messageId, eventType, isTest, body }: { messageId: string; eventType: string; isTest: boolean; body: string },
  secrets: readonly SigningSecret[],
  now: Date,
  traceparent: string | null = null,
): Record<string, string> {
  const oldest = secrets.at(-1);
  if (!oldest) throw new Error("the endpoint has no valid secret");
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signed = `${messageId}.${timestamp}.${body}`;
  const described = present<EventHeaders>({
    "X-EP-Event-Type": eventType as EventType,
    "X-EP-Signature-Sha256": createHmac("sha256", oldest.text).update(body).digest("hex"),
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets
      .map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`)
      .join(" "),
    "X-EP-Test": isTest ? "true" : undefined,
    traceparent: traceparent ?? undefined,
  });
  return { "Content-Type": "application/json", "User-Agent": "Schultor-Webhooks/1", ...described };
}
