import { listPurgeable, purgePerson, type ForgetPerson, type PersonId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/db.ts";
import type { WorkerJob } from "../platform/worker.ts";
import { changeDirectory } from "./change.ts";

type Deps = { db: Db; clock: Clock; forget: ForgetPerson; batchSize?: number };

/**
 * Deletes for good whose restore window is over.
 *
 * Shape:  a change for each person, so that a crash loses nothing and nobody waits long; of several processes the one
 *         that comes second finds the person gone.
 * Errors: whoever cannot be deleted is tried again at the next run and stops nobody else.
 */
export function makePurgeJob({ db, clock, forget, batchSize = 100 }: Deps): WorkerJob {
  return {
    name: "directory.purgePeople",
    everySeconds: 60,
    async run(signal) {
      const failed = new Map<PersonId, unknown>();
      for (let due = batchSize; due === batchSize && !signal.aborted;) {
        const people = await listPurgeable(db.pool, { at: clock(), limit: batchSize, except: [...failed.keys()] });
        due = people.length;
        for (const personId of people) {
          if (signal.aborted) return;
          const purge = changeDirectory(db, { at: clock(), actorId: "purge" }, (change) =>
            purgePerson(change, { personId, forget }),
          );
          await purge.catch((error: unknown) => failed.set(personId, error));
        }
      }
      const people = failed.size === 1 ? "1 person" : `${failed.size} people`;
      if (failed.size > 0) throw new AggregateError(failed.values(), `${people} could not be deleted for good`);
    },
  };
}
