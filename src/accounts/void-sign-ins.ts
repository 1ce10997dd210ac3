import type { PersonId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { fields, findRows, sql, statement, table } from "../platform/database/sql.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { deleteVoidSignIns } from "./end-sign-ins.ts";

const waiting = table("voidSignIn");
const atOnce = 500;

const takeWaiting = statement<{ limit: number }>(
  ({ limit }) => sql`
    DELETE FROM ${waiting} WHERE ${waiting.personId} IN (
      SELECT ${waiting.personId} FROM ${waiting} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING ${fields<{ personId: PersonId }>({ personId: waiting.personId })}`,
  "sign-on.takeVoidSignIns",
);

/** Makes the job that deletes void sign-ins of deleted or restored people and revoked cards, and notifies the apps. */
export function makeVoidSignInsJob({ db, clock }: { db: Db; clock: Clock }): WorkerJob {
  return {
    name: "sign-on.endSignIns",
    everySeconds: 1,
    async run(signal) {
      for (let taken = atOnce; taken === atOnce && !signal.aborted;)
        taken = await withTransaction(db, async (tx) => {
          const people = await findRows<{ personId: PersonId }>(tx, takeWaiting, { limit: atOnce });
          const personIds = people.map(({ personId }) => personId);
          if (personIds.length > 0) await deleteVoidSignIns(tx, { personIds, at: clock() });
          return personIds.length;
        });
    },
  };
}
