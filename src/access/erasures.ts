import type { ForgetPerson, PersonId } from "../directory/index.ts";
import { columnNames, insert, makeRun, sql, table } from "../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../platform/database/sql.ts";
import { appIdOf } from "./pairwise.ts";
import { schoolsOfPerson } from "./visibility.ts";

// Apps that confirm erasures are asked in the transaction in which a person is deleted or leaves what they see. Someone
// who only left may come back: the app is asked after the restore window, and not at all if it sees them again.

const e = table("erasure", "v_erasure");
const excluded = table("erasure", "excluded");
const app = table("app", "v_asked");
const school = table("school", "v_school");
const p = table("person", "v_person");
const signIn = table("signIn", "v_sign_in");
const pair = table("pairwiseId", "v_pair");
const period = table("disclosurePeriod", "v_period");

const keepOne = sql`
  ON CONFLICT (${columnNames("erasure", "clientId", "subjectId")})
  DO UPDATE SET ${columnNames("erasure", "cause")} = ${excluded.cause},
    ${columnNames("erasure", "since")} = ${excluded.since}
  WHERE ${table("erasure").state} = 'open'`;

/**
 * Adds `erasure_id` to events whose person is deleted: CTEs to put before a statement that reads its second result. It
 * requests the erasure of people who were deleted or became invisible to the app, and withdraws the request for people
 * whom the app sees again.
 */
export const withErasures = (named: { ctes: Sql; events: Sql }, now: Value): { ctes: Sql; events: Sql } => {
  const subject = sql`coalesce(identified.app_subject_id, identified.subject_id)`;
  const present = (clientId: Sql) =>
    sql`SELECT ${e.id}, ${e.schoolId} FROM ${e} WHERE ${e.clientId} = ${clientId} AND ${e.subjectId} = ${subject}`;
  return {
    ctes: sql`${named.ctes},
  identified AS MATERIALIZED (${named.events}),
  seen_again AS (
    DELETE FROM ${e} WHERE ${e.id} IN (
      SELECT was.id FROM identified CROSS JOIN LATERAL (${present(sql`identified.client_id`)} LIMIT 1) AS was
      WHERE identified.type = 'person' AND identified.action = 'create')),
  asked AS (
    ${insert(
      "erasure",
      {
        id: sql`gen_random_uuid()`,
        clientId: app.clientId,
        subjectId: subject,
        schoolId: school.id,
        cause: sql`identified.reason::erasure_cause`,
        since: now,
      },
      sql`FROM identified JOIN ${app} ON ${app.clientId} = identified.client_id AND ${app.confirmsErasures}
      LEFT JOIN LATERAL (${present(app.clientId)} LIMIT 1) AS was ON true
      JOIN ${school} ON ${school.id} = coalesce(was.school_id, identified.school_id)
      WHERE identified.type = 'person' AND identified.action = 'delete' AND identified.updated_properties = '{}'`,
    )}
    ${keepOne}
    RETURNING ${columnNames("erasure", "id", "clientId", "subjectId", "cause")})`,
    events: sql`
  SELECT identified.*, asked.id AS erasure_id
  FROM identified LEFT JOIN asked ON asked.client_id = identified.client_id AND asked.subject_id = ${subject}
    AND asked.cause = 'deleted' AND identified.type = 'person'`,
  };
};

// An app of a sector knows the person if the sector has an id of them; another one signed them in, sees them now
// (`withErasures`), or could read them since the history began.
const askKnown = makeRun<{ personId: PersonId; at: Date }>(
  ({ personId, at }) => sql`
  ${insert(
    "erasure",
    {
      id: sql`gen_random_uuid()`,
      clientId: sql`known.client_id`,
      subjectId: sql`known.subject_id`,
      schoolId: sql`coalesce(
        (SELECT v_of.id FROM (${schoolsOfPerson(sql`known.client_id`, personId)}) AS v_of (id)
          ORDER BY v_of.id <> known.home_school_id, v_of.id LIMIT 1),
        known.home_school_id)`,
      cause: sql`'deleted'::erasure_cause`,
      since: at,
    },
    sql`FROM (
      SELECT ${app.clientId}, ${p.homeSchoolId}, ${appIdOf(app.clientId, personId)} AS subject_id
      FROM ${app} JOIN ${p} ON ${p.id} = ${personId}
      WHERE ${app.confirmsErasures} AND (
        EXISTS (SELECT FROM ${signIn} WHERE ${signIn.clientId} = ${app.clientId} AND ${signIn.personId} = ${personId})
        OR EXISTS (SELECT FROM ${pair} WHERE ${pair.personId} = ${personId} AND ${pair.recordId} = ${personId}
          AND ${pair.sector} = ${app.sector})
        OR EXISTS (SELECT FROM ${period} WHERE ${period.personId} = ${personId} AND ${period.clientId} = ${app.clientId})
        OR EXISTS (SELECT FROM ${e} WHERE ${e.clientId} = ${app.clientId} AND ${e.subjectId} = ${personId}))
    ) AS known WHERE known.subject_id IS NOT NULL`,
  )}
  ${keepOne}`,
  "access.askKnown",
);

/** Part of deleting a person for good: asks the apps that knew them, before the rows that say so are deleted. */
export const askingApps =
  (forget: ForgetPerson): ForgetPerson =>
  async (tx, personId, at) => {
    await askKnown(tx, { personId, at });
    await forget(tx, personId, at);
  };

type Sectors = { clientId: string; oldSector: string; newSector: string };

const next = table("pairwiseId", "v_next");
/** For an app that reads the ids of a new sector from now on. People who were deleted keep the id that it knew. */
export const renameErasures = makeRun<Sectors>("access.renameErasures")`
  UPDATE ${e} SET subject_id = ${next.id} FROM ${pair} JOIN ${next}
    ON ${next.personId} = ${pair.personId} AND ${next.recordId} = ${pair.recordId} AND ${next.sector} = ${"newSector"}
  WHERE ${e.clientId} = ${"clientId"} AND ${e.state} = 'open'
    AND ${pair.sector} = ${"oldSector"} AND ${pair.id} = ${e.subjectId}`;

const takeBack = makeRun<{ clientIds: string[]; personIds: string[] }>("access.takeBackErasures")`
  DELETE FROM ${e} USING unnest(${"clientIds"}::text[], ${"personIds"}::uuid[]) AS of (client_id, person_id)
  WHERE ${e.clientId} = of.client_id AND ${e.subjectId} = ${appIdOf(sql`of.client_id`, sql`of.person_id`)}`;

/** Deletes the requests of events that are taken back. */
export async function takeBackErasures(tx: Queryable, pairs: readonly { client: string; id: string }[]): Promise<void> {
  await takeBack(tx, { clientIds: pairs.map(({ client }) => client), personIds: pairs.map(({ id }) => id) });
}
