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
export declare class WebhookError extends Error {
    readonly name = "WebhookError";
    readonly code: WebhookErrorCode;
    constructor(code: WebhookErrorCode, message: string);
}
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
/**
 * Checks that a request comes from the service, and reads its event. Takes the body as it came, before anything parsed
 * it, and all secrets that are valid now: two while one is replaced. Compares in constant time.
 *
 * Errors: `WebhookError`; TypeError for a secret that is none.
 */
export declare function verifyWebhook(rawBody: Uint8Array | ArrayBuffer | string, headers: WebhookHeaders, secrets: string | readonly string[], options?: VerifyOptions): Promise<Webhook>;
