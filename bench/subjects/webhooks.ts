// The worker for webhooks in its own process, as `npm start` runs it with ROLE=worker. Says when it is ready.
import { readConfig } from "../../src/config/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/database/db.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { makeMetrics } from "../../src/platform/telemetry/metrics.ts";
import { makeStatisticsJob } from "../../src/platform/database/statistics.ts";
import { startWorker } from "../../src/platform/jobs/worker.ts";
import { makeWebhooks } from "../../src/webhooks/index.ts";

const config = readConfig({ ...process.env, NODE_ENV: "development", WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" });
const log = makeLog({ level: config.logLevel, format: "json" });
const db = openDatabase({ url: config.databaseUrl!, poolSize: config.databasePoolSize });
const leaseSeconds = Number(process.env["LEASE_SECONDS"] ?? 15);
const webhooks = makeWebhooks({
  db,
  clock: systemClock,
  log,
  keys: config.encryptionKeys,
  policy: config,
  settings: config.webhooks,
  leaseSeconds,
});
const worker = startWorker([...webhooks.jobs, makeStatisticsJob(db)], { log, metrics: makeMetrics() });
process.send?.({ url: "ready" });
process.once("SIGTERM", () => void stop());

async function stop(): Promise<void> {
  await worker.stop(20);
  await webhooks.close();
  await db.close();
  process.exit(0);
}
