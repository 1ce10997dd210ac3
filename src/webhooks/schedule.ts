type Delay = { retrySeconds: readonly number[]; tries: number; retryAfter: string | null; now: Date; random: number };

const jitter = 0.2;

/**
 * Chooses when a failed delivery is tried again.
 *
 * Shape:  `tries` counts from 1; null means the schedule is spent.
 * Units:  schedule in seconds, jittered by a fifth either way with `random` from 0 to 1.
 * Source: openapi/webhooks.yaml; Retry-After, RFC 9110 section 10.2.3: it only lengthens, and up to twice the delay.
 */
export function chooseRetry({ retrySeconds, tries, retryAfter, now, random }: Delay): Date | null {
  const due = retrySeconds[tries - 1];
  if (due === undefined) return null;
  const delay = due * (1 + jitter * (2 * random - 1));
  const wished = readRetryAfter(retryAfter, now) ?? 0;
  return new Date(now.getTime() + 1000 * Math.max(delay, Math.min(wished, 2 * due)));
}

function readRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : (date - now.getTime()) / 1000;
}

const pauseSeconds = { least: 30, most: 1800 };

/** An endpoint that fails rests for as long as it has been failing, within bounds; then one event is tried. */
export function choosePauseEnd(failingSince: Date, now: Date): Date {
  const failed = (now.getTime() - failingSince.getTime()) / 1000;
  return new Date(now.getTime() + 1000 * Math.min(Math.max(failed, pauseSeconds.least), pauseSeconds.most));
}
