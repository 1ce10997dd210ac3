// @module-tag slow
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer } from "node:tls";
import { expect, test } from "vitest";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import { startProgram } from "../support/program.ts";
import { isLeftOut, whatIsMissing } from "../support/programs.ts";
import { makeRecording } from "../support/prometheus.ts";

const claim =
  "an old backup, a certificate that ends and a PostgreSQL that is stopped each raise their own alert, and nothing that misleads";

const settings = { fsync: "off", synchronous_commit: "off", shared_buffers: "64MB" };
const pauseMs = 100;

function newDataDir(): string {
  const dataDir = makeDataDir();
  atFileEnd(async () => removeDataDir(dataDir));
  return dataDir;
}

/** Ends TLS with a certificate of its own that expires in three days; answers its address. */
async function serveTls(): Promise<string> {
  const folder = newDataDir();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const files = ["-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-days", "3"];
  execFileSync("openssl", ["req", ...kind, ...files], { stdio: "ignore" });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  atFileEnd(async () => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

/** Asks the service as often as there are scrapes, and records each. */
function makePlay(url: string) {
  const recording = makeRecording();
  const headers = { authorization: `Bearer ${"a".repeat(43)}` };
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "nobody", client_secret: "none" });
  const play = async (scrapes: number): Promise<number> => {
    for (let n = 0; n < scrapes; n++) {
      const reads = Array.from({ length: 4 }, () => fetch(`${url}/idm/ep/v1/schools`, { headers }));
      const token = fetch(`${url}/oauth2/token`, { method: "POST", body });
      for (const answer of await Promise.all([...reads, token])) await answer.arrayBuffer();
      await recording.scrape(url);
      await sleep(pauseMs);
    }
    return recording.minute();
  };
  return { recording, play };
}

/** Alerts that a busy machine raises. */
const speedAlerts = ["SchultorEventLoopLags", "SchultorEventLoopBlocked", "SchultorTokensSlow"];

const withoutLeavingOut = (rules: string) => rules.replaceAll(/\n +unless on \(\) max_over_time\(ALERTS.*/g, "");

test.skipIf(isLeftOut(claim, whatIsMissing("promtool", "openssl")))(claim, async () => {
  const dataDir = newDataDir();
  const start = () => startEmbeddedPostgres({ dataDir, say: () => undefined, settings });
  let server = await start();
  atFileEnd(() => server.stop());
  const port = await findPort();
  const url = `http://localhost:${port}`;
  const env = { PORT: String(port), DEMO_WORLD: "false", DATABASE_URL: server.url, ISSUER_URL: await serveTls() };
  startProgram(["src/main.ts"], env);
  const isReady = async () => (await fetch(`${url}/health/ready`).catch(() => null))?.ok;
  await expect.poll(isReady).toBe(true);
  const { recording, play } = makePlay(url);
  const listFiring = async (minute: number) => {
    const { critical, warning } = await recording.listFiring(minute);
    return { critical, warning: warning.filter((name) => !speedAlerts.includes(name)) };
  };

  const first = await play(24);
  const backup = startProgram(["bin/schultor.js", "backup", join(newDataDir(), "backup")], { DATA_DIR: dataDir });
  expect((await backup.ended).code, backup.output()).toBe(0);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await expect.poll(metrics).toMatch(/^database_backup_age_seconds \d/m);
  const backedUp = await play(14);
  await server.stop();
  const [early, late] = [await play(6), await play(40)];
  server = await start();
  const after = await play(30);

  const [ends, unwatched] = ["SchultorCertificateEnds", "SchultorDiskNotWatched"];
  const away = { critical: [ends, "SchultorDatabaseAway"], warning: [unwatched] };
  expect(await listFiring(first)).toEqual({ critical: ["SchultorBackupOld", ends], warning: [] });
  expect(await listFiring(backedUp)).toEqual({ critical: [ends], warning: [unwatched] });
  expect(await listFiring(early)).toEqual(away);
  expect(await listFiring(late)).toEqual(away);
  expect(await listFiring(after)).toEqual({ critical: [ends], warning: [unwatched] });
  // The outage is one in which other alerts would mislead.
  const { warning } = await recording.listFiring(late, withoutLeavingOut);
  expect(warning).toEqual(expect.arrayContaining(["SchultorBusy", "SchultorJobFails"]));
});
