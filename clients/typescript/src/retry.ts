export type Send = (request: Request) => Promise<Response>;

export type RetryOptions = {
  /** How often a request is sent again that was answered with 429 or 503. Default 4. */
  maxRetries?: number | undefined;
  /** The longest wait before one retry, in milliseconds; what asks for more is not retried. Default 60,000. */
  maxWaitMs?: number | undefined;
};

/** The longest that `setTimeout` can wait. */
const longestTimerMs = 2 ** 31 - 1;

/** Sends a request again that was answered with 429 or 503, after the time that `Retry-After` asks for. */
export function makeRetrying(send: Send, { maxRetries = 4, maxWaitMs = 60_000 }: RetryOptions): Send {
  return async (request) => {
    for (let retries = 0; ; retries++) {
      const response = await send(request.clone());
      if (response.status !== 429 && response.status !== 503) return response;
      const waitMs = readRetryAfter(response.headers.get("retry-after")) ?? 1000 * 2 ** retries;
      if (retries >= maxRetries || waitMs > maxWaitMs) return response;
      await response.body?.cancel();
      await sleep(waitMs, request.signal);
    }
  };
}

/**
 * Reads a `Retry-After` header, which holds seconds or a date; null if it holds neither.
 *
 * Units: milliseconds from now, 0 for a date in the past.
 * Source: RFC 9110 section 10.2.3.
 */
export function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Za-z]+,? /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
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
