import type { Claims } from "./claims.ts";
import { UpstreamError } from "./failures.ts";
import { profiles } from "./profiles.ts";
import { skewSeconds } from "./provider.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import type { RoundTrip, Wishes } from "./round-trip.ts";

type Profiled = Pick<ReadyConnection, "profile">;
type FreshnessWishes = Pick<Wishes, "prompt" | "maxAge">;

/** How long before the round trip the person may have signed in at the provider; undefined: at any time. */
const allowedAge = ({ prompt, maxAge }: FreshnessWishes): number | undefined => (prompt === "login" ? 0 : maxAge);

export const promptOf = ({ profile }: Profiled, { prompt }: FreshnessWishes): string | undefined =>
  prompt === undefined ? undefined : profiles[profile].promptForAnother;

/** Sent with `prompt=login` too: it makes the provider say when the person signed in, and a browser can remove both. */
export const maxAgeOf = ({ profile }: Profiled, request: FreshnessWishes): number | undefined =>
  request.maxAge ?? (profiles[profile].tellsAuthTime ? allowedAge(request) : undefined);

/** Errors: INVALID_RESPONSE for a sign-in that is older than what was asked for, or does not say when it was. */
export function refuseOldSignIn(connection: Profiled, idClaims: Claims, trip: RoundTrip, now: Date): void {
  const allowed = allowedAge(trip);
  if (allowed === undefined) return;
  const at = readAuthTime(idClaims);
  const startedAt = trip.startedAt ?? now.getTime() / 1000;
  const isOld = at === null ? maxAgeOf(connection, trip) !== undefined : at + allowed + skewSeconds < startedAt;
  if (isOld) throw new UpstreamError("INVALID_RESPONSE", "the person did not sign in again");
}

/** When the person signed in at the provider, in seconds since 1970. Of the ID token, whose library wants a number. */
export const readAuthTime = ({ auth_time: at }: Claims): number | null =>
  typeof at === "number" ? Math.floor(at) : null;
