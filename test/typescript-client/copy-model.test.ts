// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClient, makeMemoryStore, makeSync, type MemoryStore } from "../../clients/typescript/src/index.ts";
import { appAttributes, changeDirectory, updateApp, type ClientId } from "../../src/access/index.ts";
import { AppError } from "../../src/platform/errors.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { act, deed, signIn, type Deed, type World } from "../access/events-world.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";

// A copy that only follows the change feed is what a copy that is loaded now would be, whatever happened.

const service = await startService();
const make = makeMakers(service.db, service.clock());
const origin = { at: service.clock(), actorId: "test" };

const kinds = ["schools", "users", "groups", "people"] as const;
type Kind = (typeof kinds)[number];
type App = { clientId: ClientId; clientSecret: string; may: readonly Kind[]; copy: MemoryStore };

const followed = ({ clientId, clientSecret, may }: App, store: MemoryStore) =>
  makeSync({
    client: createClient({
      issuer: service.url,
      clientId,
      clientSecret,
      scopes: may.map((kind) => `urn:schultor:idm:v1:${kind}:read`),
    }),
    store,
  });

async function makeWorld(scopes: readonly (readonly Kind[])[]): Promise<{ world: World; apps: App[] }> {
  const apps: App[] = [];
  for (const may of scopes) {
    const { clientId, clientSecret } = await make.app();
    apps.push({ clientId, clientSecret: clientSecret!, may, copy: makeMemoryStore() });
  }
  const clients = apps.map(({ clientId }) => clientId);
  const world: World = { clients, schools: [await make.school(), await make.school()], groups: [], people: [] };
  for (const school of world.schools) {
    for (let n = 0; n < 2; n++) world.groups.push({ id: await make.group({ school }), school });
    const inside = world.groups.filter((group) => group.school === school).map(({ id }) => id);
    for (const role of ["STUDENT", "TEACHER"] as const)
      world.people.push(await make.person({ school, role, groups: inside }));
    for (const app of clients) await make.grant({ app, school, groups: inside });
  }
  return { world, apps };
}

const step = fc.oneof(
  { weight: 10, arbitrary: fc.array(deed, { minLength: 1, maxLength: 4 }).map((deeds) => ({ deeds })) },
  { weight: 1, arbitrary: fc.record({ signIn: deed }) },
  { weight: 1, arbitrary: fc.record({ client: fc.nat(3), attributes: fc.subarray([...appAttributes]) }) },
  { weight: 1, arbitrary: fc.record({ client: fc.nat(3), may: fc.subarray([...kinds]) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

/** A deed that is refused undoes only itself. */
async function takeDeed(world: World, taken: Deed): Promise<void> {
  const before = { groups: [...world.groups], people: [...world.people] };
  await changeDirectory(service.db, origin, (change) => act(change, world, taken)).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    Object.assign(world, before);
  });
}

async function take(world: World, apps: App[], taken: Step): Promise<void> {
  if ("deeds" in taken) for (const each of taken.deeds) await takeDeed(world, each);
  else if ("signIn" in taken)
    await signIn(service.db, world, taken.signIn).catch((error: unknown) => {
      if ((error as { code?: string }).code !== "23503") throw error;
    });
  else {
    const app = apps[taken.client % apps.length]!;
    if ("may" in taken) app.may = ["schools", ...taken.may.filter((kind) => kind !== "schools")];
    else
      await withPrismaTransaction(service.db, (tx) =>
        updateApp(
          tx,
          { clientId: app.clientId, attributes: taken.attributes },
          {
            ...origin,
            allowLoopbackHttp: true,
          },
        ),
      );
  }
}

/** Somebody in no list is known by their id alone: who signed in stays a user. */
async function loadNow(app: App): Promise<MemoryStore> {
  const fresh = makeMemoryStore();
  const sync = followed(app, fresh);
  await sync.load();
  for (const id of app.copy.person.keys()) if (!fresh.person.has(id)) await sync.refresh({ type: "person", id });
  return fresh;
}

const recordsOf = ({ school, group, person }: MemoryStore) =>
  Object.fromEntries(
    [...school.values(), ...group.values(), ...person.values()]
      .map((record) => ("groups" in record ? { ...record, groups: record.groups.toSorted() } : record))
      .map((record) => [`${record.type} ${record.id}`, record] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

test("a copy that follows the changes is what a load would make it", { timeout: walkTimeoutMs }, async () => {
  const scopes = fc.subarray(["users", "groups", "people"] as const).map((more) => ["schools" as const, ...more]);
  await fc.assert(
    fc.asyncProperty(scopes, fc.array(step, { minLength: 6, maxLength: 12 }), async (some, steps) => {
      const { world, apps } = await makeWorld([kinds, some]);
      for (const app of apps) await followed(app, app.copy).follow();
      for (const taken of steps) {
        await take(world, apps, taken);
        for (const app of apps) {
          await followed(app, app.copy).follow();
          expect(recordsOf(app.copy)).toEqual(recordsOf(await loadNow(app)));
        }
      }
    }),
    walks(4, 1),
  );
});
