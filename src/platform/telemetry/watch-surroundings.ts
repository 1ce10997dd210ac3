import { statfs } from "node:fs/promises";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import type { Clock } from "../clock.ts";
import { isWell, type HealthCheck } from "./health.ts";
import { addGauge, type Metrics } from "./metrics.ts";

type Surroundings = {
  clock: Clock;
  database: HealthCheck;
  /** In seconds; infinite without a backup. */
  findBackupAge(): Promise<number>;
  databaseFolder: string | undefined;
  issuerUrl: string;
};

// Less than the time that processes wait for each other's metrics.
const patienceMs = 1000;
const [backupSeconds, certificateSeconds, retrySeconds] = [10, 3600, 60];

export function watchSurroundings(
  { registry }: Pick<Metrics, "registry">,
  { clock, database, findBackupAge, databaseFolder, issuerUrl }: Surroundings,
): void {
  const measure = (name: string, help: string, read: () => Promise<number | undefined>) =>
    addGauge(registry, { name, help, aggregator: "min" }, async (gauge) => {
      const value = await read();
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    });
  measure("database_up", "1 while the database answers this process, otherwise 0.", async () =>
    (await isWell(database, patienceMs)) ? 1 : 0,
  );
  const findBackup = makeLazy(backupSeconds, async () => performance.now() / 1000 - (await findBackupAge()));
  measure(
    "database_backup_age_seconds",
    "Time since the last recorded backup began; infinite if there is none.",
    async () => {
      const madeAt = await findBackup();
      return madeAt === undefined ? undefined : performance.now() / 1000 - madeAt;
    },
  );
  if (databaseFolder !== undefined)
    measure("database_disk_free_ratio", "Free part of the disk of the embedded database.", async () => {
      const disk = await statfs(databaseFolder).catch(() => undefined);
      return disk === undefined ? undefined : disk.bavail / disk.blocks;
    });
  const issuer = new URL(issuerUrl);
  if (issuer.protocol !== "https:") return;
  const findEnd = makeLazy(certificateSeconds, () => readCertificateEnd(issuer));
  measure("issuer_certificate_seconds", "Time until the certificate of ISSUER_URL expires.", async () => {
    const end = await findEnd();
    return end === undefined ? undefined : (end.getTime() - clock().getTime()) / 1000;
  });
}

function makeLazy<T>(freshSeconds: number, read: () => Promise<T>): () => Promise<T | undefined> {
  let [last, dueMs] = [undefined as T | undefined, -Infinity];
  let reading: Promise<void> | null = null;
  const readAgain = async () => {
    const value = await read().catch(() => undefined);
    last = value ?? last;
    dueMs = performance.now() + (value === undefined ? retrySeconds : freshSeconds) * 1000;
    reading = null;
  };
  return async () => {
    if (performance.now() >= dueMs) reading ??= readAgain();
    if (reading !== null) await Promise.race([reading, sleep(patienceMs, undefined, { ref: false })]);
    return last;
  };
}

function readCertificateEnd({ hostname, port }: URL): Promise<Date> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      timeout: 10_000,
      ...(isIP(host) === 0 && { servername: host }),
      // An expired certificate is read too. Nothing is sent.
      rejectUnauthorized: false,
    });
    socket.once("secureConnect", () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
    socket.once("timeout", () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
  });
}
