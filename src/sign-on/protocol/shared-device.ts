/** The context class of a session on a shared device; no token carries it. */
export const sharedDevice = "shared-device";

type Limits = { sessionSeconds: number; now: number };

const longestSeconds = 3600;

/** `loginTs` is earlier where the person signed in at the login of their school before. */
type Begun = { acr?: string | undefined; loginTs?: number | undefined; startedAt?: number | undefined };

/** On a shared device a session lives for an hour at most. Units: seconds; all times since 1970. */
export function secondsOfSession({ acr, loginTs = 0, startedAt = loginTs }: Begun, of: Limits): number {
  if (acr !== sharedDevice) return of.sessionSeconds;
  return Math.max(1, Math.min(of.sessionSeconds, startedAt + longestSeconds - of.now));
}
