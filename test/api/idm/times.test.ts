import { expect, test } from "vitest";
import { changeDirectory, updateApp, type ClientId } from "../../../src/access/index.ts";
import { updatePerson, type PersonId, type SchoolId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { makeImporter } from "../../imports/rosters.ts";
import { idmScopes, makeReader, type Read } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken } from "../../support/token.ts";

// The headers that say when something visible last changed, and when the school's source was last read.

const service = await startService();
const make = makeMakers(service.db);
let at = Date.parse("2026-02-03T08:00:00Z");
const importer = makeImporter(service.db, () => ({ at: new Date((at += 60_000)), actorId: "test" }));
const origin = { at: new Date("2026-02-03T08:00:00Z"), actorId: "test", allowLoopbackHttp: true };
const roster = (last: string) =>
  `id;role;first_name;call_name;last_name;classes;courses;status\n1;student;Ada;;${last};5a;;\n`;

type World = {
  clientId: ClientId;
  school: SchoolId;
  read: (path: string, headers?: Record<string, string>) => Promise<Read>;
};
async function startWorld(): Promise<World> {
  const app = await make.app();
  const school = await make.school();
  await importer.run(roster("Muster"), { school });
  const { rows } = await service.db.pool.query<{ id: string }>(`SELECT id FROM "group" WHERE school_id = $1`, [school]);
  await make.grant({ app: app.clientId, school, groups: rows.map(({ id }) => id as never) });
  return { clientId: app.clientId, school, read: makeReader(service, await issueAppToken(service, app, idmScopes)) };
}

const people = ({ school }: World) => `/idm/ep/v1/schools/${school}/people`;
async function paths(world: World) {
  const [person] = (await world.read(people(world))).body as { id: PersonId; groups: { id: string }[] }[];
  const ofSchool = [
    people(world),
    ...["users", "groups", "roster"].map((list) => `/idm/ep/v1/schools/${world.school}/${list}`),
  ];
  const ofPerson = [`/idm/ep/v1/people/${person!.id}`, `/idm/ep/v1/users/${person!.id}`];
  const ofSome = [`/idm/ep/v1/schools/${world.school}`, `/idm/ep/v1/groups/${person!.groups[0]!.id}`];
  return {
    person: person!.id,
    inside: [...ofSchool, `${people(world)}?limit=1`, ...ofPerson, ...ofSome, "/idm/schulconnex/v1/personen-info"],
    overall: ["/idm/ep/v1/schools", "/idm/ep/v1/changes"],
  };
}

const timesOf = ({ headers }: Read) => ({
  changed: headers.get("schultor-visible-change"),
  read: headers.get("schultor-source-read"),
});
const readAll = async (world: World, all: string[]) =>
  Object.fromEntries(await Promise.all(all.map(async (path) => [path, timesOf(await world.read(path))] as const)));

const world = await startWorld();

test("a roster without changes is a new reading of the source and leaves one row; one with changes is told with them", async () => {
  const world = await startWorld();
  const { inside, overall } = await paths(world);
  const all = [...inside, ...overall];
  const before = await Promise.all(all.map((path) => world.read(path)));
  await importer.run(roster("Muster"), { school: world.school });
  for (const [index, path] of all.entries()) {
    const first = before[index]!;
    const again = await world.read(path, { "if-none-match": first.headers.get("etag")! });
    expect([path, again.status, timesOf(again)]).toEqual([
      path,
      304,
      { changed: timesOf(first).changed, read: new Date(at).toISOString() },
    ]);
  }
  const { rows } = await service.db.pool.query<{ rows: number }>(
    "SELECT count(*)::int AS rows FROM view_version WHERE subject = ANY ($1) GROUP BY subject",
    [[`app:${world.clientId}`, `school:${world.school}`]],
  );
  expect(rows).toEqual([{ rows: 1 }, { rows: 1 }]);

  await importer.run(roster("Beispiel"), { school: world.school });
  const after = await world.read(people(world));
  expect(after.headers.get("etag")).not.toBe(before[0]!.headers.get("etag"));
  expect(timesOf(after).read).toBe(new Date(at).toISOString());
  expect(timesOf(after).changed! > timesOf(before[0]!).changed!).toBe(true);
});

test("a change at the school advances the time of everything that can show it", async () => {
  const { person, inside, overall } = await paths(world);
  const before = await readAll(world, [...inside, ...overall]);
  await changeDirectory(service.db, origin, (change) => updatePerson(change, { personId: person, role: "TEACHER" }));
  const after = await readAll(world, [...inside, ...overall]);
  for (const path of inside) expect(after[path]!.changed! > before[path]!.changed!, path).toBe(true);
  for (const path of overall) expect(after[path], path).toEqual(before[path]);
});

test("a change of the app's registration advances the time of every read", async () => {
  const { inside, overall } = await paths(world);
  const before = await readAll(world, [...inside, ...overall]);
  await withPrismaTransaction(service.db, (tx) =>
    updateApp(tx, { clientId: world.clientId, attributes: ["PERSON_NAME"] }, origin),
  );
  const after = await readAll(world, [...inside, ...overall]);
  for (const path of [...inside, ...overall]) expect(after[path]!.changed! > before[path]!.changed!, path).toBe(true);
});

test("a school whose source was never read has no time of it, and another school's is not told", async () => {
  const own = await make.school();
  await make.grant({ app: world.clientId, school: own });
  expect(timesOf(await world.read(`/idm/ep/v1/schools/${own}`)).read).toBeNull();
  const before = timesOf(await world.read("/idm/ep/v1/schools")).read;
  await importer.run(roster("Muster"), { school: await make.school() });
  expect(timesOf(await world.read("/idm/ep/v1/schools")).read).toBe(before);
});

test("pages of other origins may read both headers", async () => {
  const response = await fetch(`${service.url}/idm/ep/v1/schools`, { headers: { origin: "https://app.example" } });
  expect(response.headers.get("access-control-expose-headers")).toMatch(
    /Schultor-Visible-Change, Schultor-Source-Read/,
  );
});
