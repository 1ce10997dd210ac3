import { withTransaction, type Db } from "../../platform/database/db.ts";
import { findRows, sql, statement, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { inSlot } from "../change.ts";
import type { ClientId } from "../token.ts";
import { personIsSynced, userIsShown } from "../visibility.ts";

const p = table("person", "p");
const at = table("affiliation", "at");
const given = table("grant", "given");
const signIn = table("signIn", "signed");
const e = table("appEvent", "e");

const isSeen = (client: Value): Sql => sql`(${personIsSynced(client, p)} OR ${userIsShown(client, p)})`;

/** SQL condition: the app sees the person, soft-deleted or not. */
export const personIsSeen = (client: Value, personId: Value): Sql =>
  sql`EXISTS (SELECT FROM ${p} WHERE ${p.id} = ${personId} AND ${isSeen(client)})`;

/** The people of a school whom the app sees, soft-deleted or not. */
export const seenAtSchool = (client: Value, schoolId: Value): Sql => sql`
  SELECT ${at.personId} FROM ${at} WHERE ${at.schoolId} = ${schoolId} AND ${personIsSeen(client, at.personId)}`;

const count = statement<{ clientId: string }>(
  ({ clientId }) => sql`
  SELECT count(*)::int AS people FROM (
    SELECT seen.person_id FROM ${given} CROSS JOIN LATERAL (${seenAtSchool(clientId, given.schoolId)}) AS seen
    WHERE ${given.clientId} = ${clientId}
    UNION SELECT ${signIn.personId} FROM ${signIn} WHERE ${signIn.clientId} = ${clientId}
    UNION SELECT ${e.subjectId} FROM ${e} JOIN ${p} ON ${p.id} = ${e.subjectId}
    WHERE ${e.clientId} = ${clientId} AND ${e.type} = 'person') AS known`,
);

/** How many people the app ever saw: now, in the change feed or at a sign-in. A million take some ten seconds. */
export const countKnown = (db: Db & Parameters<typeof inSlot>[0], clientId: ClientId): Promise<number> =>
  inSlot(db, () =>
    withTransaction(db, async (tx) => {
      await tx.query("SET LOCAL statement_timeout = '60s'");
      const [row] = await findRows<{ people: number }, { clientId: string }>(tx, count, { clientId });
      return row!.people;
    }),
  );
