import { sequenceEvents } from "../../events/index.ts";
import type { Db } from "../../platform/database/db.ts";
import {
  findRows,
  insert,
  run,
  sql,
  statement,
  table,
  type Sql,
  type Statement,
  type Value,
} from "../../platform/database/sql.ts";
import { seenAtSchool } from "./known.ts";
import { waitForWriters } from "./writers.ts";
import type { Held } from "./job.ts";

// Each step handles a batch behind `after` and returns where it ended. A step that is done again changes nothing.

const p = table("person", "p");
const a = table("affiliation", "a");
const given = table("grant", "given");
const signIn = table("signIn", "signed");
const e = table("appEvent", "e");
const old = table("pairwiseId", "old");

type Batch = { clientId: string; oldSector: string; newSector: string; after: string | null; limit: number };
type Step = { size: number; statement: Statement<Batch> };

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
  statement: statement<Batch>(({ clientId, oldSector, after, limit }) => {
    const { rows, people, key } = read(clientId, after, limit);
    return sql`
    WITH batch AS MATERIALIZED (${rows}), ${lockPeople(people)}, kept AS (${keepIds(oldSector)})
    SELECT (SELECT ${key}::text FROM batch ORDER BY ${key} DESC LIMIT 1) AS last, (SELECT count(*)::int FROM batch) AS count`;
  }, `access.keep${name}`),
});

const steps: readonly Step[] = [
  keepStep("AtSchool", 1, (client, after, limit) => ({
    rows: sql`SELECT ${given.schoolId} FROM ${given}
      WHERE ${given.clientId} = ${client} AND (${after}::uuid IS NULL OR ${given.schoolId} > ${after}::uuid)
      ORDER BY ${given.schoolId} LIMIT ${limit}`,
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
    statement: statement<Batch>(
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

const app = table("app", "reading");
const move = table("idMove", "moved");

const flip = statement<{ clientId: string; now: Date }>(
  ({ clientId, now }) => sql`
  WITH moved AS (
    UPDATE ${move} SET state = 'RUNNING', leased_until = NULL, people = (
      SELECT count(*) FROM ${old} WHERE ${old.sector} = ${move.oldSector} AND ${old.recordId} = ${old.personId})
    WHERE ${move.clientId} = ${clientId} AND ${move.state} = 'PREPARING' RETURNING ${move.clientId}, ${move.oldSector})
  UPDATE ${app} SET sector = moved.old_sector, updated_at = ${now} FROM moved WHERE ${app.clientId} = moved.client_id`,
  "access.startReadingOwnIds",
);

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
      const batch: Batch = { clientId, oldSector, newSector, after, limit };
      const [done]: Done[] = await findRows<Done, Batch>(db.pool, step, batch);
      ({ last: after, count } = done!);
    }
  }
  await run(db.pool, flip, { clientId, now: held.now });
}
