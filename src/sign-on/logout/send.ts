import { isIP } from "node:net";
import { importJWK, SignJWT } from "jose";
import { Agent, type Dispatcher, request } from "undici";
import type { SigningKey } from "../keys/signing-keys.ts";
import { isPublicAddress, lookupPublic } from "./address.ts";
import type { LogoutNotice } from "./notice.ts";

const timeoutMs = 5_000;
const tokenSeconds = 120;

/**
 * Makes the token that tells an app of a logout.
 *
 * Source: OpenID Connect Back-Channel Logout 1.0 section 2.4.
 */
export async function makeLogoutToken(notice: LogoutNotice, { issuerUrl, keys, now }: { issuerUrl: string; keys: readonly SigningKey[]; now: Date }): Promise<string> {
  const key = keys.find(({ algorithm, state }) => algorithm === notice.algorithm && state === "ACTIVE");
  if (!key) throw new Error(`there is no signing key for ${notice.algorithm}`);
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({ sid: notice.sid, events: { "http://schemas.openid.net/event/backchannel-logout": {} } })
    .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ: "logout+jwt" })
    .setIssuer(issuerUrl)
    .setAudience([notice.clientId])
    .setSubject(notice.personId)
    .setJti(notice.id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + tokenSeconds)
    .sign(await importJWK(key.privateJwk, key.algorithm));
}

export type Sender = { send(uri: string, logoutToken: string): Promise<void>; close(): Promise<void> };

/** Makes what posts logout tokens: no redirects, and outside development no plain http and no address inside the network. */
export function makeSender({ allowPrivateAddresses }: { allowPrivateAddresses: boolean }): Sender {
  const agent = new Agent({
    connect: { timeout: timeoutMs, ...(allowPrivateAddresses ? {} : { lookup: lookupPublic }) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async send(uri, logoutToken) {
      if (!allowPrivateAddresses) checkTarget(new URL(uri));
      checkAnswer(await post(agent, uri, logoutToken));
    },
    close: () => agent.close(),
  };
}

// A literal address is not looked up, so that the connection's own check does not see it.
function checkTarget({ protocol, hostname }: URL): void {
  if (protocol !== "https:") throw new Error("a logout is told over https only");
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw new Error("the address is not public");
}

async function post(dispatcher: Dispatcher, uri: string, logoutToken: string): Promise<Dispatcher.ResponseData> {
  return request(uri, {
    dispatcher,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ logout_token: logoutToken }).toString(),
    signal: AbortSignal.timeout(2 * timeoutMs),
  });
}

function checkAnswer(answer: Dispatcher.ResponseData): void {
  answer.body.destroy().on("error", () => {});
  if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`the app answered ${answer.statusCode}`);
}
