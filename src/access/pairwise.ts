import type { PersonId } from "../directory/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { columnNames, findRows, insert, run, sql, statement, table, type Queryable } from "../platform/database/sql.ts";
import type { Columns, Sql, Value } from "../platform/database/sql.ts";
import type { ClientId } from "./token.ts";

// An app with a sector knows people, and people at a school, by random ids of that sector. Each is made in the
// transaction whose event first announces the person to an app of the sector, or at a sign-in before that.

const app = table("app", "v_app");
const pair = table("pairwiseId", "v_pair");
const a = table("affiliation", "v_at");
const excluded = table("pairwiseId", "excluded");

const sectorOf = (client: Value): Sql => sql`(SELECT ${app.sector} FROM ${app} WHERE ${app.clientId} = ${client})`;

const pairOf = (sector: Sql, personId: Value, recordId: Value): Sql => sql`
  SELECT ${pair.id} FROM ${pair}
  WHERE ${pair.personId} = ${personId} AND ${pair.recordId} = ${recordId} AND ${pair.sector} = ${sector}`;

/** Whether an app knows people by the ids of this service or by its own. */
export type IdKind = "shared" | "own";

export const idKindOf = ({ sector }: Columns<"sector">): Sql =>
  sql`CASE WHEN ${sector} IS NULL THEN 'shared' ELSE 'own' END`;

export type AppIds = {
  /** The id by which the app knows the person or, with `recordId`, their affiliation. */
  of(client: Value, personId: Value, recordId?: Value): Sql;
  /** The person or affiliation that the app knows by this id; null if it knows none. */
  recordOf(client: Value, id: Value): Sql;
};

/** For statements that are made for apps of one kind. */
export const appIds: Record<IdKind, AppIds> = {
  shared: { of: (_client, personId, recordId = personId) => sql`${recordId}`, recordOf: (_client, id) => sql`${id}` },
  own: {
    of: (client, personId, recordId = personId) => sql`(${pairOf(sectorOf(client), personId, recordId)})`,
    recordOf: (client, id) => sql`(
      SELECT ${pair.recordId} FROM ${pair} WHERE ${pair.sector} = ${sectorOf(client)} AND ${pair.id} = ${id})`,
  },
};

/** The id by which the app knows the person; null if it has ids of its own and none of them. */
export const appIdOf = (client: Value, personId: Value): Sql => sql`
  CASE WHEN ${sectorOf(client)} IS NULL THEN ${personId} ELSE ${appIds.own.of(client, personId)} END`;

const recordOf = (client: Value, id: Value): Sql => sql`
  CASE WHEN ${sectorOf(client)} IS NULL THEN ${id}::uuid ELSE ${appIds.own.recordOf(client, id)} END`;

const makeIds = (people: Sql): Sql =>
  sql`${insert(
    "pairwiseId",
    {
      personId: sql`wanted.person_id`,
      recordId: sql`wanted.record_id`,
      sector: sql`wanted.sector`,
      id: sql`gen_random_uuid()`,
    },
    sql`FROM (
      SELECT DISTINCT ${app.sector}, of.person_id, record.id AS record_id
      FROM (${people}) AS of (client_id, person_id) JOIN ${app} ON ${app.clientId} = of.client_id
      CROSS JOIN LATERAL (
        SELECT of.person_id UNION ALL SELECT ${a.id} FROM ${a} WHERE ${a.personId} = of.person_id) AS record (id)
      WHERE ${app.sector} IS NOT NULL AND NOT EXISTS (${pairOf(app.sector, sql`of.person_id`, sql`record.id`)})
    ) AS wanted`,
  )}
  ON CONFLICT (${columnNames("pairwiseId", "personId", "recordId", "sector")})
  DO UPDATE SET ${columnNames("pairwiseId", "sector")} = ${excluded.sector}`;

/**
 * Adds `app_subject_id` to events: CTEs to put before a statement that reads its second result. It makes the ids that
 * are missing.
 */
export const withAppIds = (events: Sql): { ctes: Sql; events: Sql } => ({
  ctes: sql`
  unnamed AS MATERIALIZED (${events}),
  made AS (
    ${makeIds(sql`SELECT client_id, subject_id FROM unnamed WHERE type = 'person' AND action <> 'delete'`)}
    RETURNING ${columnNames("pairwiseId", "recordId", "sector", "id")})`,
  // The statement does not see what it makes itself. Nobody knows the id of a person who is not there any more.
  events: sql`
  SELECT unnamed.*, CASE WHEN unnamed.type = 'person' AND ${app.sector} IS NOT NULL THEN coalesce(
      (${pairOf(app.sector, sql`unnamed.subject_id`, sql`unnamed.subject_id`)}), made.id, gen_random_uuid()
    ) END AS app_subject_id
  FROM unnamed JOIN ${app} ON ${app.clientId} = unnamed.client_id
  LEFT JOIN made ON made.record_id = unnamed.subject_id AND made.sector = ${app.sector}`,
});

type People = { clientId: ClientId; personIds: readonly PersonId[] };

const selectIds = statement<People>(
  ({ clientId, personIds }) => sql`
  SELECT ${appIdOf(clientId, sql`given.id`)} AS id FROM unnest(${personIds}::uuid[]) AS given (id)`,
  "access.listAppIds",
);

/** The ids by which the app knows these people, without those whom it does not know. */
export async function listAppIds(db: Queryable, people: People): Promise<string[]> {
  const rows = await findRows<{ id: string | null }, People>(db, selectIds, people);
  return rows.flatMap(({ id }) => id ?? []);
}

const makeIdsOf = statement<Known>(
  ({ clientId, personId }) => makeIds(sql`SELECT ${clientId}::text, ${personId}::uuid`),
  "access.makeAppIds",
);

type Known = { clientId: ClientId; personId: PersonId };

/** The id by which the app knows the person; made if there is none yet. */
export async function findAppPersonId(db: Queryable, known: Known): Promise<string> {
  const find = () => listAppIds(db, { clientId: known.clientId, personIds: [known.personId] });
  const [found] = await find();
  if (found !== undefined) return found;
  await run(db, makeIdsOf, known);
  return (await find())[0]!;
}

const findPerson = statement<{ clientId: ClientId; id: string }>(
  ({ clientId, id }) => sql`SELECT ${recordOf(clientId, id)} AS "personId"`,
  "access.findPersonByAppId",
);

/** Null if the app knows nobody by this id. */
export async function findPersonByAppId(
  db: Queryable,
  known: { clientId: ClientId; id: string },
): Promise<PersonId | null> {
  const [row] = await findRows<{ personId: PersonId | null }, typeof known>(db, findPerson, known);
  return row!.personId;
}

/** Deletes the ids of a sector that has no app any more. */
export async function forgetIdsOfSector({ prisma }: Transaction, sector: string | null): Promise<void> {
  if (sector !== null && (await prisma.app.count({ where: { sector } })) === 0)
    await prisma.pairwiseId.deleteMany({ where: { sector } });
}
