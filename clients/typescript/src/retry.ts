import { NetworkError } from "./errors.ts";
import { readRetryAfter } from "./retry-after.ts";

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

/** The longest that `setTimeout` can wait. */
const longestTimerMs = 2 ** 31 - 1;

const idempotent: readonly string[] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"];
/** The POST that confirms an erasure does nothing the second time. */
const erasure = /\/idm\/ep\/v1\/erasures\/[^/]+$/;
export const isIdempotent = ({ method, url }: Request): boolean =>
  idempotent.includes(method) || (method === "POST" && erasure.test(new URL(url).pathname));

const retried: readonly number[] = [429, 502, 503, 504];

/**
 * Sends a request again if it may be repeated: after the time that `Retry-After` asks for, or after 1, 2, 4 … seconds.
 *
 * Errors: `NetworkError` if the last attempt got no answer; the reason of the request's signal.
 */
export function makeRetrying(send: Send, options: RetryOptions, mayRepeat: (request: Request) => boolean): Send {
  const { maxRetries = 4, maxWaitMs = 60_000, timeoutMs = 30_000 } = options;
  return async (request) => {
    const most = mayRepeat(request) ? maxRetries : 0;
    for (let retries = 0; ; retries++) {
      const attempt = await sendOnce(send, request.clone(), timeoutMs);
      const isFailed = attempt instanceof NetworkError;
      if (!isFailed && !retried.includes(attempt.status)) return attempt;
      const waitMs = (isFailed ? null : readRetryAfter(attempt.headers.get("retry-after"))) ?? 1000 * 2 ** retries;
      if (retries >= most || waitMs > maxWaitMs) {
        if (isFailed) throw attempt;
        return attempt;
      }
      await sleep(waitMs, request.signal);
    }
  };
}

const withoutBody: readonly number[] = [101, 204, 205, 304];

/** Reads the body too, so that a connection that breaks in it counts as no answer. */
async function sendOnce(send: Send, request: Request, timeoutMs: number): Promise<Response | NetworkError> {
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([request.signal, limit]);
  const read = async (): Promise<Response> => {
    const response = await send(new Request(request, { signal }));
    const body = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    return new Response(withoutBody.includes(status) ? null : body, { status, statusText, headers });
  };
  try {
    return await abortable(read(), signal);
  } catch (cause) {
    request.signal.throwIfAborted();
    const { origin } = new URL(request.url);
    if (limit.aborted) return new NetworkError("timed_out", `${origin} did not answer within ${timeoutMs} ms.`, cause);
    return new NetworkError("connection_failed", `${origin} cannot be reached: ${describe(cause)}.`, cause);
  }
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}

/** Waits; ends at once with the reason of the signal when it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return abortable(
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, longestTimerMs));
      signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    }),
    signal,
  );
}

/** The promise, or the reason of the signal if that is aborted first; the work behind the promise goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
