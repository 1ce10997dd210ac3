import { recordAudit, type Origin } from "../events/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { columnNames, insert, makeRun, sql, table, type Queryable } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { keepClaims, readDisplayName, readText, type Claims } from "./claims.ts";
import type { AccountRefusal } from "./failures.ts";
import type { Account } from "./find-link.ts";
import type { ConnectionId, RefusalId } from "./ids.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import { mentionsOf, textsIn } from "./mentions.ts";
import { hashOf, openJson, sealJson } from "./sealed-json.ts";

export type Refusal = {
  id: RefusalId;
  connectionId: ConnectionId;
  code: AccountRefusal;
  firstAt: Date;
  lastAt: Date;
  tries: number;
  subject: string | null;
  /** The claim of the rule and its value; null where it was missing. */
  ruleClaim: string | null;
  ruleValue: string | null;
  /** What the provider calls the person. */
  displayName: string | null;
  matches: number;
};

type Details = Pick<Refusal, "subject" | "ruleClaim" | "ruleValue" | "displayName" | "matches"> & {
  issuer: string;
  claims: Claims;
};

export const refusalDays = 30;
/** The code of accounts that staff can accept as guests. */
export const waiting = "WAITS_FOR_STAFF" satisfies AccountRefusal;
const mostOfConnection = 500;

const refusal = table("upstreamRefusal", "refusal");
const purposeOf = (connectionId: string, subjectHash: Buffer): string =>
  `refusal:${connectionId}:${subjectHash.toString("hex")}`;

type New = {
  id: string;
  connectionId: ConnectionId;
  code: string;
  subjectHash: Buffer;
  details: Buffer;
  texts: string[];
  now: Date;
};

const write = makeRun<New>(
  ({ id, connectionId, code, subjectHash, details, texts, now }) => sql`
    ${insert("upstreamRefusal", {
      id,
      connectionId,
      code,
      subjectHash,
      details,
      firstAt: now,
      lastAt: now,
      tries: 1,
      mentions: mentionsOf(texts),
    })}
    ON CONFLICT (${columnNames("upstreamRefusal", "connectionId", "subjectHash", "code")})
    DO UPDATE SET details = excluded.details, mentions = excluded.mentions,
      last_at = greatest(upstream_refusal.last_at, excluded.last_at), tries = upstream_refusal.tries + 1`,
  "upstream.recordRefusal",
);

const deleteSurplus = makeRun<{ connectionId: ConnectionId }>("upstream.deleteSurplusRefusals")`
    DELETE FROM ${refusal} WHERE ${refusal.id} IN (
      SELECT ${refusal.id} FROM ${refusal}
      WHERE ${refusal.connectionId} = ${"connectionId"} AND ${refusal.code} <> 'WAITS_FOR_STAFF'
      ORDER BY ${refusal.lastAt} DESC OFFSET ${mostOfConnection})`;

export type Refused = {
  connection: Pick<ReadyConnection, "id" | "subjectClaim" | "ruleClaim">;
  account: Account;
  code: AccountRefusal;
  matches: number;
  value: string | null;
  now: Date;
};

/** Puts an account on the list of the school, which keeps the latest, and all that wait. */
export async function recordRefusal(db: Queryable, refused: Refused, keys: EncryptionKeys): Promise<void> {
  const { connection, account, code, matches, value, now } = refused;
  const { issuer, subject, claims } = account;
  const subjectHash = hashOf(keys, connection.id, issuer, subject);
  const details: Details = {
    issuer,
    // Null without the subject claim: a link by `sub` in its place would never be found.
    subject: readText(claims, connection.subjectClaim),
    claims: keepClaims(claims),
    displayName: readDisplayName(claims),
    ruleClaim: connection.ruleClaim,
    ruleValue: value,
    matches,
  };
  const sealed = sealJson(keys, purposeOf(connection.id, subjectHash), details);
  const { id: connectionId } = connection;
  const texts = textsIn(details);
  await write(db, { id: makeUuid(now), connectionId, code, subjectHash, details: sealed, texts, now });
  await deleteSurplus(db, { connectionId });
}

type Row = { connectionId: string; subjectHash: Uint8Array; details: Uint8Array };

/** Null if no key opens it. */
export const openDetails = (keys: EncryptionKeys, { connectionId, subjectHash, details }: Row): Details | null =>
  openJson<Details>(keys, purposeOf(connectionId, Buffer.from(subjectHash)), details);

/** Latest first; `after` is the last of the page before. */
export async function listRefusals(
  { prisma }: RecordStore,
  of: { connectionId: ConnectionId; code?: AccountRefusal | undefined; after?: RefusalId | undefined; limit: number },
  keys: EncryptionKeys,
): Promise<Refusal[]> {
  const { connectionId, code: only, after, limit } = of;
  const refusals = await prisma.upstreamRefusal.findMany({
    where: { connectionId, ...(only !== undefined && { code: only }) },
    orderBy: [{ lastAt: "desc" }, { id: "desc" }],
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return refusals.map((row) => {
    const { claims: _claims, issuer: _issuer, ...details } = openDetails(keys, row) ?? unreadable;
    const { id, code, firstAt, lastAt, tries } = row;
    return { id: id as RefusalId, connectionId, code: code as AccountRefusal, firstAt, lastAt, tries, ...details };
  });
}

const nothing = { subject: null, ruleClaim: null, ruleValue: null, displayName: null, matches: 0 };
const unreadable: Details = { ...nothing, issuer: "", claims: {} };

export const refusalNotFound = (): AppError =>
  new AppError("not_found", "upstream_refusal_not_found", "This refused sign-in is not on the list any more.");

/** Takes an account off the list, until it is refused again. Errors: not_found. */
export async function dismissRefusalIn(
  { prisma }: Transaction,
  { connectionId, id }: { connectionId: ConnectionId; id: RefusalId },
  origin: Origin,
): Promise<void> {
  const where = { id, connectionId };
  const refusal = await prisma.upstreamRefusal.findFirst({
    where,
    select: { code: true, connection: { select: { schoolId: true } } },
  });
  if (refusal === null) throw refusalNotFound();
  await prisma.upstreamRefusal.deleteMany({ where });
  const { code, connection } = refusal;
  await recordAudit(
    { prisma },
    { ...origin, action: "upstream_refusal_dismissed", schoolId: connection.schoolId, detail: { connectionId, code } },
  );
}
