import { giveUserNames } from "../accounts/index.ts";
import { auditChange, createPerson, findTextFault } from "../directory/index.ts";
import type { Change, PersonId, PersonName, SchoolId } from "../directory/index.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { makeFindOne, table } from "../platform/database/sql.ts";
import { takeToken } from "../platform/database/token-bucket.ts";
import { AppError } from "../platform/errors.ts";
import { readDisplayName, readText, type Claims } from "./claims.ts";
import { lockConnection } from "./connection.ts";
import type { ConnectionId, RefusalId } from "./ids.ts";
import { openDetails, recordRefusal, refusalNotFound, waiting, type Refused } from "./refusals.ts";
import { hashOf } from "./sealed-json.ts";

/** Accounts of a connection that can wait at a time, and how many can come at once and in an hour. */
const mostWaiting = 100;
const arrivals = { capacity: 30, refillSeconds: 3600 };

const refusal = table("upstreamRefusal", "refusal");
const link = table("upstreamLink", "link");

type Identity = { connectionId: ConnectionId; issuer: string; subject: string; subjectHash: Buffer };
type Waiting = { count: number; isKnown: boolean; isLinked: boolean };
const countWaiting = makeFindOne<Waiting, Identity>("upstream.countWaitingGuests")`
  SELECT count(*)::int AS count, coalesce(bool_or(${refusal.subjectHash} = ${"subjectHash"}), false) AS "isKnown",
    EXISTS (SELECT FROM ${link} WHERE ${link.connectionId} = ${"connectionId"} AND ${link.issuer} = ${"issuer"}
      AND ${link.subject} = ${"subject"}) AS "isLinked"
  FROM ${refusal} WHERE ${refusal.connectionId} = ${"connectionId"} AND ${refusal.code} = 'WAITS_FOR_STAFF'`;

/**
 * Lets an account that the roster does not know wait for the staff of the school. It is nobody until they accept it: no
 * person, so that no app, list or import knows of it. Returns false, and writes nothing, if too many wait or come, and
 * for an account that is linked, as to somebody who has left.
 */
export const letWait = (db: Db, refused: Omit<Refused, "code">, keys: EncryptionKeys): Promise<boolean> =>
  withTransaction(db, async (tx) => {
    const { connection, account, now } = refused;
    const { id: connectionId } = connection;
    // One at a time, so that the limits are exact.
    await lockConnection(tx, connectionId);
    const { issuer, subject } = account;
    const key = { connectionId, issuer, subject, subjectHash: hashOf(keys, connectionId, issuer, subject) };
    const { count, isKnown, isLinked } = await countWaiting(tx, key);
    if (isLinked) return false;
    const bucket = { key: hashOf(keys, "waiting guests", connectionId), ...arrivals };
    if (!isKnown && (count >= mostWaiting || (await takeToken(tx, bucket, now)) !== null)) return false;
    await recordRefusal(tx, { ...refused, code: waiting }, keys);
    return true;
  });

/**
 * Makes people without a class of accounts that wait, all of them or none. They can sign in from then on.
 *
 * Errors: not_found upstream_refusal_not_found; conflict upstream_link_exists.
 */
export async function acceptGuests(
  change: Change,
  { connectionId, refusalIds }: { connectionId: ConnectionId; refusalIds: readonly RefusalId[] },
  keys: EncryptionKeys,
): Promise<PersonId[]> {
  const { tx, now } = change;
  const { prisma } = tx;
  await lockConnection(tx, connectionId);
  const where = { id: { in: [...new Set(refusalIds)] }, connectionId, code: waiting };
  const rows = await prisma.upstreamRefusal.findMany({ where, include: { connection: true }, orderBy: { id: "asc" } });
  if (rows.length < where.id.in.length) throw refusalNotFound();
  const made: PersonId[] = [];
  for (const row of rows) {
    const details = openDetails(keys, row);
    const schoolId = row.connection.schoolId as SchoolId;
    if (details === null || details.subject === null || details.issuer !== row.connection.issuer)
      throw refusalNotFound();
    const { issuer, subject, claims } = details;
    const personId = await createPerson(change, { role: "OTHER", name: readName(claims), schools: [schoolId] });
    const link = { connectionId, issuer, subject, personId, linkedAt: now, linkedBy: "STAFF" as const };
    const { count } = await prisma.upstreamLink.createMany({ data: [link], skipDuplicates: true });
    if (count === 0) throw new AppError("conflict", "upstream_link_exists", "The account is linked already.");
    await giveUserNames(tx, { schoolId, people: [personId] }, now);
    await prisma.upstreamRefusal.deleteMany({ where: { connectionId, subjectHash: row.subjectHash } });
    await auditChange(change, { action: "upstream_guest_created", personId, schoolId, detail: { connectionId } });
    made.push(personId);
  }
  return made;
}

function readName(claims: Claims): PersonName | null {
  const whole = readDisplayName(claims)?.split(" ") ?? [];
  const first = readText(claims, "given_name") ?? whole.slice(0, -1).join(" ");
  const last = readText(claims, "family_name") ?? whole.at(-1) ?? "";
  const name = { firstFull: first, firstCall: first, last };
  return Object.values(name).every((part) => findTextFault(part) === null) ? name : null;
}
