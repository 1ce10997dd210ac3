import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { makeMetrics } from "../../src/platform/telemetry/metrics.ts";
import { watchSurroundings } from "../../src/platform/telemetry/watch-surroundings.ts";

const well = {
  clock: () => new Date(),
  database: { name: "database", missing: "", check: async () => undefined },
  findBackupAge: async () => 7200,
  databaseFolder: tmpdir() as string | undefined,
  issuerUrl: "http://localhost:3000",
};

async function readGauges(given: Partial<typeof well>): Promise<Record<string, number>> {
  const metrics = makeMetrics();
  watchSurroundings(metrics, { ...well, ...given });
  const gauges = (await metrics.registry.getMetricsAsJSON()).filter(({ type }) => String(type) === "gauge");
  return Object.fromEntries(gauges.flatMap(({ name, values }) => values.map(({ value }) => [name, value])));
}

test("the database, its backup and its disk are measured", async () => {
  const { bavail, blocks } = await statfs(tmpdir());
  const gauges = await readGauges({});
  expect(gauges).toMatchObject({ database_up: 1 });
  expect(gauges["database_backup_age_seconds"]).toBeCloseTo(7200, -1);
  expect(gauges["database_disk_free_ratio"]).toBeCloseTo(bavail / blocks, 1);
  expect(gauges).not.toHaveProperty("issuer_certificate_seconds");
});

test("without a recorded backup its age is infinite, and unknown until it could be read", async () => {
  expect(await readGauges({ findBackupAge: async () => Infinity })).toMatchObject({
    database_backup_age_seconds: Infinity,
  });
  const fail = () => Promise.reject(new Error("away"));
  expect(await readGauges({ findBackupAge: fail })).not.toHaveProperty("database_backup_age_seconds");
});

test("a database that refuses or is silent is away, and metrics are answered all the same", async () => {
  for (const check of [() => Promise.reject(new Error("refused")), () => new Promise<undefined>(() => undefined)])
    expect(await readGauges({ database: { ...well.database, check } })).toMatchObject({ database_up: 0 });
  expect(await readGauges({ databaseFolder: "/nowhere" })).not.toHaveProperty("database_disk_free_ratio");
});
