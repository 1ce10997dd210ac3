import type { PersonId } from "../../../directory/index.ts";
import { type Bucket, takeToken } from "../../../platform/database/token-bucket.ts";
import { recordAtHome } from "../../../accounts/index.ts";
import { requestIdOf } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";
import { findRequest } from "../storage/request.ts";
import { hmac } from "../../../platform/crypto/hmac.ts";

// The cookie can be sent again and again, so one record per hour is enough.
function recordedOf({ secrets }: ProviderDeps, uid: string): Bucket {
  const key = hmac(secrets.signInTraces).update(`refused session\0${uid}`).digest();
  return { key, capacity: 1, refillSeconds: 3600 };
}

/** The request continues without the session of another browser. */
export async function noteRefusedSession(
  deps: ProviderDeps,
  ctx: { res: object },
  { uid, personId }: { uid: string; personId: string },
): Promise<void> {
  const { db, clock, log } = deps;
  const request = findRequest();
  if (request !== undefined) request.session = null;
  if ((await takeToken(db.pool, recordedOf(deps, uid), clock())) !== null) return;
  const requestId = requestIdOf(ctx);
  log.warn({ requestId }, "the session of another browser was refused");
  await recordAtHome(db, { at: clock(), action: "session_refused", personId: personId as PersonId, requestId });
}
