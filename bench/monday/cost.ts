import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Db } from "../../src/platform/database/db.ts";
import type { Subject } from "../harness.ts";
import { readDone } from "./postgres.ts";

/** What one of them cost. Units: milliseconds of CPU; `requests` are those that this process made. */
export type Cost = {
  count: number;
  failed: number;
  cpuMs: number;
  databaseMs: number;
  walBytes: number;
  walSyncs: number;
  requests: number;
};

/** What `work` costs the subject and its database, for each thing that succeeded. */
export async function measureCost(
  subject: Pick<Subject, "cpuMs">,
  db: Db,
  work: () => Promise<{ count: number; failed: number }>,
): Promise<Cost> {
  let requests = 0;
  const countRequest = () => void requests++;
  const [before, cpuBefore] = [await readDone(db), subject.cpuMs()];
  subscribe("undici:request:create", countRequest);
  const { count, failed } = await work().finally(() => unsubscribe("undici:request:create", countRequest));
  const [after, cpuMs] = [await readDone(db), subject.cpuMs() - cpuBefore];
  const done = (what: keyof typeof after) => (after[what] - before[what]) / count;
  return {
    count,
    failed,
    cpuMs: cpuMs / count,
    databaseMs: done("cpuMs"),
    walBytes: done("walBytes"),
    walSyncs: done("walSyncs"),
    requests: requests / count,
  };
}
