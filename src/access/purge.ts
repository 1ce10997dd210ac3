import { listPurgeable, purgePerson, type ForgetPerson, type PersonId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { changeDirectory } from "./change.ts";
import { askingApps } from "./erasures.ts";

type Deps = { db: PrismaDb; clock: Clock; forget: ForgetPerson; batchSize?: number };

/** Deletes people whose restore window is over, one change each; failures are collected and retried. */
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
            purgePerson(change, { personId, forget: askingApps(forget) }),
          );
          await purge.catch((error: unknown) => failed.set(personId, error));
        }
      }
      const people = failed.size === 1 ? "1 person" : `${failed.size} people`;
      if (failed.size > 0) throw new AggregateError(failed.values(), `${people} could not be deleted for good`);
    },
  };
}
