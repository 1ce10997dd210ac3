// @module-tag slow
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { createClient, makeSync, verifyWebhook, type Store, type Sync } from "../../clients/typescript/src/index.ts";
import { makeSqliteStore } from "../../clients/typescript/src/sqlite.ts";
import { changeDirectory } from "../../src/access/index.ts";
import { deletePerson, softDeletePerson, updatePerson, type PersonId } from "../../src/directory/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { makeStaff } from "../support/admin.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";
import { makeTestClock, startService, type TestService } from "../support/service.ts";
import { registerEndpoint } from "../support/webhook-changes.ts";
import { inside } from "../support/webhooks.ts";

// An app that keeps a copy with the package, and points of its own for each person, is moved to ids of its own. One
// copy lives by webhooks, the other by the change feed. Both die in the middle of the cut-over, in each place once.

const clock = makeTestClock();
const count = 520;
const folder = mkdtempSync(join(tmpdir(), "schultor-move-"));
atFileEnd(() => rmSync(folder, { recursive: true }));
let service: TestService;
let make: ReturnType<typeof makeMakers>;
let app: Awaited<ReturnType<typeof make.app>>;
let school: Awaited<ReturnType<typeof make.school>>;
let group: Awaited<ReturnType<typeof make.group>>;
let known: PersonId[];

const change = (work: Parameters<typeof changeDirectory<unknown>>[2]) =>
  changeDirectory(service.db, { at: clock(), actorId: "test" }, work);

beforeAll(async () => {
  service = await startService({ clock, env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
  make = makeMakers(service.db, clock());
  app = await make.app();
  school = await make.school();
  group = await make.group({ school });
  await make.grant({ app: app.clientId, school, groups: [group] });
  known = await make.people({ school, count, groups: [group] });
});

/** Throws at the nth write from now on and at all later ones, as if the process died there; null: never. */
type Death = { writes: number | null; killed?: () => void };

/** The copy of the package with a table of the app's own beside it. */
function openStore(file: string, death: Death): Store {
  const database = new DatabaseSync(join(folder, file));
  database.exec("CREATE TABLE IF NOT EXISTS points (person TEXT PRIMARY KEY, points INT NOT NULL)");
  const copy = makeSqliteStore(database);
  const move = database.prepare("UPDATE OR IGNORE points SET person = ? WHERE person = ?");
  return {
    ...copy,
    async write(batch) {
      if (death.writes !== null && death.writes-- <= 0) {
        death.killed?.();
        throw new Error("killed");
      }
      await copy.write(batch);
      for (const { from, to } of batch.rekey ?? []) move.run(to, from);
    },
  };
}

const readPoints = (file: string) =>
  new DatabaseSync(join(folder, file)).prepare("SELECT person, points FROM points").all() as {
    person: string;
    points: number;
  }[];

function openSync(file: string, death: Death = { writes: null }): Sync {
  const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
  const { clientId, clientSecret } = app;
  const client = createClient({ issuer: service.url, clientId, clientSecret: clientSecret!, scopes });
  return makeSync({ client, store: openStore(file, death), retryMs: 1 });
}

/** Everybody in the app's copy, by the service's own id, with their points. */
async function readCopy(file: string) {
  const { rows } = await service.db.pool.query<{ id: string; person_id: string; sector: string }>(
    "SELECT id, person_id, sector FROM pairwise_id WHERE person_id = record_id",
  );
  const { sector } = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  const personOf = new Map(rows.filter((row) => row.sector === sector).map((row) => [row.id, row.person_id]));
  const own = (id: string) => personOf.get(id) ?? `unknown ${id}`;
  const ids = await openStore(file, { writes: null }).listIds("person");
  const points = readPoints(file);
  return {
    people: ids.map(own).sort(),
    points: Object.fromEntries(points.map(({ person, points: many }) => [own(person), many])),
  };
}

test("a copy is moved to the new ids, loses nobody and doubles nobody, whenever its process dies", async () => {
  const receiver = await startReceiver();
  const endpoint = { clientId: app.clientId, url: `${receiver.url}/hook`, eventTypes: ["person"] } as const;
  const keys = readConfig({ NODE_ENV: "test" }).encryptionKeys;
  const { secret } = await registerEndpoint(service.db, endpoint, {
    origin: { at: clock(), actorId: "test" },
    keys,
    policy: inside,
  });
  let forwarded = 0;
  const deliverTo = async (sync: Sync) => {
    await service.runJob("webhooks.fanOut");
    await service.runJob("webhooks.deliver");
    for (const { headers, body } of receiver.received.slice(forwarded))
      await sync.receive(await verifyWebhook(body, headers, secret, { now: clock() }));
    forwarded = receiver.received.length;
  };
  const [byWebhook, byFeed] = [openSync("webhook.db"), openSync("feed.db")];
  for (const sync of [byWebhook, byFeed]) await sync.follow();
  for (const file of ["webhook.db", "feed.db"]) {
    const insert = new DatabaseSync(join(folder, file)).prepare("INSERT INTO points (person, points) VALUES (?, ?)");
    for (const [index, person] of known.entries()) insert.run(person, index);
  }

  const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const path = `/apps/${app.clientId}/id-move`;
  expect(await call("POST", path, { body: { subjectType: "APP" } })).toMatchObject({ status: 201 });
  await service.runJob("access.moveIds");
  const [newcomer, leaver, gone, changed] = [await make.person({ school, groups: [group] }), ...known.slice(0, 3)] as [
    PersonId,
    PersonId,
    PersonId,
    PersonId,
  ];
  await deliverTo(byWebhook);
  await byWebhook.settled();
  await byFeed.follow();
  for (const file of ["webhook.db", "feed.db"])
    expect((await readCopy(file)).people).toEqual([...known, newcomer].sort());
  await Promise.all([byWebhook.close(), byFeed.close()]);

  // On their way when the ids change: a soft deletion, a deletion for good, and a change.
  const origin = { restoreWindowDays: 30 };
  await change((it) => softDeletePerson(it, { personId: leaver, ...origin }));
  await change((it) => softDeletePerson(it, { personId: gone, ...origin }));
  await change((it) => deletePerson(it, { personId: gone, forget: () => Promise.resolve() }));
  await change((it) => updatePerson(it, { personId: changed, role: "TEACHER" }));
  const { promise: death, resolve: killed } = Promise.withResolvers<undefined>();
  const dying = openSync("webhook.db", { writes: 0, killed: () => killed(undefined) });
  await deliverTo(dying);
  await death;
  await dying.close();
  expect(await call("POST", `${path}/cut-over`)).toMatchObject({ status: 204 });
  const late = await make.person({ school, groups: [group] });
  await change((it) => updatePerson(it, { personId: changed, role: "STUDENT" }));

  const deaths: string[] = [];
  for (const file of ["webhook.db", "feed.db"])
    for (let writes = 0; ; writes++) {
      const sync = openSync(file, { writes });
      const isAlive = await sync.follow().then(
        () => true,
        (error: unknown) => (error as Error).message !== "killed",
      );
      await sync.close();
      if (isAlive) break;
      deaths.push(file);
    }
  // Two writes of new ids, two of the load, and one that says that all have their new ids.
  expect(deaths).toEqual(["webhook.db", "feed.db"].flatMap((file) => Array<string>(5).fill(file)));
  const sync = openSync("webhook.db");
  await deliverTo(sync);
  sync.resume();
  await sync.settled();
  await sync.follow();
  for (const file of ["webhook.db", "feed.db"]) {
    const { people, points } = await readCopy(file);
    expect(people, file).toEqual([...known.filter((id) => id !== gone), newcomer, late].sort());
    const expected = known.map((id, index) => [id, index] as const).filter(([id]) => id !== gone);
    const { [Object.keys(points).find((key) => key.startsWith("unknown"))!]: left, ...kept } = points;
    expect(kept, file).toEqual(Object.fromEntries(expected));
    // The points of who was deleted: the app removes them together with the record.
    expect(left, file).toBe(1);
    const store = openStore(file, { writes: null });
    const softDeleted = [];
    for (const id of await store.listIds("person")) {
      const record = await store.get({ type: "person", id });
      if (record?.type === "person" && record.status === "SOFT_DELETED") softDeleted.push(id);
    }
    expect(softDeleted, file).toHaveLength(1);
  }
  await sync.close();
});
