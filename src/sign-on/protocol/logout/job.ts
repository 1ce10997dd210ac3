import { importJWK, SignJWT } from "jose";
import { present } from "../../../platform/contract-types.ts";
import { makeGuardedSender } from "../../../platform/outbound/guarded-request.ts";
import { makeOwnSid } from "../session.ts";
import type { LogoutTokenClaims } from "../contract.ts";
import type { SigningKey } from "../keys/signing-keys.ts";
import { deleteLogoutNotice, leaseLogoutNotices, postponeLogoutNotice } from "../../../accounts/index.ts";
import type { LogoutNotice } from "../../../accounts/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Log } from "../../../platform/telemetry/log.ts";
import { workInBatches } from "../../../platform/jobs/batches.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";

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

type Sender = { send(uri: string, logoutToken: string): Promise<void>; close(): Promise<void> };

/** Follows no redirects; outside development it sends to public https addresses only. */
export function makeSender({ allowPrivateAddresses }: { allowPrivateAddresses: boolean }): Sender {
  const sender = makeGuardedSender({ allowPrivateAddresses, timeoutMs });
  return {
    async send(uri, logoutToken) {
      const { status } = await sender.post(new URL(uri), {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ logout_token: logoutToken }).toString(),
      });
      if (status < 200 || status > 299) throw new Error(`the app answered ${status}`);
    },
    close: sender.close,
  };
}

type Deps = {
  db: Db;
  clock: Clock;
  log: Log;
  issuerUrl: string;
  sender: Sender;
  sessionIds: Buffer;
  signingKeys(): readonly SigningKey[];
};

const retryDelaysSeconds = [5, 60, 600, 3600];
const leaseSeconds = 60;
const atOnce = 20;

export function makeLogoutJob(deps: Deps): WorkerJob {
  return {
    name: "sign-on.tellLogouts",
    everySeconds: 1,
    async run(signal) {
      const deliverSome = async (limit: number) => {
        const notices = await leaseLogoutNotices(deps.db.pool, { now: deps.clock(), leaseSeconds, limit });
        await Promise.all(notices.map((notice) => deliver(deps, notice)));
        return notices.length;
      };
      await workInBatches(signal, deliverSome, atOnce);
    },
  };
}

async function deliver(deps: Deps, notice: LogoutNotice): Promise<void> {
  const { db, clock, log, sender, issuerUrl, sessionIds } = deps;
  try {
    await sender.send(
      notice.uri,
      await makeLogoutToken(notice, { issuerUrl, keys: deps.signingKeys(), sessionIds, now: clock() }),
    );
    await deleteLogoutNotice(db.pool, notice);
  } catch (err) {
    const delaySeconds = retryDelaysSeconds[notice.attempts - 1];
    log.warn(
      { err, clientId: notice.clientId, attempts: notice.attempts },
      delaySeconds === undefined
        ? "logout notice failed; no tries are left"
        : "logout notice failed; it will be sent again",
    );
    if (delaySeconds === undefined) await deleteLogoutNotice(db.pool, notice);
    else
      await postponeLogoutNotice(db.pool, { id: notice.id, until: new Date(clock().getTime() + delaySeconds * 1000) });
  }
}
