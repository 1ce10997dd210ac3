import type { Db } from "../../src/platform/database/db.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";

export type Told = {
  clientId: string;
  type?: "person" | "group" | "school";
  action?: string;
  subjectId?: string;
  updatedProperties?: string[];
};

/** Writes what apps are told, as a change would, and commits it; answers the ids, which are the webhook-ids. */
export const insertEvents = (db: Pick<Db, "pool">, at: Date, events: readonly Told[]): Promise<string[]> =>
  makeInsert(at, events)(db);

/** The same in two steps, for those who measure the second. */
export function makeInsert(at: Date, events: readonly Told[]): (db: Pick<Db, "pool">) => Promise<string[]> {
  const rows = events.map(
    ({ type = "person", action = "update", subjectId = makeUuid(at), clientId, updatedProperties }) => {
      const properties = updatedProperties ?? (action === "create" || action === "delete" ? [] : ["name"]);
      return {
        id: makeUuid(at),
        clientId,
        type,
        action,
        subjectId,
        properties,
        reason: action === "delete" ? "no_longer_synced" : null,
      };
    },
  );
  const values = [JSON.stringify(rows), at];
  return async (db) => {
    await db.pool.query(
      `INSERT INTO app_event (id, at, client_id, type, action, subject_id, updated_properties, reason)
       SELECT id, $2, "clientId", type, action, "subjectId", properties, reason
       FROM json_to_recordset($1::json) AS r (id uuid, "clientId" text, type text, action text, "subjectId" uuid, properties text[], reason text)`,
      values,
    );
    return rows.map(({ id }) => id);
  };
}
