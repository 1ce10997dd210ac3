import { schoolsOf, withheldItems, type ClientId, type ScopeName, type WithheldItem } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { arrayOf, columnNames, insert, makeFind, makeRun, sql, table } from "../../platform/database/sql.ts";
import type { Queryable, Sql } from "../../platform/database/sql.ts";

/** `withheld`: what the person's schools withhold from the app now. */
export type Decisions = { scopes: ScopeName[]; schoolId: SchoolId | null; withheld: WithheldItem[] | null };

export type Pair = { clientId: ClientId; personId: PersonId };

const consent = table("consent");
const choice = table("schoolChoice", "choice");

export const decisionsOf = (clientId: Sql, personId: Sql): Sql => sql`json_build_object(
  'scopes', coalesce((SELECT ${consent.scopes} FROM ${consent}
    WHERE ${consent.personId} = ${personId} AND ${consent.clientId} = ${clientId}), '{}'),
  'schoolId', (SELECT ${choice.schoolId} FROM ${choice}
    WHERE ${choice.personId} = ${personId} AND ${choice.clientId} = ${clientId}),
  'withheld', ${withheldItems(clientId, schoolsOf(personId))})`;

const findDecisions = makeFind<{ decisions: Decisions }, { clientIds: ClientId[]; personIds: PersonId[] }>(
  ({ clientIds, personIds }) => sql`
    SELECT ${decisionsOf(sql`asked.client_id`, sql`asked.person_id`)} AS decisions
    FROM unnest(${arrayOf(clientIds, "text")}, ${arrayOf(personIds, "uuid")})
      WITH ORDINALITY AS asked (client_id, person_id, place)
    ORDER BY asked.place`,
  "sign-on.listDecisions",
);

export async function listDecisions(db: Queryable, pairs: readonly Pair[]): Promise<Decisions[]> {
  const rows = await findDecisions(db, {
    clientIds: pairs.map(({ clientId }) => clientId),
    personIds: pairs.map(({ personId }) => personId),
  });
  return rows.map(({ decisions }) => decisions);
}

/** Adds to what was allowed before; a denial is not remembered. */
export async function rememberConsent(
  { prisma }: RecordStore,
  { clientId, personId, scopes, at }: Pair & { scopes: ScopeName[]; at: Date },
): Promise<void> {
  const where = { personId_clientId: { personId, clientId } };
  const before = await prisma.consent.findUnique({ where, select: { scopes: true } });
  await prisma.consent.upsert({
    where,
    create: { personId, clientId, scopes, grantedAt: at },
    // Appended in the database, because two browsers may ask the person at the same time.
    update: { grantedAt: at, scopes: { push: scopes.filter((scope) => !before?.scopes.includes(scope)) } },
  });
}

const at = table("affiliation", "at");

// Does not wait for a change that ends the person's time at the school; the person is then asked again.
export const rememberSchool = makeRun<Pair & { schoolId: SchoolId }>(
  (params) => sql`
    ${insert(
      "schoolChoice",
      { personId: at.personId, clientId: params.clientId, schoolId: at.schoolId },
      sql`FROM ${at} WHERE ${at.personId} = ${params.personId} AND ${at.schoolId} = ${params.schoolId}
          FOR KEY SHARE SKIP LOCKED`,
    )}
    ON CONFLICT (${columnNames("schoolChoice", "personId", "clientId")})
    DO UPDATE SET ${columnNames("schoolChoice", "schoolId")} = excluded.${columnNames("schoolChoice", "schoolId")}`,
);

const deleteChoice = makeRun<Pair>("sign-on.forgetSchool")`
  DELETE FROM ${choice} WHERE ${choice.personId} = ${"personId"} AND ${choice.clientId} = ${"clientId"}`;

/** The person is asked for a school again at the next sign-on. Returns whether one was chosen. */
export const forgetSchool = async (tx: Queryable, pair: Pair): Promise<boolean> => (await deleteChoice(tx, pair)) > 0;
