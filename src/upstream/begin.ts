import { addressesOf } from "./addresses.ts";
import { UpstreamError } from "./failures.ts";
import { profiles } from "./profiles.ts";
import { authorizationUrl, challengeOf, type Known } from "./provider.ts";
import { maxAgeOf, promptOf } from "./freshness.ts";
import type { ConnectionRow } from "./ready-connection.ts";
import { drawSecrets, openRoundTrip, type Purpose } from "./round-trip.ts";
import type { RoundTripDeps, Start } from "./upstream.ts";

export const purposeOf = ({ to, silent }: Pick<Start, "to" | "silent">): Purpose =>
  "test" in to ? "TEST" : silent === true ? "SILENT" : "SIGN_IN";

/** Only a set-up link may use a connection that is not on. Errors: CONNECTION_OFF. */
export async function refuseOff(
  { db, clock }: RoundTripDeps,
  { id, state }: ConnectionRow,
  { to, browser }: Pick<Start, "to" | "browser">,
  findLink: RoundTripDeps["findSetUpLink"],
): Promise<void> {
  if (!("test" in to)) {
    if (state !== "ON") throw new UpstreamError("CONNECTION_OFF");
    return;
  }
  const link = await findLink(db, { id: to.test, browser, at: clock() });
  if (link?.connectionId !== id) throw new UpstreamError("CONNECTION_OFF", "the set-up link is not open");
}

/** Remembers the browser and makes the address where it signs in. Errors: TOO_MANY. */
export async function goUpstream(
  deps: RoundTripDeps,
  { connection, start, scopes }: { connection: Known; start: Start; scopes: readonly string[] },
): Promise<URL> {
  const { connectionId, browser, address, silent, ...wishes } = start;
  const secrets = drawSecrets();
  const now = deps.clock();
  const trip = { ...secrets, ...wishes, scopes, startedAt: Math.floor(now.getTime() / 1000) };
  const opened = { connectionId, browser, address, purpose: purposeOf(start), trip, now };
  await openRoundTrip(deps.db, opened, deps.encryptionKeys);
  const { tenantClaim } = profiles[connection.profile];
  const prompt = silent === true ? "none" : promptOf(connection, wishes);
  const maxAge = maxAgeOf(connection, wishes);
  return authorizationUrl(connection, deps.callsTo(connection.id), {
    redirect_uri: addressesOf(deps.issuerUrl, connection.id).redirectUri,
    scope: scopes.join(" "),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await challengeOf(secrets.verifier),
    ...(prompt !== undefined && { prompt }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(wishes.loginHint !== undefined && { login_hint: wishes.loginHint }),
    ...(wishes.uiLocales !== undefined && { ui_locales: wishes.uiLocales }),
    // Only for the choice of accounts; the claim in the ID token is what counts.
    ...(tenantClaim === "hd" && connection.tenant !== null && { hd: connection.tenant }),
  });
}
