import { appendAppEvents, forgetEvents, sequenceEvents } from "../../events/index.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../../platform/database/db.ts";
import { findRows, insert, literal, makeFindOne, makeRun } from "../../platform/database/sql.ts";
import { sql, statement, table, update, type Sql, type Statement, type Value } from "../../platform/database/sql.ts";
import { isSectorUsed } from "../pairwise.ts";
import { schoolIsShown } from "../visibility.ts";
import { lockMove } from "./change.ts";
import { waitForWriters, type Held } from "./held.ts";
import { fromIdChanges, personIsSeen, seenAtSchool } from "./people.ts";

// Each step handles one batch at a time and continues after the last one. A step that is repeated changes nothing.

const p = table("person", "p");
const a = table("affiliation", "a");
const grantRow = table("grant", "given");
const signIn = table("signIn", "signed");
const e = table("appEvent", "e");
const old = table("pairwiseId", "old");
const next = table("pairwiseId", "next");
const pair = table("pairwiseId", "pair");
const app = table("app", "reading");
const move = table("idMove", "moved");

const firstId = "00000000-0000-0000-0000-000000000000";

type KeptIds = { clientId: string; oldSector: string; newSector: string; after: string | null; limit: number };
type Step = { size: number; statement: Statement<KeptIds> };

// The lock keeps the person from being deleted until the ids are there, which the deletion then finds.
const lockPeople = (people: Sql): Sql => sql`
  held AS MATERIALIZED (SELECT ${p.id} FROM ${p} WHERE ${p.id} IN (${people}) FOR KEY SHARE)`;

/** In the old sector, people who are known get the ids by which they are known. */
const keepIds = (oldSector: Value): Sql => sql`
  ${insert(
    "pairwiseId",
    { personId: sql`held.id`, recordId: sql`record.id`, sector: oldSector, id: sql`record.id` },
    sql`FROM held CROSS JOIN LATERAL (
      SELECT held.id UNION ALL SELECT ${a.id} FROM ${a} WHERE ${a.personId} = held.id) AS record (id)`,
  )} ON CONFLICT DO NOTHING`;

const keepStep = (
  name: string,
  size: number,
  read: (batch: Value, after: Value, limit: Value) => { rows: Sql; people: Sql; key: Sql },
): Step => ({
  size,
  statement: statement<KeptIds>(({ clientId, oldSector, after, limit }) => {
    const { rows, people, key } = read(clientId, after, limit);
    return sql`
    WITH batch AS MATERIALIZED (${rows}), ${lockPeople(people)}, kept AS (${keepIds(oldSector)})
    SELECT (SELECT ${key}::text FROM batch ORDER BY ${key} DESC LIMIT 1) AS last, (SELECT count(*)::int FROM batch) AS count`;
  }, `access.keep${name}`),
});

const steps: readonly Step[] = [
  keepStep("AtSchool", 1, (client, after, limit) => ({
    rows: sql`SELECT ${grantRow.schoolId} FROM ${grantRow}
      WHERE ${grantRow.clientId} = ${client} AND (${after}::uuid IS NULL OR ${grantRow.schoolId} > ${after}::uuid)
      ORDER BY ${grantRow.schoolId} LIMIT ${limit}`,
    people: sql`SELECT seen.person_id FROM batch CROSS JOIN LATERAL (${seenAtSchool(client, sql`batch.school_id`)}) AS seen`,
    key: sql`school_id`,
  })),
  keepStep("Users", 2000, (client, after, limit) => ({
    rows: sql`SELECT ${signIn.personId} FROM ${signIn}
      WHERE ${signIn.clientId} = ${client} AND (${after}::uuid IS NULL OR ${signIn.personId} > ${after}::uuid)
      ORDER BY ${signIn.personId} LIMIT ${limit}`,
    people: sql`SELECT person_id FROM batch`,
    key: sql`person_id`,
  })),
  keepStep("InFeed", 5000, (client, after, limit) => ({
    rows: sql`SELECT ${e.position}, ${e.type}, ${e.subjectId} FROM ${e}
      WHERE ${e.clientId} = ${client} AND ${e.position} > coalesce(${after}::bigint, 0)
      ORDER BY ${e.position} LIMIT ${limit}`,
    people: sql`SELECT subject_id FROM batch WHERE type = 'person'`,
    key: sql`position`,
  })),
  {
    size: 2000,
    statement: statement<KeptIds>(
      ({ oldSector, newSector, after, limit }) => sql`
      WITH batch AS MATERIALIZED (
        SELECT ${old.personId}, ${old.recordId}, ${old.id} FROM ${old}
        WHERE ${old.sector} = ${oldSector} AND (${after}::uuid IS NULL OR ${old.id} > ${after}::uuid)
        ORDER BY ${old.id} LIMIT ${limit}),
      ${lockPeople(sql`SELECT person_id FROM batch`)},
      made AS (${insert(
        "pairwiseId",
        {
          personId: sql`batch.person_id`,
          recordId: sql`batch.record_id`,
          sector: newSector,
          id: sql`gen_random_uuid()`,
        },
        sql`FROM batch JOIN held ON held.id = batch.person_id`,
      )} ON CONFLICT DO NOTHING)
      SELECT (SELECT id::text FROM batch ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*)::int FROM batch) AS count`,
      "access.makeNewIds",
    ),
  },
];

const flip = makeRun<{ clientId: string; now: Date }>("access.startReadingOwnIds")`
  WITH moved AS (
    UPDATE ${move} SET state = 'RUNNING', leased_until = NULL, people = (
      SELECT count(*) FROM ${old} WHERE ${old.sector} = ${move.oldSector} AND ${old.recordId} = ${old.personId})
    WHERE ${move.clientId} = ${"clientId"} AND ${move.state} = 'PREPARING'
      RETURNING ${move.clientId}, ${move.oldSector})
  UPDATE ${app} SET sector = moved.old_sector, updated_at = ${"now"} FROM moved
  WHERE ${app.clientId} = moved.client_id`;

/**
 * Gives ids to everybody whom the app ever saw, and then lets it read the old sector. Changes that began after the row
 * of the move was committed make the ids of the people whom they show, so nobody is missed.
 */
export async function prepare(db: Db, held: Held): Promise<void> {
  const { clientId, oldSector, newSector } = held.move;
  await waitForWriters(db, held);
  await sequenceEvents(db);
  for (const { size: limit, statement: step } of steps) {
    let after: string | null = null;
    for (let count = limit; count === limit;) {
      await held.renew();
      type Done = { last: string | null; count: number };
      const batch: KeptIds = { clientId, oldSector, newSector, after, limit };
      const [done]: Done[] = await findRows<Done, KeptIds>(db.pool, step, batch);
      ({ last: after, count } = done!);
    }
  }
  await flip(db.pool, { clientId, now: held.now });
}

const schoolOf = (clientId: Value) => sql`(
  SELECT ${a.schoolId} FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId}
  WHERE ${a.personId} = looked.person_id AND ${schoolIsShown(clientId, a.schoolId)}
  ORDER BY ${a.schoolId} <> ${p.homeSchoolId}, ${a.schoolId} LIMIT 1)`;

// People who return later are announced by the change that brings them back (pairwise.ts).
const announceSome = makeRun<{ clientId: string; now: Date; limit: number }>(({ clientId, now, limit }) => {
  const ctes = sql`
  looked AS MATERIALIZED (
    SELECT listed.*, ${personIsSeen(clientId, sql`listed.person_id`)} AS is_seen FROM (
      SELECT listed.* FROM ${fromIdChanges(clientId)}
      WHERE (listed.sector, listed.old_id) > (listed.sector, coalesce(
        (SELECT ${move.announcedUpTo} FROM ${move} WHERE ${move.clientId} = ${clientId}),
        ${literal(firstId)}))
      ORDER BY listed.old_id LIMIT ${limit}) AS listed),
  skipped AS (
    ${update("pairwiseId", "pair", { isUnannounced: sql`true` })} FROM looked
    WHERE NOT looked.is_seen AND ${pair.personId} = looked.person_id AND ${pair.recordId} = looked.person_id
      AND ${pair.sector} = looked.sector),
  passed AS (
    ${update("idMove", "moved", {
      announcedUpTo: sql`coalesce((SELECT old_id FROM looked ORDER BY old_id DESC LIMIT 1), ${move.announcedUpTo})`,
      passed: sql`${move.passed} + (SELECT count(*) FROM looked)`,
      isAnnounced: sql`(SELECT count(*) FROM looked) < ${limit}`,
    })} WHERE ${move.clientId} = ${clientId})`;
  const events = sql`
  SELECT ${clientId}::text AS client_id, 'person' AS type, looked.person_id AS subject_id, ${schoolOf(clientId)} AS school_id,
    'update' AS action, '{}'::text[] AS updated_properties, NULL AS reason, NULL::timestamptz AS reason_until, 0 AS rank,
    NULL::uuid AS erasure_id, looked.old_id AS app_subject_id, looked.new_id AS next_subject_id, looked.old_id AS old_subject_id
  FROM looked WHERE looked.is_seen`;
  return appendAppEvents({ ctes, events }, now, sql`NULL`);
}, "access.announceNewIds");

const announcedAtOnce = 1000;

/** Writes one event for each person whom the app sees, with the old and the new id. */
export async function announce(db: PrismaDb, held: Held): Promise<void> {
  await waitForWriters(db, held);
  const { clientId } = held.move;
  for (let isOver = false; !isOver;) {
    await held.renew();
    isOver = await withPrismaTransaction(db, async (tx) => {
      const locked = await lockMove(tx, clientId);
      if (locked?.state !== "RUNNING" || locked.isAnnounced) return true;
      await announceSome(tx, { clientId, now: held.now, limit: announcedAtOnce });
      return false;
    });
  }
}

type Deleted = { gone: number; last: string | null };

// `after` skips dead rows that vacuum has not removed yet.
const deleteSome = makeFindOne<Deleted, { sector: string; after: string; limit: number }>("access.forgetIdsOfSector")`
  WITH batch AS MATERIALIZED (
    SELECT ${next.personId}, ${next.recordId}, ${next.sector}, ${next.id} FROM ${next}
    WHERE ${next.sector} = ${"sector"} AND ${next.id} > ${"after"}::uuid ORDER BY ${next.id} LIMIT ${"limit"}),
  gone AS (
    DELETE FROM ${pair} USING batch
    WHERE ${pair.personId} = batch.person_id AND ${pair.recordId} = batch.record_id AND ${pair.sector} = batch.sector)
  SELECT count(*)::int AS gone, (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last FROM batch`;

const deletedAtOnce = 5000;

async function forgetSector({ pool }: PrismaDb, held: Held, sector: string): Promise<void> {
  let after = firstId;
  for (let count = deletedAtOnce; count === deletedAtOnce;) {
    await held.renew();
    const deleted: Deleted = await deleteSome(pool, { sector, after, limit: deletedAtOnce });
    count = deleted.gone;
    after = deleted.last ?? after;
  }
}

/** Deletes the ids from before the cut-over, when they have been kept long enough. */
export async function forgetOldIds(db: PrismaDb, held: Held): Promise<void> {
  const { clientId, oldSector } = held.move;
  await forgetSector(db, held, oldSector);
  await db.prisma.idMove.update({ where: { clientId }, data: { forgottenAt: held.now } });
}

const clearFlags = makeRun<{ sector: string }>()`
  UPDATE ${pair} SET is_unannounced = NULL WHERE ${pair.sector} = ${"sector"} AND ${pair.isUnannounced}`;

// If no person has an id of the app's own, all its ids are the shared ones.
const leaveSector = makeRun<{ clientId: string; sector: string; now: Date }>()`
  UPDATE ${app} SET sector = NULL, updated_at = ${"now"}
  WHERE ${app.clientId} = ${"clientId"} AND ${app.subjectType} = 'SHARED' AND ${app.sector} = ${"sector"}
    AND NOT EXISTS (SELECT FROM ${pair} WHERE ${pair.sector} = ${"sector"} AND ${pair.id} <> ${pair.recordId})`;

/** Deletes the new ids and announcements of a move that was called off, and the old ids if they are the shared ones. */
export async function undoMove(db: PrismaDb, held: Held): Promise<void> {
  const { clientId, oldSector, newSector } = held.move;
  await waitForWriters(db, held);
  await leaveSector(db.pool, { clientId, sector: oldSector, now: held.now });
  await clearFlags(db.pool, { sector: oldSector });
  await waitForWriters(db, held);
  await forgetEvents(db, { clientId, onlyNewIds: true });
  for (const sector of [oldSector, newSector])
    if (!(await isSectorUsed(db, sector))) await forgetSector(db, held, sector);
  await db.prisma.idMove.deleteMany({ where: { clientId, state: "CALLED_OFF" } });
}
