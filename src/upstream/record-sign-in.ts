import { giveUserNames } from "../accounts/index.ts";
import type { PersonId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { columnNames, insert, makeFindOne, sql, table, update, type Queryable } from "../platform/database/sql.ts";
import { keepClaims } from "./claims.ts";
import { UpstreamError } from "./failures.ts";
import type { Account } from "./find-link.ts";
import type { UpstreamSessionId } from "./ids.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import type { PersonFacts } from "./roster.ts";
import { hashOf, sealJson } from "./sealed-json.ts";

export type Recent = { issuer: string; subject: string; claims: Account["claims"] };
const recentPlaces = 200;
export const recentPurpose = (connectionId: string, place: number): string => `recent:${connectionId}:${place}`;
export const idTokenPurpose = (sessionId: string): string => `id-token:${sessionId}`;

type Session = {
  id: UpstreamSessionId;
  sub: string;
  sid: string | null;
  /** Kept only for the logout at the provider. */
  idToken: string | null;
};

type Params = Omit<Session, "id" | "idToken"> &
  Pick<SignIn, "personId" | "now"> &
  Record<"connectionId" | "issuer" | "subject" | "sessionId", string> & {
    idToken: Buffer | null;
    checkAt: Date;
    place: number;
    claims: Buffer;
  };

const link = table("upstreamLink", "link");

const record = makeFindOne<{ opened: number }, Params>((params) => {
  const connectionId = sql`${params.connectionId}::uuid`;
  const personId = sql`${params.personId}::uuid`;
  const now = sql`${params.now}::timestamptz`;
  const session = {
    id: sql`${params.sessionId}::uuid`,
    connectionId,
    sub: sql`${params.sub}::text`,
    sid: sql`${params.sid}::text`,
    personId,
    idToken: sql`${params.idToken}::bytea`,
    createdAt: now,
    checkAt: sql`${params.checkAt}::timestamptz`,
  };
  const recent = {
    connectionId,
    place: sql`${params.place}::int`,
    personId,
    claims: sql`${params.claims}::bytea`,
    at: now,
  };
  return sql`
    WITH linked AS (
      ${update("upstreamLink", "link", { lastSignInAt: now })}
      WHERE ${link.connectionId} = ${connectionId} AND ${link.issuer} = ${params.issuer}
        AND ${link.subject} = ${params.subject} AND ${link.personId} = ${personId} RETURNING 1),
    opened AS (${insert("upstreamSession", session, sql`FROM linked`)} RETURNING 1),
    kept AS (${insert("upstreamRecentSignIn", recent, sql`FROM linked`)}
      ON CONFLICT (${columnNames("upstreamRecentSignIn", "connectionId", "place")}) DO UPDATE
      SET (${columnNames("upstreamRecentSignIn", "personId", "claims", "at")}) =
        (excluded.person_id, excluded.claims, excluded.at))
    SELECT count(*)::int AS opened FROM opened`;
}, "upstream.recordSignIn");

type SignIn = { connection: ReadyConnection; account: Account; personId: PersonId; session: Session; now: Date };

/** Starts the session of a linked person. Errors: EXPIRED if the link ended meanwhile. */
export async function recordSignIn(db: Queryable, signIn: SignIn, keys: EncryptionKeys): Promise<void> {
  const { connection, account, personId, session, now } = signIn;
  const { issuer, subject, claims } = account;
  const place = hashOf(keys, connection.id, issuer, subject).readUInt32BE() % recentPlaces;
  const recent: Recent = { issuer, subject, claims: keepClaims(claims) };
  const { opened } = await record(db, {
    connectionId: connection.id,
    issuer,
    subject,
    personId,
    now,
    sessionId: session.id,
    sub: session.sub,
    sid: session.sid,
    idToken: session.idToken === null ? null : sealJson(keys, idTokenPurpose(session.id), session.idToken),
    checkAt: addDays(now, 1),
    place,
    claims: sealJson(keys, recentPurpose(connection.id, place), recent),
  });
  if (opened !== 1) throw new UpstreamError("EXPIRED", "the link has ended");
}

/** Links the account to the person whom the rule named, and gives them a user name if they have none. */
export async function linkByRule(
  db: PrismaDb,
  linked: Omit<SignIn, "session" | "personId"> & { facts: PersonFacts; requestId: string | undefined },
): Promise<void> {
  const { connection, account, facts, now, requestId } = linked;
  const { id: connectionId, schoolId } = connection;
  const { personId } = facts;
  await withPrismaTransaction(db, async (tx) => {
    const { issuer, subject } = account;
    const row = { connectionId, issuer, subject, personId, linkedAt: now, linkedBy: "RULE" as const };
    const { count } = await tx.prisma.upstreamLink.createMany({ data: [row], skipDuplicates: true });
    // Checked after the link is inserted, because the insert waits for a change of these values that is under way.
    const same = { id: connectionId, issuer, tenant: connection.tenant, subjectClaim: connection.subjectClaim };
    if ((await tx.prisma.upstreamConnection.count({ where: same })) === 0)
      throw new UpstreamError("EXPIRED", "the connection has changed");
    // Another tab was faster; which person it was is found by `recordSignIn`.
    if (count === 0) return;
    if (facts.generation === null) await giveUserNames(tx, { schoolId, people: [personId] }, now);
    const detail = { connectionId, by: "rule" };
    await recordAudit(tx, { at: now, requestId, action: "upstream_linked", personId, schoolId, detail });
  });
}

export const newSessionId = (now: Date): UpstreamSessionId => makeUuid(now) as UpstreamSessionId;
