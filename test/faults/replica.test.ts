// @module-tag slow
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { changeDirectory, setGrant } from "../../src/access/index.ts";
import { updateSchool } from "../../src/directory/index.ts";
import { isDatabaseUnavailable, openDatabase } from "../../src/platform/database/db.ts";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startService, type TestService } from "../support/service.ts";
import { startStreamingReplica, type StreamingReplica } from "../support/streaming-replica.ts";
import { exchange, getAppToken, giveLogin, signOn } from "../support/token.ts";

let servers: StreamingReplica;
let service: TestService;
beforeAll(async () => {
  servers = await startStreamingReplica((url) => applyMigrations(url, { say: () => undefined }));
  const { primaryUrl: url, replicaUrl } = servers;
  const db = openDatabase({ url });
  atFileEnd(() => db.close());
  const env = { DATABASE_URL: url, DATABASE_REPLICA_URL: replicaUrl, DATABASE_REPLICA_MAX_AGE_SECONDS: "3" };
  service = await startService({ db: { ...db, url }, env });
});

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length).replace("+Inf", "Infinity") ?? NaN);
}

async function makeSubject() {
  const make = makeMakers(service.db, service.clock());
  const school = await make.school({ name: "School" });
  const person = await make.person({ school });
  const app = await make.app();
  const key = { clientId: app.clientId, schoolId: school };
  const setAccess = (signOnOf: "EVERYBODY" | "NOBODY") =>
    changeDirectory(service.db, { at: service.clock(), actorId: "test" }, (change) =>
      setGrant(change, { ...key, signOn: { kind: signOnOf }, sync: true, syncedGroups: [] }),
    );
  await make.grant({ app: app.clientId, school, signOn: "NOBODY" });
  return { school, app, setAccess, login: await giveLogin(service.db, person) };
}

const resumeReplay = () => servers.onReplica("SELECT pg_wal_replay_resume()");
/** Until it is resumed, at the latest with the end of the test. */
async function pauseReplay(): Promise<void> {
  onTestFinished(async () => void (await resumeReplay()));
  await servers.onReplica("SELECT pg_wal_replay_pause()");
}

const servedBy = (server: string) => readMetric(`database_reads_total{server="${server}"}`);

test("sign-on decides by what was written last, also where the replica has not received it", async () => {
  const { app, setAccess, login } = await makeSubject();
  await pauseReplay();
  expect((await signOn(service, app, login)).back.searchParams.get("code")).toBeNull();
  await setAccess("EVERYBODY");
  expect(await exchange(service, app, await signOn(service, app, login))).toMatchObject({ status: 200 });
  await setAccess("NOBODY");
  expect((await signOn(service, app, login)).back.searchParams.get("code")).toBeNull();
});

test("a replica that is too old is not read until it is young again, and its age is measured", async () => {
  const { school, app } = await makeSubject();
  const accessToken = await getAppToken(service, app, ["schools:read"]);
  const readName = async () => {
    const answer = await fetch(`${service.url}/idm/ep/v1/schools/${school}`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    return ((await answer.json()) as { name?: string }).name;
  };
  const readAt = async () => ({ name: await readName(), isOfReplica: (await servedBy("replica")) > 0 });
  await expect.poll(readAt).toEqual({ name: "School", isOfReplica: true });

  await pauseReplay();
  await changeDirectory(service.db, { at: service.clock() }, (change) =>
    updateSchool(change, { schoolId: school, name: "Renamed" }),
  );
  // Nothing but the primary can answer this.
  await expect.poll(readName).toBe("Renamed");
  await expect.poll(() => readMetric("database_replica_age_seconds")).toBeGreaterThan(3);
  expect(await servedBy("primary")).toBeGreaterThan(0);

  await resumeReplay();
  await expect.poll(() => readMetric("database_replica_age_seconds")).toBeLessThan(3);
  const before = await servedBy("replica");
  const readAgain = async () => ({ name: await readName(), isOfReplica: (await servedBy("replica")) > before });
  await expect.poll(readAgain).toEqual({ name: "Renamed", isOfReplica: true });
});

test("a standby in the place of the primary is refused as unavailable", async () => {
  const db = openDatabase({ url: servers.replicaUrl });
  const error = await db.pool.query("SELECT 1").catch((caught: unknown) => caught);
  expect(isDatabaseUnavailable(error)).toBe(true);
  expect(String(error)).toContain("standby");
  await db.close();
});
