type Delay = { retrySeconds: readonly number[]; tries: number; retryAfter: string | null; now: Date; random: number };
type Tries = { attempts: number; attemptsSpent: number };
type Answer = { status: number; retryAfter?: string | null };
type Rules = { retrySeconds: readonly number[]; now: Date; random: () => number };

export function chooseOutcome({ attempts, attemptsSpent }: Tries, answer: Answer | null, rules: Rules) {
  if (answer !== null && answer.status >= 200 && answer.status <= 299)
    return { state: "DELIVERED", dueAt: null } as const;
  const { retrySeconds, now, random } = rules;
  const tries = attempts - attemptsSpent + 1;
  const dueAt = chooseRetry({ retrySeconds, tries, retryAfter: answer?.retryAfter ?? null, now, random: random() });
  return { state: dueAt === null ? "FAILED" : "PENDING", dueAt } as const;
}

const jitter = 0.2;

/**
 * Chooses when a failed delivery is tried again; null after the last try.
 *
 * Units:  retrySeconds with a jitter of a fifth either way; `random` is from 0 to 1, `tries` counts from 1.
 * Source: openapi/webhooks.yaml; RFC 9110 section 10.2.3. Retry-After may at most double the delay.
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

/** When a subject that has not failed is tried: after each further one that fails, twice as long. */
export function chooseNextNew(failedInPause: number, now: Date): Date {
  return new Date(now.getTime() + 1000 * Math.min(pauseSeconds.least * 2 ** failedInPause, pauseSeconds.most));
}

/** A failing endpoint pauses for as long as it has been failing, within bounds. */
export function choosePauseEnd(failingSince: Date, now: Date): Date {
  const failed = (now.getTime() - failingSince.getTime()) / 1000;
  return new Date(now.getTime() + 1000 * Math.min(Math.max(failed, pauseSeconds.least), pauseSeconds.most));
}
