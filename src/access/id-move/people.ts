import { withTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { lookUp, makeFindOne, makeRun, sql, table, update } from "../../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../../platform/database/sql.ts";
import { inSlot } from "../change.ts";
import { isCutOver } from "../pairwise.ts";
import type { ClientId } from "../token.ts";
import { isKnownSector, personIsSynced, userIsShown } from "../visibility.ts";

const p = table("person", "p");
const at = table("affiliation", "at");
const grantRow = table("grant", "given");
const signIn = table("signIn", "signed");
const e = table("appEvent", "e");

/** SQL condition: the app sees the person, soft-deleted or not. */
export const personIsSeen = (client: Value, personId: Value): Sql =>
  sql`EXISTS (SELECT FROM ${p} WHERE ${p.id} = ${personId} AND (${personIsSynced(client, p)} OR ${userIsShown(client, p)}))`;

/** The people of a school whom the app sees, soft-deleted or not. */
export const seenAtSchool = (client: Value, schoolId: Value): Sql => sql`
  SELECT ${at.personId} FROM ${at} WHERE ${at.schoolId} = ${schoolId} AND ${personIsSeen(client, at.personId)}`;

const count = makeFindOne<{ people: number }, { clientId: string }>()`
  SELECT count(*)::int AS people FROM (
    SELECT seen.person_id FROM ${grantRow} CROSS
      JOIN LATERAL (${({ clientId }) => seenAtSchool(clientId, grantRow.schoolId)}) AS seen
    WHERE ${grantRow.clientId} = ${"clientId"}
    UNION SELECT ${signIn.personId} FROM ${signIn} WHERE ${signIn.clientId} = ${"clientId"}
    UNION SELECT ${e.subjectId} FROM ${e} JOIN ${p} ON ${p.id} = ${e.subjectId}
    WHERE ${e.clientId} = ${"clientId"} AND ${e.type} = 'person') AS known`;

/** How many people the app ever saw: now, in the change feed or at a sign-in. A million take some ten seconds. */
export const countKnown = (db: PrismaDb, clientId: ClientId): Promise<number> =>
  inSlot(db, () =>
    withTransaction(db, async (tx) => {
      await tx.query("SET LOCAL statement_timeout = '60s'");
      return (await count(tx, { clientId })).people;
    }),
  );

const move = table("idMove", "moved");
const old = table("pairwiseId", "old");
const now = table("pairwiseId", "new");
const pairwiseId = table("pairwiseId", "asked");

const newSector = (client: Value): Sql =>
  sql`(SELECT ${move.newSector} FROM ${move} WHERE ${move.clientId} = ${client})`;

const fromMove = (client: Value): Sql => sql`${old}
  ${lookUp(
    "pairwiseId",
    "new",
    sql`${now.personId} = ${old.personId} AND ${now.recordId} = ${old.recordId} AND ${now.sector} = ${newSector(client)}`,
  )}
  WHERE ${isKnownSector(client, old.sector)} AND ${old.recordId} = ${old.personId} AND ${now.id} <> ${old.id}`;

const ofPerson = (client: Value, id: Value): Sql => sql`AND ${old.personId} = ANY (ARRAY(
  SELECT ${pairwiseId.personId} FROM ${pairwiseId} WHERE ${isKnownSector(client, pairwiseId.sector)} AND ${pairwiseId.id} = ${id}
  UNION ALL
  SELECT ${pairwiseId.personId} FROM ${pairwiseId} WHERE ${pairwiseId.sector} = ${newSector(client)} AND ${pairwiseId.id} = ${id}))`;

/**
 * FROM, binding `listed` (sector, person_id, old_id, new_id, new_sector, is_new): the people whose ids the app's move
 * changes. `id` limits it to the person with this old or new id. The sector is the same for all; with it a page starts
 * where an index says.
 */
export const fromIdChanges = (client: Value, id?: Value): Sql =>
  sql`(
  SELECT ${old.sector}, ${old.personId}, ${old.id} AS old_id, ${now.id} AS new_id, ${now.sector} AS new_sector,
    ${isCutOver(client)} AS is_new
  FROM ${fromMove(client)} ${id === undefined ? sql`` : ofPerson(client, id)}) AS listed`;

type Read = { clientId: ClientId; after: string | null; limit: number | null };

const noteRead = makeRun<Read>(
  ({ clientId, after, limit }) => sql`
  ${update("idMove", "moved", {
    readAt: sql`now()`,
    read: sql`CASE WHEN ${limit}::int IS NULL THEN ${move.people} ELSE ${move.read} + (
      SELECT count(*) FROM unnest(page.ids) AS id WHERE ${move.readUpTo} IS NULL OR id > ${move.readUpTo}) END`,
    readUpTo: sql`CASE WHEN ${limit}::int IS NULL THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff'
      ELSE greatest(${move.readUpTo}, page.ids[cardinality(page.ids)]) END`,
  })}
  FROM (SELECT ARRAY(
    SELECT ${old.id} FROM ${fromMove(clientId)}
      AND (${old.sector}, ${old.id}) > (${old.sector}, coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000'))
    ORDER BY ${old.id} LIMIT coalesce(${limit}::int, 0)) AS ids) AS page
  WHERE ${move.clientId} = ${clientId} AND ${move.state} IN ('RUNNING', 'CUT_OVER')`,
  "access.noteIdChangesRead",
);

/** Counts how much of the list the app has read, for its provider and operators. */
export const noteIdChangesRead = async (db: Queryable, read: Read): Promise<void> => void (await noteRead(db, read));
