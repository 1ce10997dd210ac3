import { addressesOf } from "./addresses.ts";
import { UpstreamError } from "./failures.ts";
import { profiles } from "./profiles.ts";
import { authorizationUrl, challengeOf, type Known } from "./provider.ts";
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
  const { to, browser, address, maxAge } = start;
  const secrets = drawSecrets();
  const trip = { ...secrets, scopes, to, maxAge };
  const now = deps.clock();
  const opened = { connectionId: connection.id, browser, address, purpose: purposeOf(start), trip, now };
  await openRoundTrip(deps.db, opened, deps.encryptionKeys);
  const { tenantClaim } = profiles[connection.profile];
  return authorizationUrl(connection, deps.callsTo(connection.id), {
    redirect_uri: addressesOf(deps.issuerUrl, connection.id).redirectUri,
    scope: scopes.join(" "),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await challengeOf(secrets.verifier),
    ...promptOf(start),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(start.loginHint !== undefined && { login_hint: start.loginHint }),
    ...(start.uiLocales !== undefined && { ui_locales: start.uiLocales }),
    // Only for the choice of accounts; the claim in the ID token is what counts.
    ...(tenantClaim === "hd" && connection.tenant !== null && { hd: connection.tenant }),
  });
}

function promptOf({ prompt, silent }: Start): { prompt?: string } {
  if (silent === true) return { prompt: "none" };
  return prompt === undefined ? {} : { prompt };
}
