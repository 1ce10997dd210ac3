import type { WebhookEvent } from "./contract.ts";

export type VerifyOptions = {
  /** How far the time of the signature may be from the clock, in seconds. Default 300. */
  toleranceSeconds?: number | undefined;
  now?: Date | undefined;
  /**
   * Which signature to check. `hex` is that of `X-EP-Signature-Sha256`, which has no time: whoever recorded a request
   * can send it again. Default `standard`.
   */
  signature?: "standard" | "hex" | undefined;
};

/** A request of the service that is genuine. */
export type Webhook = {
  /** The same over all attempts of the event. */
  id: string;
  /** A test that somebody asked for; it tells of no change. */
  isTest: boolean;
  event: WebhookEvent;
};

export type WebhookErrorCode = "missing_header" | "wrong_time" | "wrong_signature" | "unknown_event";

/** The request is not genuine, or tells of something that this version does not know (`unknown_event`). */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: WebhookErrorCode;
  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

type Bytes = Uint8Array<ArrayBuffer>;
type Signed = { key: Bytes; signatures: Bytes[]; content: Bytes };

const encoder = new TextEncoder();

/**
 * Checks that a request comes from the service, and reads its event. Takes the body as it came, before anything parsed
 * it, and all secrets that are valid now: two while one is replaced. Compares in constant time.
 *
 * Errors: `WebhookError`; TypeError for a secret that is none.
 */
export async function verifyWebhook(
  rawBody: Uint8Array | ArrayBuffer | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Webhook> {
  const body = typeof rawBody === "string" ? encoder.encode(rawBody) : new Uint8Array(rawBody);
  const read = (name: string): string => readHeader(headers, name);
  const all = typeof secrets === "string" ? [secrets] : secrets;
  const sign = options.signature === "hex" ? signedAsHex : signedAsStandard;
  const parts = sign({ body, read, options });
  const checks = await Promise.all(all.map((secret) => isSigned({ ...parts, key: parts.keyOf(secret) })));
  if (!checks.includes(true)) throw new WebhookError("wrong_signature", "No secret fits the signature.");
  return {
    id: read("webhook-id"),
    isTest: findHeader(headers, "x-ep-test") === "true",
    event: readEvent(new TextDecoder().decode(body)),
  };
}

type Parts = Omit<Signed, "key"> & { keyOf(secret: string): Bytes };
type Given = { body: Bytes; read(name: string): string; options: VerifyOptions };

/** Its key is the secret as it was shown, as text. */
function signedAsHex({ body, read }: Given): Parts {
  const pairs = /^(?:[0-9a-f]{2}){32}$/i.exec(read("x-ep-signature-sha256"))?.[0].match(/../g) ?? [];
  return {
    keyOf: (secret) => encoder.encode(secret),
    signatures: pairs.length === 0 ? [] : [Uint8Array.from(pairs, (pair) => parseInt(pair, 16))],
    content: body,
  };
}

/** Its key is what the base64 behind `whsec_` stands for. Source: standardwebhooks.com. */
function signedAsStandard({ body, read, options: { toleranceSeconds = 300, now = new Date() } }: Given): Parts {
  const [id, time] = [read("webhook-id"), read("webhook-timestamp")];
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds)
    throw new WebhookError("wrong_time", "The time of the signature is too far from now.");
  const prefix = encoder.encode(`${id}.${time}.`);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  const given = read("webhook-signature").split(" ");
  return {
    keyOf: (secret) => {
      const key = decodeBase64(secret.replace(/^whsec_/, ""));
      if (key === null || key.length === 0) throw new TypeError("A secret is whsec_ and base64.");
      return key;
    },
    signatures: given.flatMap((one) => (one.startsWith("v1,") ? (decodeBase64(one.slice(3)) ?? []) : [])),
    content,
  };
}

async function isSigned({ key, signatures, content }: Signed): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);
  const checks = await Promise.all(signatures.map((one) => crypto.subtle.verify("HMAC", imported, one, content)));
  return checks.includes(true);
}

function decodeBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function findHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name);
  if (value === undefined) throw new WebhookError("missing_header", `The header ${name} is missing.`);
  return value;
}

const idOf = { person: "personId", group: "groupId", school: "schoolId" } as const;

function readEvent(text: string): WebhookEvent {
  const body = parse(text) as Partial<Record<string, unknown>> | null;
  const name = body?.["event"];
  const isKnown = typeof name === "string" && Object.hasOwn(idOf, name);
  if (!isKnown || typeof body?.[idOf[name as keyof typeof idOf]] !== "string")
    throw new WebhookError("unknown_event", "The body is no event of a person, a group or a school.");
  return body as unknown as WebhookEvent;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
