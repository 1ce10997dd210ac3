// @module-tag slow
import { execFile } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/platform/database/db.ts";
import { applyMigrations } from "../../src/platform/migrations/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/index.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import type { TestDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { isLeftOut } from "../support/programs.ts";
import { startReceiver } from "../support/receiver.ts";
import { installedServers } from "../support/servers.ts";
import { startService, type TestService } from "../support/service.ts";
import { askFor, exchange, getAppToken, getUserTokens, giveLogin, postToken, signOn } from "../support/token.ts";
import { inside, keys } from "../support/webhooks.ts";

const env = {
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  ENCRYPTION_KEYS: keys[0]!.toString("base64"),
};

type Server = { url: string; dataDir: string; db: TestDatabase };

function newDataDir(): string {
  const dataDir = makeDataDir();
  atFileEnd(async () => removeDataDir(dataDir));
  return dataDir;
}

/** A server of its own whose files are backed up. */
async function startServer(dataDir = newDataDir(), binariesFolder?: string): Promise<Server> {
  const settings = { fsync: "off", synchronous_commit: "off", shared_buffers: "64MB" };
  const server = await startEmbeddedPostgres({ dataDir, say: () => undefined, settings, binariesFolder });
  await applyMigrations(server.url, { say: () => undefined });
  const db = openDatabase({ url: server.url, poolSize: 4 });
  atFileEnd(async () => {
    await db.close();
    await server.stop();
  });
  return { url: server.url, dataDir, db: { ...db, url: server.url } };
}

/** Types a command; answers what it wrote. */
async function type(args: string[], given: Record<string, string>, exitCode = 0): Promise<string> {
  const program = startProgram(["bin/schultor.js", ...args], { ...env, ...given });
  const { code } = await program.ended;
  expect(code, program.output()).toBe(exitCode);
  return program.output();
}
const runJobs = async ({ runJob }: TestService) => {
  for (const name of ["webhooks.fanOut", "webhooks.deliver"]) await runJob(name);
};

async function listChanges({ url }: TestService, token: string, after?: string) {
  const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
  const answer = await fetch(`${url}/idm/ep/v1/changes${query}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: (await answer.json()) as { next: string; changes: unknown[] } };
}

async function readKeys({ url }: TestService): Promise<unknown> {
  const discovery = await fetch(`${url}/.well-known/openid-configuration`);
  const { jwks_uri } = (await discovery.json()) as { jwks_uri: string };
  const { keys } = (await (await fetch(jwks_uri)).json()) as { keys: unknown[] };
  expect(keys.length).toBeGreaterThan(0);
  return keys;
}

/** What a backup holds, and what happens between it and the loss of the database. */
async function playWorld(server: Server, backUp: () => Promise<void>) {
  const service = await startService({ db: server.db, env });
  const make = makeMakers(server.db);
  const [school, app] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  const person = await make.person({ school, groups: [group] });
  const login = await giveLogin(server.db, person);
  const receiver = await startReceiver();
  await registerEndpoint(
    server.db,
    { clientId: app.clientId, url: receiver.url, eventTypes: ["person", "group", "school"] },
    { origin: { at: service.clock(), actorId: "test" }, keys, policy: inside },
  );
  await make.person({ school, groups: [group] });
  const token = await getAppToken(service, app, ["people:read"]);
  const cursor = (await listChanges(service, token)).body.next;
  await make.person({ school, groups: [group] });
  await runJobs(service);
  const delivered = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(delivered.length).toBeGreaterThan(0);
  const signedOn = await signOn(service, app, login, { scopes: ["openid", "offline_access"] });
  const tokens = await getUserTokens(service, app, login, {
    scopes: ["openid", "offline_access"],
    browser: signedOn.browser,
  });
  await backUp();
  expect((await exchange(service, app, signedOn)).status).toBe(200);
  const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token! };
  expect((await postToken(service, app, refresh)).status).toBe(200);
  await make.person({ school, groups: [group] });
  await runJobs(service);
  const later = (await listChanges(service, token)).body.next;
  const jwks = await readKeys(service);
  await service.close();
  return { app, login, school, group, receiver, delivered, signedOn, refresh, token, cursors: [cursor, later], jwks };
}

/** What must hold of the restored database. */
async function checkRestored(server: Server, world: Awaited<ReturnType<typeof playWorld>>): Promise<void> {
  const { app, login, receiver, delivered } = world;
  const service = await startService({ db: server.db, env });
  expect(await readKeys(service)).toEqual(world.jwks);
  expect((await exchange(service, app, world.signedOn)).body.error).toBe("invalid_grant");
  expect((await postToken(service, app, world.refresh)).body.error).toBe("invalid_grant");
  expect((await listChanges(service, world.token)).status).toBe(401);
  const asked = await world.signedOn.browser.once(askFor(service, app).address);
  expect(asked.headers.get("location")).toMatch(/^[^?]*\/interaction\//);

  const token = await getAppToken(service, app, ["people:read"]);
  for (const cursor of world.cursors) expect((await listChanges(service, token, cursor)).status).toBe(410);
  const { next } = (await listChanges(service, token)).body;
  receiver.received.length = 0;
  await runJobs(service);
  await makeMakers(server.db).person({ school: world.school, groups: [world.group] });
  await runJobs(service);
  expect((await listChanges(service, token, next)).body.changes.length).toBeGreaterThan(0);
  for (const cursor of world.cursors) expect((await listChanges(service, token, cursor)).status).toBe(410);
  const repeated = receiver.received.filter(({ headers }) => delivered.includes(headers["webhook-id"]));
  expect([receiver.received.length > 0, repeated]).toEqual([true, []]);

  expect((await getUserTokens(service, app, login)).id_token).toBeDefined();
}

/** A restore that stops after it has loaded: with other keys, which open nothing of the backup. */
async function checkUnfinished(backup: string, place: Record<string, string>): Promise<void> {
  const wrong = { ...place, ENCRYPTION_KEYS: Buffer.alloc(32, "another").toString("base64") };
  expect(await type(["restore", backup], wrong, 1)).toContain("None of the encryption keys opens");
  const service = startProgram(["src/main.ts"], { ...env, ...place, NODE_ENV: "development", PORT: "0" });
  expect((await service.ended).code, service.output()).toBe(1);
  expect(service.output()).toContain("schultor finish-restore --yes");
}

test("the embedded database is backed up while it is written to, and restored: nothing that was used, ended or sent counts again", async () => {
  const server = await startServer();
  const backup = join(newDataDir(), "backup");
  const world = await playWorld(server, async () => {
    const make = makeMakers(server.db);
    let isDone = false;
    const load = (async () => {
      while (!isDone) await make.school();
    })();
    await type(["backup", backup], { DATA_DIR: server.dataDir }).finally(() => (isDone = true));
    await load;
  });
  const dataDir = newDataDir();
  await checkUnfinished(backup, { DATA_DIR: dataDir });
  await type(["finish-restore", "--yes"], { DATA_DIR: dataDir });
  await checkRestored(await startServer(dataDir), world);
  expect(await type(["restore", backup], { DATA_DIR: dataDir }, 1)).toMatch(/in use|There is a database in/);
});

const packaged = installedServers().find(({ binariesFolder }) => existsSync(join(binariesFolder, "pg_dump")));

const readPage = (path: string) => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

/** A server with the role and the database that deploy/postgres makes. Shape: `adminUrl` is that of its superuser. */
async function startServerOfRole(binariesFolder: string): Promise<Server & { adminUrl: string }> {
  const admin = await startServer(newDataDir(), binariesFolder);
  const [, statements] = /^Once, on the primary: `([^`]+)`/m.exec(readPage("deploy/postgres/README.md")) ?? [];
  // The superuser of this server has the name that the role has there.
  const role = "limited";
  appendFileSync(join(realpathSync(join(admin.dataDir, "postgres")), "pg_hba.conf"), `local all ${role} trust\n`);
  await admin.db.pool.query("SELECT pg_reload_conf()");
  for (const statement of statements!.replaceAll("schultor", role).split(";")) await admin.db.pool.query(statement);
  const url = admin.url.replace("schultor@", `${role}@`).replace("/schultor?", `/${role}?`);
  await expect.poll(() => applyMigrations(url, { say: () => undefined }).then(() => true)).toBe(true);
  const db = openDatabase({ url, poolSize: 4 });
  atFileEnd(() => db.close());
  return { url, dataDir: admin.dataDir, db: { ...db, url }, adminUrl: admin.url };
}

/** Makes the empty database as the runbook says, with the account that it says. */
async function makeEmptyDatabase({ adminUrl, url }: { adminUrl: string; url: string }, folder: string) {
  const [, command] = /^runuser -u postgres -- (createdb .*?) +#/m.exec(readPage("deploy/RUNBOOK.md")) ?? [];
  const [name, ...args] = command!.replace("--owner schultor", `--owner ${new URL(url).username}`).split(" ");
  const { username, searchParams } = new URL(adminUrl);
  const env = { PGUSER: username, PGHOST: searchParams.get("host")!, PGDATABASE: "postgres" };
  await promisify(execFile)(join(folder, name!), args, { env });
  return url.replace(/\/\w+\?/, `/${args.at(-1)!}?`);
}

const ofPackages =
  "a server of one's own is backed up by pg_dump and restored alike, with the role of deploy/postgres, as the runbook says";
test.skipIf(isLeftOut(ofPackages, packaged ? null : "it needs Debian's PostgreSQL"))(ofPackages, async () => {
  const server = await startServerOfRole(packaged!.binariesFolder);
  const backup = join(newDataDir(), "backup.dump");
  const world = await playWorld(
    server,
    async () => void (await type(["backup", backup], { DATABASE_URL: server.url })),
  );
  expect(await type(["restore", backup], { DATABASE_URL: server.url }, 1)).toContain("Make an empty one");
  await expect(server.db.pool.query("CREATE DATABASE restored")).rejects.toThrow(
    "permission denied to create database",
  );
  const url = await makeEmptyDatabase(server, packaged!.binariesFolder);
  await checkUnfinished(backup, { DATABASE_URL: url });
  await type(["finish-restore", "--yes"], { DATABASE_URL: url });
  const db = openDatabase({ url, poolSize: 4 });
  atFileEnd(() => db.close());
  await checkRestored({ ...server, url, db: { ...db, url } }, world);
});
