import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory, deleteApp, setSync, updateApp } from "../../src/access/index.ts";
import type { ClientId } from "../../src/access/index.ts";
import { renameGroup, updatePerson } from "../../src/directory/index.ts";
import type { GroupId, PersonId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";
import { AppError } from "../../src/platform/errors.ts";
import { forgetApp } from "../../src/sign-on/index.ts";
import { makeImporter } from "../imports/rosters.ts";
import { testDatabase } from "../support/database.ts";
import { listsOf, readLists, rosterOf, type Versioned } from "../support/lists.ts";
import { makeMakers } from "../support/make.ts";
import { isFullRun, walkTimeoutMs, walks } from "../support/walks.ts";
import { act, deed, signIn, type World } from "./events-world.ts";

// A list whose version is the same has the same items, whatever happened in between.

const db = await testDatabase();
const make = makeMakers(db);
const origin = { at: new Date("2026-02-03T08:00:00Z"), actorId: "test", allowLoopbackHttp: true };

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ deeds: fc.array(deed, { minLength: 1, maxLength: 2 }), isGivenUp: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ signIn: deed }) },
  {
    weight: 1,
    arbitrary: fc.record({
      client: fc.nat(5),
      schulconnexSpelling: fc.constantFrom("V1_4" as const, "V1_7" as const, "V1_8" as const),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;
class GivenUp extends Error {}

/** Two people who are at both schools, and one at each; both apps see both schools and let everybody in. */
async function makeWorld(): Promise<World> {
  const clients: ClientId[] = [(await make.app()).clientId, (await make.app()).clientId];
  const world: World = { clients, schools: [await make.school(), await make.school()], groups: [], people: [] };
  const [first, second] = world.schools as [World["schools"][number], World["schools"][number]];
  for (const school of world.schools)
    for (let n = 0; n < 2; n++) world.groups.push({ id: await make.group({ school }), school });
  const inside = (school: string) => world.groups.filter((group) => group.school === school).map(({ id }) => id);
  for (let n = 0; n < 2; n++)
    world.people.push(await make.person({ schools: [first, second], groups: world.groups.map(({ id }) => id) }));
  for (const school of world.schools) world.people.push(await make.person({ school, groups: inside(school) }));
  for (const app of clients)
    for (const school of world.schools) await make.grant({ app, school, groups: inside(school) });
  return world;
}

/** Answers whether nothing was written. */
async function take(world: World, taken: Step): Promise<boolean> {
  const before = { groups: [...world.groups], people: [...world.people] };
  try {
    if ("signIn" in taken) await signIn(db, world, taken.signIn);
    else if ("client" in taken) {
      const clientId = world.clients[taken.client % world.clients.length]!;
      await withPrismaTransaction(db, (tx) =>
        updateApp(tx, { clientId, schulconnexSpelling: taken.schulconnexSpelling }, origin),
      );
    } else {
      await changeDirectory(db, origin, async (change) => {
        for (const each of taken.deeds) await act(change, world, each);
        if (taken.isGivenUp) throw new GivenUp();
      });
    }
    return "signIn" in taken;
  } catch (error) {
    if (!(error instanceof AppError || error instanceof GivenUp || (error as { code?: string }).code === "23503"))
      throw error;
    Object.assign(world, before);
    return true;
  }
}

async function listAll(world: World): Promise<Versioned[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    "SELECT id FROM affiliation WHERE person_id = ANY ($1) ORDER BY id",
    [world.people],
  );
  const lists = world.clients.flatMap((clientId): Versioned[] => [
    ...world.schools.flatMap((school) => [...listsOf({ clientId, school }), rosterOf({ clientId, school })]),
    ...world.people.flatMap((person) => listsOf({ clientId, person })),
    ...world.groups.flatMap(({ id: group }) => listsOf({ clientId, group })),
    ...rows.flatMap(({ id: affiliation }) => listsOf({ clientId, affiliation })),
  ]);
  return [...new Map(lists.map((list) => [keyOf(list), list])).values()];
}

const keyOf = ({ query, given }: Versioned) => JSON.stringify([query.name, given]);

test(
  "whatever happens, a version that was seen before has the items that it had",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, isFullRun ? { minLength: 8, maxLength: 16 } : { minLength: 6, maxLength: 6 }),
        async (steps) => {
          const world = await makeWorld();
          const seen = new Map<string, Map<string, string>>();
          const last = new Map<string, { version: string; changedAt: string }>();
          const look = async (isUnchanged: boolean) => {
            const lists = await listAll(world);
            const read = await readLists(db, lists);
            for (const [index, list] of lists.entries()) {
              const { version, shown, body, changedAt } = read[index]!;
              const key = keyOf(list);
              const answer = `${String(shown)} ${body}`;
              const bodies = seen.get(key) ?? new Map<string, string>();
              seen.set(key, bodies.set(version, bodies.get(version) ?? answer));
              expect(answer, `${list.label} ${version}`).toBe(bodies.get(version));
              const before = last.get(key);
              if (isUnchanged && before !== undefined) expect(version, list.label).toBe(before.version);
              if (before !== undefined)
                expect(
                  Math.sign(Date.parse(changedAt) - Date.parse(before.changedAt)),
                  `${list.label} ${changedAt}`,
                ).toBe(version === before.version ? 0 : 1);
              last.set(key, { version, changedAt });
            }
          };
          await look(false);
          for (const taken of steps) await look(await take(world, taken));
        },
      ),
      walks(4),
    );
  },
);

const versionsOf = async (lists: readonly Versioned[]) => (await readLists(db, lists)).map(({ version }) => version);

async function makeSchool(clientId: ClientId, people = 1) {
  const officialId = `DE-${Math.random().toString(36).slice(2)}`;
  const school = await make.school({ officialId });
  const group = await make.group({ school });
  const inside: PersonId[] = [];
  for (let n = 0; n < people; n++) inside.push(await make.person({ school, groups: [group] }));
  await make.grant({ app: clientId, school, groups: [group] });
  return { school, group, people: inside };
}

const inChange = <T>(work: Parameters<typeof changeDirectory<T>>[2]) => changeDirectory(db, origin, work);

test("every change of a row that lists show counts, by itself", async () => {
  const { clientId } = await make.app();
  const { school, group, people } = await makeSchool(clientId, 2);
  const other = await make.school();
  await make.grant({ app: clientId, school: other, groups: [] });
  const [person, second] = people as [PersonId, PersonId];
  const another = await make.group({ school });
  const ofApp = ["schools", "personen-info"];
  const ofSchool = ["people", "organisation.id", "personen-info"];
  const changes: [sql: string, lists: string[]][] = [
    [
      `INSERT INTO membership (group_id, person_id, school_id, role) VALUES ('${another}', '${person}', '${school}', 'STUDENT')`,
      ofSchool,
    ],
    [`UPDATE membership SET role = 'TEACHER' WHERE group_id = '${another}'`, ofSchool],
    [`DELETE FROM membership WHERE group_id = '${another}'`, ofSchool],
    [`UPDATE person SET first_call = 'Another' WHERE id = '${person}'`, ofSchool],
    [
      `INSERT INTO affiliation (id, person_id, school_id) VALUES (gen_random_uuid(), '${second}', '${other}')`,
      ofSchool,
    ],
    [
      `UPDATE affiliation SET id = gen_random_uuid() WHERE person_id = '${second}' AND school_id = '${other}'`,
      ofSchool,
    ],
    [`DELETE FROM affiliation WHERE person_id = '${second}' AND school_id = '${other}'`, ofSchool],
    [
      `INSERT INTO "group" (id, school_id, name, sort_key, type, created_at, updated_at) VALUES (gen_random_uuid(), '${school}', 'New', 'new', 'KURS', now(), now())`,
      ["groups"],
    ],
    [`UPDATE "group" SET name = 'Renamed' WHERE id = '${group}'`, [...ofSchool, "groups"]],
    [`DELETE FROM "group" WHERE school_id = '${school}' AND name = 'New'`, ["groups"]],
    [`UPDATE school SET city = 'Another' WHERE id = '${school}'`, ofApp],
    [
      `INSERT INTO synced_group (client_id, school_id, group_id) VALUES ('${clientId}', '${school}', '${another}')`,
      ofApp,
    ],
    [`DELETE FROM synced_group WHERE group_id = '${another}'`, ofApp],
    [
      `INSERT INTO grant_sign_on_group (client_id, school_id, group_id) VALUES ('${clientId}', '${school}', '${another}')`,
      ["users"],
    ],
    [`DELETE FROM grant_sign_on_group WHERE group_id = '${another}'`, ["users"]],
    [
      `UPDATE "grant" SET sign_on_audience = 'NOBODY' WHERE client_id = '${clientId}' AND school_id = '${school}'`,
      ["users"],
    ],
    [
      `INSERT INTO withheld_item (client_id, item, school_id, reason, since) VALUES ('${clientId}', 'PERSON_NAME', '${school}', 'SCHOOL', now())`,
      ofApp,
    ],
    [`DELETE FROM withheld_item WHERE client_id = '${clientId}'`, ofApp],
    [`DELETE FROM "grant" WHERE client_id = '${clientId}' AND school_id = '${other}'`, ofApp],
  ];
  const changing = new Set(changes.flatMap(([, labels]) => labels));
  const lists = listsOf({ clientId, school, person }).filter(({ label }) => changing.has(label));
  for (const [sql, labels] of changes) {
    const before = await versionsOf(lists);
    expect((await db.pool.query(sql)).rowCount, sql).toBe(1);
    const after = await versionsOf(lists);
    for (const label of labels) {
      const index = lists.findIndex((list) => list.label === label);
      expect(after[index], `${label}: ${sql}`).not.toBe(before[index]);
    }
  }
});

test("a row that goes from one school to another counts at both", async () => {
  const { clientId } = await make.app();
  const [here, there] = [await makeSchool(clientId), await makeSchool(clientId)];
  const guest = await make.person({ school: await make.school() });
  await db.pool.query("INSERT INTO affiliation (id, person_id, school_id) VALUES (gen_random_uuid(), $1, $2)", [
    guest,
    here.school,
  ]);
  const listsAt = (school: string) =>
    listsOf({ clientId, school: school as never }).filter(({ label }) => ["people", "users"].includes(label));
  const versions = () => Promise.all([here, there].map(({ school }) => versionsOf(listsAt(school))));
  const before = await versions();
  await db.pool.query("UPDATE affiliation SET school_id = $3 WHERE person_id = $1 AND school_id = $2", [
    guest,
    here.school,
    there.school,
  ]);
  const after = await versions();
  for (const at of [0, 1]) for (const list of [0, 1]) expect(after[at]![list]).not.toBe(before[at]![list]);
});

test("what changes at one school leaves the lists of another as they were", async () => {
  const { clientId } = await make.app();
  const [here, there] = [await makeSchool(clientId), await makeSchool(clientId)];
  const ofSchool = ["groups", "people", "users", "organisation.id"];
  const lists = listsOf({ clientId, school: here.school }).filter(({ label }) => ofSchool.includes(label));
  const before = await versionsOf(lists);
  await inChange((change) => renameGroup(change, { groupId: there.group, name: "Another" }));
  await inChange((change) => updatePerson(change, { personId: there.people[0]!, role: "TEACHER" }));
  expect(await versionsOf(lists)).toEqual(before);
  await inChange((change) => renameGroup(change, { groupId: here.group, name: "Another" }));
  for (const [index, version] of (await versionsOf(lists)).entries()) expect(version).not.toBe(before[index]);
});

test("a change or an import that writes nothing leaves every version as it was", async () => {
  const { clientId } = await make.app();
  const { school } = await makeSchool(clientId);
  const { run } = makeImporter(db);
  const roster =
    "id;role;first_name;call_name;last_name;classes;courses;status\n1;student;Ada;;Muster;5a;;\n2;student;Bo;;Bei;5a;;\n";
  await run(roster, { school });
  const lists = listsOf({ clientId, school });
  const before = await versionsOf(lists);
  await run(roster, { school });
  await inChange((change) => setSync(change, { clientId, schoolId: school, sync: true }));
  expect(await versionsOf(lists)).toEqual(before);
  await run(roster.replace("Bei", "Bai"), { school });
  expect(await versionsOf(lists)).not.toEqual(before);
});

test("changes of two schools that share people wait for no version of each other, and both count", async () => {
  const { clientId } = await make.app();
  const [here, there] = [await makeSchool(clientId), await makeSchool(clientId)];
  const shared = await make.person({ schools: [here.school, there.school], groups: [here.group, there.group] });
  const lists = listsOf({ clientId, school: here.school, person: shared });
  const before = await readLists(db, lists);
  const [one, two] = [await db.pool.connect(), await db.pool.connect()];
  const rename = (client: Queryable, group: GroupId, name: string) =>
    client.query(`UPDATE "group" SET name = $2 WHERE id = $1`, [group, name]);
  for (const client of [one, two]) await client.query("BEGIN; SET LOCAL lock_timeout = '5s'");
  await rename(one, here.group, "One");
  await rename(two, there.group, "Two");
  await one.query("COMMIT");
  const between = await readLists(db, lists);
  await two.query("COMMIT");
  for (const client of [one, two]) client.release();
  const after = await readLists(db, lists);
  const of = (label: string) =>
    [before, between, after].map((read) => read[lists.findIndex((list) => list.label === label)]!);
  for (const label of ["people", "pid", "organisation.id", "personen-info"]) {
    expect(new Set(of(label).map(({ version }) => version)).size, label).toBe(3);
    expect(new Set(of(label).map(({ body }) => body)).size, label).toBe(3);
    // The change that began first is committed last, and dated then.
    const times = of(label).map(({ changedAt }) => changedAt);
    expect(times, label).toEqual([...new Set(times)].sort());
  }
});

test("rows of versions do not pile up, and an app that is gone has none to compare", async () => {
  const { clientId } = await make.app();
  const { school, group } = await makeSchool(clientId);
  for (let n = 0; n < 5; n++) await inChange((change) => renameGroup(change, { groupId: group, name: `Name ${n}` }));
  const { rows } = await db.pool.query<{ subject: string; rows: number; version: number }>(
    "SELECT subject, count(*)::int AS rows, sum(version)::int AS version FROM view_version WHERE subject = ANY ($1) GROUP BY subject ORDER BY subject",
    [[`app:${clientId}`, `school:${school}`]],
  );
  expect(rows).toMatchObject([
    { subject: `app:${clientId}`, rows: 1 },
    { subject: `school:${school}`, rows: 1 },
  ]);
  expect(rows[1]!.version).toBeGreaterThanOrEqual(5);
  await deleteApp(db, clientId, { origin, forget: forgetApp });
  expect(await versionsOf(listsOf({ clientId, school }))).toEqual(Array(9).fill(null));
});
