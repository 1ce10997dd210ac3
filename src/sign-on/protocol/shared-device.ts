/** The context class of a session on a shared device; no token carries it. */
export const sharedDevice = "shared-device";

const longestSeconds = 3600;

type Begun = { acr?: string | undefined; loginTs?: number | undefined };

/** On a shared device a session lives for an hour at most. Units: seconds; `now` and `loginTs` since 1970. */
export function secondsOfSession({ acr, loginTs = 0 }: Begun, of: { sessionSeconds: number; now: number }): number {
  if (acr !== sharedDevice) return of.sessionSeconds;
  return Math.max(1, Math.min(of.sessionSeconds, loginTs + longestSeconds - of.now));
}
