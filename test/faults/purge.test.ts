import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { changeDirectory, recordSignIn } from "../../src/access/index.ts";
import { softDeletePerson, type PersonId } from "../../src/directory/index.ts";
import { hashId } from "../../src/sign-on/storage/artifact.ts";
import { makeStore } from "../../src/sign-on/storage/store.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { giveLogin } from "../support/token.ts";

vi.setConfig({ testTimeout: 120_000 });

const db = await testDatabase();
const make = makeMakers(db);
const kills = 6;
const start = new Date("2026-02-03T08:00:00Z");
const later = (days: number): Date => new Date(start.getTime() + days * 86_400_000);
const now = later(31);
// What is kept of somebody who is gone: that there was a deletion, and that it was told.
const kept = new Set(["app_event", "audit", "tombstone"]);

const softDelete = (personId: PersonId, at: Date) => changeDirectory(db, { at }, (change) => softDeletePerson(change, { personId, restoreWindowDays: 30 }));
const count = async (text: string, values: unknown[]): Promise<number> => (await db.pool.query<{ count: number }>(`SELECT count(*)::int ${text}`, values)).rows[0]!.count;

/** How many rows of each table name one of the people, found by the tables' own columns. */
async function listTraces(people: readonly PersonId[]): Promise<Record<string, number>> {
  const { rows } = await db.pool.query<{ table_name: string; column_name: string }>(`
    SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND (column_name LIKE '%person_id' OR column_name = 'subject_id' OR table_name || column_name = 'personid')
    ORDER BY 1, 2`);
  const traces: Record<string, number> = {};
  for (const { table_name: table, column_name: column } of rows) traces[`${table}.${column}`] = await count(`FROM "${table}" WHERE "${column}"::text = ANY ($1)`, [people]);
  return traces;
}

test(`kill -9 ${kills} times in the middle of the purge: whoever is due is gone for good, told of once, and nobody else is touched`, async () => {
  const [{ clientId }, school] = [await make.app(), await make.school()];
  const group = await make.group({ school });
  await make.grant({ app: clientId, school, groups: [group] });
  const makePerson = async (): Promise<PersonId> => {
    const person = await make.person({ school, groups: [group] });
    await giveLogin(db, person);
    await recordSignIn(db, { clientId, personId: person, at: start });
    for (const kind of ["Session", "RefreshToken", "AccessToken"]) {
      await makeStore(db).put({ kind, idHash: hashId(`${kind} ${person}`), payload: { kind }, clientId, personId: person, grantId: person, sessionUid: person, expiresAt: later(60) });
    }
    return person;
  };
  const due: PersonId[] = [];
  for (let n = 0; n < 150; n++) due.push(await makePerson());
  const waiting = [await makePerson(), await makePerson()];
  const staying = [await makePerson()];
  for (const person of due) await softDelete(person, start);
  for (const person of waiting) await softDelete(person, later(10));
  const others = await listTraces([...waiting, ...staying]);
  expect(Object.entries(others).filter(([, rows]) => rows > 0).map(([column]) => column)).toEqual(expect.arrayContaining(["credential.person_id", "membership.person_id", "oidc_artifact.person_id", "person.id", "sign_in.person_id"]));

  const left = () => count("FROM person WHERE id = ANY ($1)", [due]);
  const run = () => startProgram(["test/faults/purge-subject.ts"], { SUBJECT: JSON.stringify({ url: db.url, now }) });
  for (let kill = 0; kill < kills; kill++) {
    const before = await left();
    const { child, ended } = run();
    while ((await left()) > before - 5) await sleep(2);
    child.kill("SIGKILL");
    expect((await ended).signal).toBe("SIGKILL");
  }
  expect(await left()).toBeGreaterThan(0);
  expect((await run().ended).code).toBe(0);

  for (const [column, rows] of Object.entries(await listTraces(due))) {
    if (!kept.has(column.split(".")[0]!)) expect(rows, column).toBe(0);
  }
  expect(await count("FROM tombstone WHERE person_id = ANY ($1)", [due])).toBe(due.length);
  const { rows: told } = await db.pool.query<{ told: number }>(
    "SELECT count(*)::int AS told FROM app_event WHERE subject_id = ANY ($1) AND client_id = $2 AND at = $3 GROUP BY subject_id",
    [due, clientId, now],
  );
  expect(told).toEqual(due.map(() => ({ told: 1 })));
  expect(await count("FROM audit WHERE action = 'person_deleted' AND person_id::text = ANY ($1)", [due])).toBe(due.length);
  expect(await listTraces([...waiting, ...staying])).toEqual(others);
});
