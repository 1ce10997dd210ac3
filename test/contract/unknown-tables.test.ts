// @module-tag slow
import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { softDeletePerson } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeClassroom, signInByList } from "../support/class-list.ts";
import { countRead, explainQuery, listScanned, recordQueries, type Query } from "../support/explain.ts";
import { fillDatabase, findFilled } from "../support/fill.ts";
import { startService } from "../support/service.ts";
import { setKnownRows } from "../support/statistics.ts";
import { exchange, getAppToken, giveLogin, postToken, signOn } from "../support/token.ts";

// PostgreSQL knows nothing of a table that was just filled, restored or upgraded.

const size = { schools: 40, people: 10_000 };
const mostRows = 1500;
const db = await testDatabase();
const service = await startService({ db });

async function signInAndWork(): Promise<void> {
  const room = await makeClassroom(service);
  const app = await room.make.app({ scopes: ["openid", "offline_access", "users:read"] });
  await room.make.grant({ app: app.clientId, school: room.school, signOn: "EVERYBODY" });
  const pupil = await room.makeReadyPupil("Ada");
  await signInByList(await room.openDevice(), "Ada M.");
  const known = await room.make.person({ school: room.school, groups: [room.group] });
  const login = await giveLogin(db, known);
  const browser = makeBrowser(service.url);
  for (let n = 0; n < 2; n++) {
    const signedOn = await signOn(service, app, login, { scopes: ["openid", "offline_access"], browser });
    const { body } = await exchange(service, app, signedOn);
    expect(body.refresh_token).toBeTruthy();
    await postToken(service, app, { grant_type: "refresh_token", refresh_token: body.refresh_token! });
  }
  const token = await getAppToken(service, app, ["users:read"]);
  await fetch(`${service.url}/idm/ep/v1/users/${known}`, { headers: { authorization: `Bearer ${token}` } });
  const { person } = await findFilled(db, 900);
  const at = service.clock();
  for (const personId of [pupil.personId, person])
    await changeDirectory(db, { at, actorId: "test" }, (change) =>
      softDeletePerson(change, { personId, restoreWindowDays: 0 }),
    );
  service.clock.forwardSeconds(60);
  for (const name of ["webhooks.fanOut", "directory.purgePeople", "connections.run"]) await service.runJob(name);
}

const tables = async (where: string): Promise<string[]> => {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND ${where}`,
  );
  return rows.map(({ name }) => name);
};

test("no sign-on, change, fan-out or purge reads a table from end to end of which PostgreSQL knows nothing", async () => {
  await fillDatabase(db, size);
  const large = new Set(await tables("reltuples > 5000"));
  const all = await tables("true");
  const seen = await recordQueries(/\b(FROM|INTO|UPDATE)\b/, signInAndWork);
  const asked = new Map(seen.map((query) => [query.text, query]));
  expect(asked.size).toBeGreaterThan(60);
  const faults: string[] = [];
  await setKnownRows(db, all, "never");
  for (const query of asked.values())
    for (const mode of ["force_custom_plan", "force_generic_plan"] as const)
      faults.push(...(await findFaults(query, mode, large)).map((fault) => `${mode}: ${fault}`));
  expect(faults).toEqual([]);
});

async function findFaults(query: Query, mode: "force_custom_plan" | "force_generic_plan", large: Set<string>) {
  const plan = await explainQuery(db, query, mode).catch(() => null);
  if (plan === null) return [];
  const scanned = listScanned(plan).filter((name) => large.has(name));
  const rows = countRead(plan);
  return scanned.length > 0 || rows > mostRows ? [`${rows} rows, all of ${scanned.join()}: ${query.text}`] : [];
}
