import { importJWK, SignJWT } from "jose";
import { present } from "../../../platform/contract-types.ts";
import { makeGuardedSender } from "../../../platform/outbound/guarded-request.ts";
import { makeOwnSid } from "../session-id.ts";
import type { LogoutTokenClaims } from "../contract.ts";
import type { SigningKey } from "../keys/signing-keys.ts";
import type { LogoutNotice } from "../../../accounts/index.ts";

const timeoutMs = 10_000;
const tokenSeconds = 120;

/** Source: OpenID Connect Back-Channel Logout 1.0 section 2.4. */
export async function makeLogoutToken(
  notice: LogoutNotice,
  {
    issuerUrl,
    keys,
    sessionIds,
    now,
  }: { issuerUrl: string; keys: readonly SigningKey[]; sessionIds: Buffer; now: Date },
): Promise<string> {
  const key = keys.find(({ algorithm, state }) => algorithm === notice.algorithm && state === "ACTIVE");
  if (!key) throw new Error(`there is no signing key for ${notice.algorithm}`);
  const issuedAt = Math.floor(now.getTime() / 1000);
  const claims = present<LogoutTokenClaims>({
    iss: issuerUrl,
    aud: [notice.clientId],
    sub: notice.sub,
    sid: notice.hasOwnSid ? makeOwnSid(sessionIds, notice.sid, notice.clientId) : notice.sid,
    jti: notice.id,
    iat: issuedAt,
    exp: issuedAt + tokenSeconds,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  return new SignJWT(claims)
    .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ: "logout+jwt" })
    .sign(await importJWK(key.privateJwk, key.algorithm));
}

export type Sender = { send(uri: string, logoutToken: string): Promise<void>; close(): Promise<void> };

/** Follows no redirects; outside development it sends to public https addresses only. */
export function makeSender({ allowPrivateAddresses }: { allowPrivateAddresses: boolean }): Sender {
  const sender = makeGuardedSender({ allowPrivateAddresses, timeoutMs });
  return {
    async send(uri, logoutToken) {
      const body = new URLSearchParams({ logout_token: logoutToken }).toString();
      const { status } = await sender.post(new URL(uri), {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body,
      });
      if (status < 200 || status > 299) throw new Error(`the app answered ${status}`);
    },
    close: sender.close,
  };
}
