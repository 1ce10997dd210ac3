import type { PersonId } from "../directory/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { columnNames, insert, makeFind, makeFindOne, makeRun, sql, table, update } from "../platform/database/sql.ts";
import type { Columns, Queryable, Sql, Value } from "../platform/database/sql.ts";
import type { ClientId, IdKind } from "./token.ts";

// An app with a sector knows people, and people at a school, by random ids of that sector. Each is made in the
// transaction whose event first announces the person to an app of the sector, or at a sign-in before that.

const app = table("app", "v_app");
const pair = table("pairwiseId", "v_pair");
const move = table("idMove", "v_move");
const a = table("affiliation", "v_at");
const of = table("person", "v_of");
const excluded = table("pairwiseId", "excluded");

const sectorOf = (client: Value): Sql => sql`(SELECT ${app.sector} FROM ${app} WHERE ${app.clientId} = ${client})`;

const pairOf = (sector: Sql, personId: Value, recordId: Value): Sql => sql`
  SELECT ${pair.id} FROM ${pair}
  WHERE ${pair.personId} = ${personId} AND ${pair.recordId} = ${recordId} AND ${pair.sector} = ${sector}`;

const key = columnNames("pairwiseId", "personId", "recordId", "sector");

/** `from` binds `new` with person_id and record_id. */
const insertIds = ({ sector, id, from }: { sector: Sql; id: Sql; from: Sql }): Sql =>
  insert("pairwiseId", { personId: sql`new.person_id`, recordId: sql`new.record_id`, sector, id }, sql`FROM ${from}`);

export const idKindOf = ({ sector }: Columns<"sector">): Sql =>
  sql`CASE WHEN ${sector} IS NULL THEN 'shared' ELSE 'own' END`;

type AppIds = {
  /** The id by which the app knows the person or, with `recordId`, their affiliation. */
  of(client: Value, personId: Value, recordId?: Value): Sql;
  /** The person or affiliation that the app knows by this id; null if it knows none. */
  recordOf(client: Value, id: Value): Sql;
  /** SELECT of app_id and person_id in the order of the app's ids, of people whom it may know; by an index. */
  inOrder(client: Value, condition: (id: Sql) => Sql): Sql;
};

/** For statements that are made for apps of one kind. */
export const appIds: Record<IdKind, AppIds> = {
  shared: {
    of: (_client, personId, recordId = personId) => sql`${recordId}`,
    recordOf: (_client, id) => sql`${id}`,
    inOrder: (_client, condition) => sql`
      SELECT ${of.id} AS app_id, ${of.id} AS person_id FROM ${of} WHERE ${condition(of.id)} ORDER BY ${of.id}`,
  },
  own: {
    of: (client, personId, recordId = personId) => sql`(${pairOf(sectorOf(client), personId, recordId)})`,
    recordOf: (client, id) => sql`(
      SELECT ${pair.recordId} FROM ${pair} WHERE ${pair.sector} = ${sectorOf(client)} AND ${pair.id} = ${id})`,
    inOrder: (client, condition) => sql`
      SELECT ${pair.id} AS app_id, ${pair.personId} AS person_id FROM ${pair}
      WHERE ${pair.sector} = ${sectorOf(client)} AND ${pair.recordId} = ${pair.personId} AND ${condition(pair.id)}
      ORDER BY ${pair.id}`,
  },
};

/** The id by which the app knows the person; null if it has ids of its own and none of them. */
export const appIdOf = (client: Value, personId: Value): Sql => sql`
  CASE WHEN ${sectorOf(client)} IS NULL THEN ${personId} ELSE ${appIds.own.of(client, personId)} END`;

/** The person or affiliation that the app knows by this id. */
export const recordOf = (client: Value, id: Value): Sql => sql`
  CASE WHEN ${sectorOf(client)} IS NULL THEN ${id}::uuid ELSE ${appIds.own.recordOf(client, id)} END`;

// Which sectors an app is to have ids in. During a move to ids of its own (id-move) there are two: in the old sector
// people who are known keep their ids, and others have the same id in both. After a move that was called off, new
// people get the shared id, as with any app with shared ids.
const target = {
  sector: sql`coalesce(${move.newSector}, ${app.sector})`,
  old: move.oldSector,
  keeps: sql`(${app.subjectType} = 'SHARED' AND (${move.state} IS NULL OR ${move.state} = 'PREPARING'))`,
};

const joinMove = sql`LEFT JOIN ${move} ON ${move.clientId} = ${app.clientId} AND ${move.state} IN ('PREPARING', 'RUNNING')`;

/** CTEs that make the ids that are missing. `made` has those of the sector that the app has, or will have. */
const makeIds = (people: Sql): Sql => sql`
  wanted AS MATERIALIZED (
    SELECT DISTINCT ${target.sector} AS sector, ${target.old} AS old_sector, ${target.keeps} AS keeps,
      of.person_id, record.id AS record_id
    FROM (${people}) AS of (client_id, person_id) JOIN ${app} ON ${app.clientId} = of.client_id ${joinMove}
    CROSS JOIN LATERAL (
      SELECT of.person_id UNION ALL SELECT ${a.id} FROM ${a} WHERE ${a.personId} = of.person_id) AS record (id)
    WHERE ${target.sector} IS NOT NULL
      AND NOT EXISTS (${pairOf(sql`coalesce(${target.old}, ${app.sector})`, sql`of.person_id`, sql`record.id`)})),
  made AS (
    ${insertIds({
      sector: sql`new.sector`,
      id: sql`CASE WHEN new.is_shared THEN new.record_id ELSE gen_random_uuid() END`,
      from: sql`(
        SELECT DISTINCT person_id, record_id, sector, keeps AND old_sector IS NULL AS is_shared FROM wanted) AS new`,
    })}
    ON CONFLICT (${key}) DO UPDATE SET ${columnNames("pairwiseId", "sector")} = ${excluded.sector}
    RETURNING ${columnNames("pairwiseId", "recordId", "sector", "id")}),
  made_old AS (
    ${insertIds({
      sector: sql`new.old_sector`,
      id: sql`CASE WHEN new.keeps THEN new.record_id ELSE made.id END`,
      from: sql`wanted AS new JOIN made ON made.record_id = new.record_id AND made.sector = new.sector
        WHERE new.old_sector IS NOT NULL`,
    })}
    ON CONFLICT (${key}) DO NOTHING)`;

/**
 * Adds `app_subject_id` and so on to events, and announces people who return during a move: CTEs to put before a
 * statement that reads its second result. It makes the ids that are missing.
 */
export const withAppIds = (events: Sql): { ctes: Sql; events: Sql } => ({
  ctes: sql`
  unnamed AS MATERIALIZED (${events}),
  ${makeIds(sql`SELECT client_id, subject_id FROM unnamed WHERE type = 'person' AND action <> 'delete'`)},
  returned AS (${takeUnannounced(sql`
    SELECT client_id, subject_id FROM unnamed WHERE type = 'person' AND action IN ('create', 'restore')`)}),
  named AS (
    SELECT unnamed.*, ${idIn(app.sector)} AS app_subject_id, ${idIn(move.newSector)} AS next_subject_id
    FROM unnamed JOIN ${app} ON ${app.clientId} = unnamed.client_id ${joinMove}
    LEFT JOIN made ON made.record_id = unnamed.subject_id AND made.sector = ${target.sector})`,
  events: sql`
  SELECT named.*, NULL::uuid AS old_subject_id FROM named
  UNION ALL
  SELECT client_id, type, subject_id, school_id, 'update', '{}', NULL, NULL, rank + 1, app_subject_id, next_subject_id,
    app_subject_id
  FROM named JOIN returned USING (client_id, subject_id) WHERE action IN ('create', 'restore')`,
});

// The statement does not see what it makes itself. The id of a person who no longer exists is known to no app.
const idIn = (sector: Sql): Sql => sql`
  CASE WHEN unnamed.type = 'person' AND ${sector} IS NOT NULL THEN coalesce(
    (${pairOf(sector, sql`unnamed.subject_id`, sql`unnamed.subject_id`)}), made.id, gen_random_uuid()) END`;

const takeUnannounced = (people: Sql): Sql => sql`
  ${update("pairwiseId", "v_pair", { isUnannounced: sql`NULL` })}
  FROM (${people}) AS of (client_id, subject_id)
  JOIN ${move} ON ${move.clientId} = of.client_id AND ${move.state} = 'RUNNING'
  WHERE ${pair.personId} = of.subject_id AND ${pair.recordId} = of.subject_id AND ${pair.sector} = ${move.oldSector}
    AND ${pair.isUnannounced}
  RETURNING of.client_id, of.subject_id`;

/**
 * The id by which the app now knows the subject of an event; null for a person whose id from before a move is no longer
 * stored.
 */
export function subjectNow(event: Columns<"clientId" | "type" | "subjectId" | "appSubjectId" | "nextSubjectId">): Sql {
  const { clientId, type, subjectId, appSubjectId, nextSubjectId } = event;
  const own = pairOf(sectorOf(clientId), subjectId, subjectId);
  return sql`CASE WHEN ${type} = 'person' AND ${isCutOver(clientId)} THEN coalesce((${own}), ${nextSubjectId}, ${appSubjectId})
    ELSE coalesce(${appSubjectId}, ${subjectId}) END`;
}

/** Whether a move of the app has replaced the ids of people that it knew before. */
export const isCutOver = (client: Value): Sql =>
  sql`EXISTS (SELECT FROM ${move} WHERE ${move.clientId} = ${client} AND ${move.state} = 'CUT_OVER')`;

type People = { clientId: ClientId; personIds: readonly PersonId[] };

const selectIds = makeFind<{ id: string | null }, People>("access.listAppIds")`
  SELECT ${({ clientId }) => appIdOf(clientId, sql`given.id`)} AS id FROM unnest(${"personIds"}::uuid[]) AS given (id)`;

/** The ids by which the app knows these people, without those whom it does not know. */
export async function listAppIds(db: Queryable, people: People): Promise<string[]> {
  return (await selectIds(db, people)).flatMap(({ id }) => id ?? []);
}

const p = table("person", "v_p");

// The lock waits for a deletion of the person, which would leave the new ids behind.
const makeIdsOf = makeRun<Known>("access.makeAppIds")`
  WITH held AS MATERIALIZED (SELECT ${p.id} FROM ${p} WHERE ${p.id} = ${"personId"} FOR KEY SHARE),
  ${({ clientId }) => makeIds(sql`SELECT ${clientId}::text, held.id FROM held`)} SELECT FROM made`;

type Known = { clientId: ClientId; personId: PersonId };

/** The id by which the app knows the person; made if there is none yet. Null for a person who does not exist. */
export async function findAppPersonId(db: Queryable, known: Known): Promise<string | null> {
  const find = async () => (await listAppIds(db, { clientId: known.clientId, personIds: [known.personId] }))[0];
  const present = await find();
  if (present !== undefined) return present;
  await makeIdsOf(db, known);
  return (await find()) ?? null;
}

const findPerson = makeFindOne<{ personId: PersonId | null }, { clientId: ClientId; id: string }>(
  "access.findPersonByAppId",
)`
  SELECT ${({ clientId, id }) => recordOf(clientId, id)} AS "personId"`;

/** Null if the app knows nobody by this id. */
export const findPersonByAppId = async (db: Queryable, known: { clientId: ClientId; id: string }) =>
  (await findPerson(db, known)).personId;

type AmongApps = { subjectType?: "PARTNER"; clientId?: { in: string[] } };

/** Whether an app has ids of the sector, or is being moved to it; with `among`, one of these apps. */
export const isSectorUsed = async ({ prisma }: RecordStore, sector: string, among: AmongApps = {}): Promise<boolean> =>
  (await prisma.app.count({ where: { ...among, sector } })) > 0 ||
  (await prisma.idMove.count({ where: { ...among, newSector: sector, state: { in: ["PREPARING", "RUNNING"] } } })) > 0;

/** Deletes the ids of sectors that have no app any more. */
export async function forgetIdsOfSectors(tx: Transaction, sectors: readonly string[]): Promise<void> {
  for (const sector of sectors)
    if (!(await isSectorUsed(tx, sector))) await tx.prisma.pairwiseId.deleteMany({ where: { sector } });
}
