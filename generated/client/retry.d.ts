export type Send = (request: Request) => Promise<Response>;
export type RetryOptions = {
    /** How often a request is sent again that was answered with 429 or 503. Default 4. */
    maxRetries?: number | undefined;
    /** The longest wait before one retry, in milliseconds; what asks for more is not retried. Default 60,000. */
    maxWaitMs?: number | undefined;
};
/** Sends a request again that was answered with 429 or 503, after the time that `Retry-After` asks for. */
export declare function makeRetrying(send: Send, { maxRetries, maxWaitMs }: RetryOptions): Send;
/**
 * Reads a `Retry-After` header, which holds seconds or a date; null if it holds neither.
 *
 * Units: milliseconds from now, 0 for a date in the past.
 * Source: RFC 9110 section 10.2.3.
 */
export declare function readRetryAfter(value: string | null): number | null;
/** Waits; ends at once with the reason of the signal when it is aborted. */
export declare function sleep(ms: number, signal: AbortSignal): Promise<void>;
/** The promise, or the reason of the signal if that is aborted first; the work behind the promise goes on. */
export declare function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T>;
