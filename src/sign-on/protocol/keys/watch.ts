import type { Db } from "../../../platform/database/db.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";
import { findKeysVersion } from "./signing-keys.ts";

/** Calls `onChange` in every process when signing keys have changed; old keys stay published meanwhile. */
export function makeKeyWatch(db: Db, version: string, onChange: () => Promise<void>): WorkerJob {
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
