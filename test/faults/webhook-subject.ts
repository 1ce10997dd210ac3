// A process to be killed: it changes people, one after the other, and delivers what apps are told of it. Says each
// change once it is committed.
import { changeDirectory } from "../../src/access/index.ts";
import { updatePerson, type PersonId } from "../../src/directory/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { silentLog } from "../../src/platform/telemetry/log.ts";
import { makeMetrics } from "../../src/platform/telemetry/metrics.ts";
import { startWorker } from "../../src/platform/jobs/worker.ts";
import { makeWebhooks } from "../../src/webhooks/index.ts";

const { url, people, round } = JSON.parse(process.env["SUBJECT"]!) as {
  url: string;
  people: PersonId[];
  round: number;
};
const db = openDatabase({ url });
const settings = { timeoutMs: 5000, retrySeconds: [1, 1, 1], disableAfterDays: 5, logDays: 30, concurrency: 64 };
const keys = [Buffer.from("a key for tests that is 32 bytes")];
const webhooks = makeWebhooks({
  db,
  clock: systemClock,
  log: silentLog,
  keys,
  policy: { allowPrivateAddresses: true },
  settings,
  leaseSeconds: 1,
});
startWorker(webhooks.jobs, { log: silentLog, metrics: makeMetrics() });

for (let n = 0; ; n++) {
  const personId = people[n % people.length]!;
  const name = { firstFull: "Kim", firstCall: "Kim", last: `Round ${round} ${n}` };
  await changeDirectory(db, { at: new Date(), actorId: "test" }, (change) => updatePerson(change, { personId, name }));
  console.log(`changed ${personId} ${round} ${n}`);
}
