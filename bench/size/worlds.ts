import type { PersonId } from "../../src/directory/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { openBenchDatabase } from "../database.ts";
import { fillWorld } from "../world/fill.ts";

/** One of two databases that differ in size only. Units: `people` counts those of the database. */
export type World = { people: number; url: string; db: PrismaDb; close(): Promise<void> };

/** The app that every school syncs with and lets everybody sign in to. */
export const everywhere = "app-00";

/**
 * A database with a world: the one of the address, filled unless it has people, or one of its own that is gone after
 * the run.
 */
export async function openWorld(url: string | undefined, people: number): Promise<World> {
  const { close, ...database } = await openBenchDatabase(url);
  try {
    const found = await countPeople(database.db);
    if (found > 0) return { ...database, close, people: found };
    await fillWorld(database.db, { people, seed: 1, signIns: 20, until: new Date() }, (line) => console.error(line));
    return { ...database, close, people };
  } catch (error) {
    await close();
    throw error;
  }
}

async function countPeople({ pool }: PrismaDb): Promise<number> {
  const { rows } = await pool.query<{ count: number }>("SELECT count(*)::int AS count FROM person");
  return rows[0]!.count;
}

/** What is asked for, chosen by chance over the whole world. */
export type Sample = {
  schools: string[];
  groups: string[];
  people: string[];
  /** People to change, each once. */
  changed: PersonId[];
  /** Of people with one school who signed in to the app before. */
  usernames: string[];
  /** Of the `SCHOOL_ADMIN` of each of the schools. */
  admins: string[];
};

export async function takeSample(world: World): Promise<Sample> {
  const column = async (sql: string): Promise<string[]> => {
    const { rows } = await world.db.pool.query<{ value: string }>(
      `SELECT value FROM (${sql}) AS found ORDER BY md5(value)`,
    );
    return rows.map(({ value }) => value);
  };
  const schools = (await column("SELECT id::text AS value FROM school ORDER BY random() LIMIT 10")).sort();
  const admin = await world.db.pool.query<{ username: string }>(
    `SELECT c.username FROM staff_role_school s JOIN staff_role r ON r.id = s.role_id JOIN credential c USING (person_id)
     WHERE s.school_id = ANY ($1) ORDER BY s.school_id`,
    [schools],
  );
  // A share of the rows, so that nothing as large as the table is sorted.
  const share = Math.min(100, 600_000 / world.people);
  const people = await column(
    `SELECT id::text AS value FROM person TABLESAMPLE BERNOULLI (${String(share)}) WHERE status = 'ACTIVE' LIMIT 5000`,
  );
  return {
    schools,
    admins: admin.rows.map(({ username }) => username),
    groups: await column("SELECT id::text AS value FROM \"group\" WHERE status = 'ACTIVE' ORDER BY random() LIMIT 500"),
    people: people.slice(0, 500),
    changed: people.slice(500, 1500) as PersonId[],
    usernames: await column(
      `SELECT username AS value FROM credential c JOIN person p ON p.id = c.person_id JOIN sign_in s USING (person_id)
       WHERE s.client_id = '${everywhere}' AND p.status = 'ACTIVE' AND p.blocked_at IS NULL
         AND (SELECT count(*) FROM affiliation a WHERE a.person_id = p.id) = 1
         AND p.id = ANY ('{${people.join()}}'::uuid[]) LIMIT 200`,
    ),
  };
}
