export type Send = (request: Request) => Promise<Response>;
export type RetryOptions = {
    /**
     * How often a request is sent again that got no answer, or 429, 502, 503 or 504. Only requests that change nothing
     * when they are repeated are: by GET, HEAD, OPTIONS, PUT and DELETE, for a token, and to confirm an erasure.
     * Default 4.
     */
    maxRetries?: number | undefined;
    /** The longest wait before one retry, in milliseconds; what asks for more is not retried. Default 60,000. */
    maxWaitMs?: number | undefined;
    /** How long one attempt may take with its body, in milliseconds. Default 30,000. */
    timeoutMs?: number | undefined;
};
export declare const isIdempotent: ({ method, url }: Request) => boolean;
/**
 * Sends a request again if it may be repeated: after the time that `Retry-After` asks for, or after 1, 2, 4 … seconds.
 *
 * Errors: `NetworkError` if the last attempt got no answer; the reason of the request's signal.
 */
export declare function makeRetrying(send: Send, options: RetryOptions, mayRepeat: (request: Request) => boolean): Send;
/** Waits; ends at once with the reason of the signal when it is aborted. */
export declare function sleep(ms: number, signal: AbortSignal): Promise<void>;
/** The promise, or the reason of the signal if that is aborted first; the work behind the promise goes on. */
export declare function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T>;
