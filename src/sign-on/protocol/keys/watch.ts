import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";
import { dropRetiredKeys } from "./rotation.ts";
import { findKeysVersion } from "./signing-keys.ts";

/**
 * Calls `onChange` in every process when signing keys have changed. Until then a process signs with the old key, which
 * stays published; the new one was published before.
 */
export function makeKeyWatch({
  db,
  version,
  onChange,
}: {
  db: Db;
  version: string;
  onChange(): Promise<void>;
}): WorkerJob {
  let known = version;
  return {
    name: "sign-on.watchKeys",
    everySeconds: 5,
    inEveryProcess: true,
    async run() {
      const current = await findKeysVersion(db.pool);
      if (current === known) return;
      await onChange();
      known = current;
    },
  };
}

export function makeRetiredKeysJob(deps: { db: Db; clock: Clock; idTokenSeconds: number }): WorkerJob {
  return {
    name: "sign-on.dropRetiredKeys",
    everySeconds: 600,
    run: () => dropRetiredKeys({ ...deps, now: deps.clock() }),
  };
}
