/** The context class of a session that was begun on a device which others use too. No token carries it. */
export const sharedDevice = "shared-device";

const longestSeconds = 3600;

type Begun = { acr?: string | undefined; loginTs?: number | undefined };

/**
 * How long a session lives from now on, without use.
 *
 * Shape: on a shared device not longer than an hour from its beginning, however much it is used.
 * Units: seconds; `now` and `loginTs` since 1970.
 */
export function secondsOfSession({ acr, loginTs = 0 }: Begun, of: { sessionSeconds: number; now: number }): number {
  if (acr !== sharedDevice) return of.sessionSeconds;
  return Math.max(1, Math.min(of.sessionSeconds, loginTs + longestSeconds - of.now));
}
