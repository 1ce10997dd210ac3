import type { PersonId } from "../directory/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { withPrismaTransaction, type PrismaDb, type RecordStore } from "../platform/database/db.ts";
import { takeToken } from "../platform/database/token-bucket.ts";
import { readText } from "./claims.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId, UpstreamSessionId } from "./ids.ts";
import type { JWTPayload } from "jose";
import { idTokenPurpose } from "./record-sign-in.ts";
import { hashOf, openJson } from "./sealed-json.ts";

type Named = { sub?: string; sid?: string };
type Ended = { connectionId: ConnectionId; personId?: PersonId } & Named;

/** From the commit on, what these sessions opened here is void; a job deletes it and tells the apps. */
export async function endSessionsIn({ prisma }: RecordStore, ended: Ended, at: Date): Promise<number> {
  const { sid, ...of } = ended;
  // Where ID tokens name no session, `sid` is stored as null, and all sessions of the account end.
  const ofSession = sid === undefined ? {} : of.sub === undefined ? { sid } : { OR: [{ sid }, { sid: null }] };
  const where = { ...of, ...ofSession, endedAt: null };
  const { count } = await prisma.upstreamSession.updateMany({ where, data: { endedAt: at } });
  return count;
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
/** A logout token is refused when it is older, so that its id needs no longer to be remembered. */
const rememberedSeconds = 900;

/** Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6. Errors: INVALID_RESPONSE. */
export function readLogoutToken(token: JWTPayload & { header: { typ?: string | undefined } }) {
  const { jti, events, nonce, header } = token;
  const [sub, sid] = [readText(token, "sub"), readText(token, "sid")];
  const refuse = (detail: string) => new UpstreamError("INVALID_RESPONSE", detail);
  if (!["logout+jwt", "jwt", undefined].includes(header.typ?.toLowerCase())) throw refuse("it is of another type");
  if (nonce !== undefined) throw refuse("it has a nonce");
  const event = typeof events === "object" && events !== null && (events as Record<string, unknown>)[logoutEvent];
  if (typeof event !== "object" || event === null) throw refuse("it is about another event");
  if (typeof jti !== "string" || jti === "") throw refuse("it has no id");
  const by: Named = { ...(sub !== null && { sub }), ...(sid !== null && { sid }) };
  if (Object.keys(by).length === 0) throw refuse("it names no session");
  return { jti, by };
}

/** Ends the sessions that a logout token names; false if the token was used before. */
export async function endByToken(
  db: PrismaDb,
  { connectionId, jti, by }: { connectionId: ConnectionId } & ReturnType<typeof readLogoutToken>,
  { keys, now }: { keys: EncryptionKeys; now: Date },
): Promise<boolean> {
  const used = { key: hashOf(keys, "logout token", connectionId, jti), capacity: 1, refillSeconds: rememberedSeconds };
  return withPrismaTransaction(db, async (tx) => {
    if ((await takeToken(tx, used, now)) !== null) return false;
    await endSessionsIn(tx, { connectionId, ...by }, now);
    return true;
  });
}

/**
 * The ID token of a session whose school wants it ended at the provider too; null otherwise, and once it has ended: its
 * connection may have another provider by then.
 */
export async function findIdToken({ prisma }: RecordStore, id: UpstreamSessionId, keys: EncryptionKeys) {
  const session = await prisma.upstreamSession.findUnique({
    where: { id, endedAt: null },
    select: { connectionId: true, idToken: true },
  });
  if (session === null || session.idToken === null) return null;
  const idToken = openJson<string>(keys, idTokenPurpose(id), session.idToken);
  return idToken === null ? null : { connectionId: session.connectionId as ConnectionId, idToken };
}
