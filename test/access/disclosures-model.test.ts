// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  appAttributes,
  changeDirectory,
  listDisclosures,
  personHasShownSchool,
  personIsSynced,
  updateApp,
  userIsShown,
} from "../../src/access/index.ts";
import type { AppAttribute, ClientId, Disclosure, ScopeName } from "../../src/access/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { findRows, sql, statement, table } from "../../src/platform/database/sql.ts";
import { AppError } from "../../src/platform/errors.ts";
import { schoolsOf, withoutWithheld } from "../../src/access/withheld-sql.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walkTimeoutMs, walks } from "../support/walks.ts";
import { act, deed, signIn } from "./events-world.ts";
import type { World } from "./events-world.ts";

// Whatever happens, the history of a person says of each moment what each app could read then.

const db = await testDatabase();
const start = Date.parse("2026-02-03T08:00:00Z");
const make = makeMakers(db, new Date(start));
const at = (minute: number) => new Date(start + minute * 60_000);

const scopes = ["profile", "users:read", "groups:read", "people:read"] as const satisfies ScopeName[];
const registration = fc.record({
  client: fc.nat(5),
  scopes: fc.subarray([...scopes]),
  attributes: fc.subarray([...appAttributes]),
});
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ deeds: fc.array(deed, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ signIn: deed }) },
  { weight: 1, arbitrary: fc.record({ registration }) },
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

async function makeWorld(): Promise<World> {
  const clients = [
    (await make.app()).clientId,
    (await make.app({ subjectType: "APP", scopes: ["users:read"] })).clientId,
  ];
  const world: World = { clients, schools: [await make.school(), await make.school()], groups: [], people: [] };
  for (const school of world.schools) {
    for (let n = 0; n < 3; n++) world.groups.push({ id: await make.group({ school }), school });
    const groups = world.groups.filter((group) => group.school === school).map(({ id }) => id);
    for (const role of ["STUDENT", "TEACHER"] as const)
      world.people.push(await make.person({ school, role, groups: groups.slice(0, 2) }));
  }
  await make.grant({ app: clients[0]!, school: world.schools[0]!, groups: [world.groups[0]!.id] });
  return world;
}

/** The history begins here: what could be read before has no row. */
async function beginHistory(): Promise<void> {
  await db.pool.query("DELETE FROM disclosure_period");
  await db.pool.query("DELETE FROM registration_period WHERE until IS NOT NULL");
  await db.pool.query("UPDATE registration_period SET since = $1", [at(0)]);
  await db.pool.query("UPDATE event_feed SET history_began_at = $1", [at(0)]);
}

async function take(world: World, taken: Step, now: Date, openMs = 0): Promise<void> {
  const before = { groups: [...world.groups], people: [...world.people] };
  const origin = { at: now, actorId: "test", allowLoopbackHttp: true };
  try {
    if ("signIn" in taken) await signIn(db, world, taken.signIn, now);
    else if ("registration" in taken) {
      const { client, ...change } = taken.registration;
      const clientId = world.clients[client % world.clients.length]!;
      await withPrismaTransaction(db, (tx) => updateApp(tx, { clientId, ...change }, origin));
    } else
      await changeDirectory(db, origin, async (change) => {
        for (const each of taken.deeds) await act(change, world, each);
        if (openMs > 0) await change.tx.query("SELECT pg_sleep($1::float / 1000)", [openMs]);
      });
  } catch (error) {
    // Nobody signs in who is gone for good.
    if (!(error instanceof AppError || (error as { code?: string }).code === "23503")) throw error;
    Object.assign(world, before);
  }
}

type Readable = {
  clientId: ClientId;
  personId: PersonId;
  isUser: boolean;
  isPerson: boolean;
  seesSchool: boolean;
  scopes: ScopeName[];
  attributes: AppAttribute[];
};
const p = table("person", "p");
const app = table("app", "app");
const selectReadable = statement<{ clients: readonly ClientId[] }>(
  ({ clients }) => sql`
  SELECT ${app.clientId} AS "clientId", ${p.id} AS "personId", 
    ${withoutWithheld(app.clientId, app.scopes, schoolsOf(p.id))} AS scopes,
    ${withoutWithheld(app.clientId, app.attributes, schoolsOf(p.id))} AS attributes,
    ${userIsShown(app.clientId, p)} AS "isUser", ${personIsSynced(app.clientId, p)} AS "isPerson",
    ${personHasShownSchool(app.clientId, p.id)} AS "seesSchool"
  FROM ${app} CROSS JOIN ${p} WHERE ${app.clientId} = ANY (${clients})`,
  "test.readable",
);

function attributesOf({ isUser, isPerson, seesSchool, scopes: own, attributes }: Readable): string[] {
  const asUser = isUser && own.includes("users:read") ? ["name", "role", "status"] : [];
  const atSchool = asUser.length > 0 && seesSchool ? ["groups", "schools"] : [];
  const asMember = isPerson && own.includes("groups:read") ? ["name", "role", "groups", "schools"] : [];
  const asPerson =
    isPerson && own.includes("people:read")
      ? ["name", "role", "status", "groups", "schools", "sourceSystemIdentifier"]
      : [];
  const missing = new Set([
    ...(attributes.includes("PERSON_NAME") ? [] : ["name"]),
    ...(attributes.includes("SOURCE_SYSTEM_IDENTIFIER") ? [] : ["sourceSystemIdentifier"]),
  ]);
  return [...new Set([...asUser, ...atSchool, ...asMember, ...asPerson])].filter((name) => !missing.has(name)).sort();
}

/** What each app can read of each person now, by person and app. */
async function readNow({ clients }: World): Promise<Map<string, string[]>> {
  const rows = await findRows<Readable, { clients: readonly ClientId[] }>(db.pool, selectReadable, { clients });
  return new Map(rows.map((row) => [`${row.personId} ${row.clientId}`, attributesOf(row)]));
}

const recordedAt = (disclosure: Disclosure | undefined, time: Date): string[] =>
  (disclosure?.periods ?? [])
    .filter(({ since, until }) => since <= time && (until === null || until > time))
    .flatMap(({ attributes }) => attributes)
    .sort();

async function expectHistory(world: World, seen: readonly { time: Date; readable: Map<string, string[]> }[]) {
  const { rows } = await db.pool.query<{ id: PersonId }>("SELECT id FROM person WHERE id = ANY ($1)", [world.people]);
  for (const { id: personId } of rows) {
    const disclosures = await listDisclosures(db.pool, { personId, now: new Date(start) });
    for (const clientId of world.clients) {
      const own = disclosures.find((one) => one.clientId === clientId);
      for (const { time, readable } of seen)
        expect([time, recordedAt(own, time)]).toEqual([time, readable.get(`${personId} ${clientId}`) ?? []]);
    }
  }
  const { rowCount } = await db.pool.query(
    "SELECT FROM disclosure_period WHERE NOT EXISTS (SELECT FROM person WHERE id = person_id)",
  );
  expect(rowCount, "rows of people who were deleted for good").toBe(0);
}

test("the history of a person says what each app could read at each moment", { timeout: walkTimeoutMs }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const world = await makeWorld();
      await beginHistory();
      const seen = [{ time: at(1), readable: await readNow(world) }];
      for (const [index, taken] of steps.entries()) {
        await take(world, taken, at(index + 2));
        seen.push({ time: at(index + 2), readable: await readNow(world) });
      }
      await expectHistory(world, seen);
    }),
    walks(4, 1),
  );
});

test("the history is right after sign-ins in the middle of changes", { timeout: walkTimeoutMs }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, step, step), { minLength: 5, maxLength: 10 }), async (rounds) => {
      const world = await makeWorld();
      await beginHistory();
      for (const [index, round] of rounds.entries()) {
        await Promise.all(round.map((taken) => take(world, taken, at(index + 2), 5)));
        await expectHistory(world, [{ time: at(index + 2), readable: await readNow(world) }]);
      }
    }),
    walks(4, 1),
  );
});
