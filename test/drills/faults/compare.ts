import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { getAppToken } from "../../support/token.ts";
import { findDifferences, viewOfApp, type PersonRecord } from "./contents.ts";
import type { Load } from "./load.ts";
import type { Receiver, World } from "./world.ts";

const patienceMs = 120_000;

type Compared = {
  database: { url(): string };
  load: Load;
  world: World;
  receiver: Receiver;
  url: string;
};

/** Waits until nothing waits to be sent, and answers what differs. */
export async function compare({ database, load, world, receiver, url }: Compared): Promise<string[]> {
  const end = performance.now() + patienceMs;
  while ((await countPending(database.url())) > 0 && performance.now() < end) await sleep(500);
  const [app, pending] = [await listPeople(url, world), await countPending(database.url())];
  const api = new Set(app.keys());
  const acknowledged = new Set(load.acknowledged.keys());
  const first = [...api].filter((id) => !acknowledged.has(id) && !receiver.people.has(id));
  const undone = [...load.deleted].filter((id) => api.has(id)).length;
  const { received, repeated } = receiver.counts();
  console.log(
    `\n${acknowledged.size} people acknowledged, ${api.size} in the API, ${receiver.people.size} at the receiver; ${received} webhooks, ${repeated} of them repeated; ${load.used.codes} codes and ${load.used.refreshes} refresh tokens used.`,
  );
  return [
    ...new Set(load.wrongs),
    ...load.serverErrors.wrongs(),
    ...(pending > 0 ? [`${pending} deliveries still wait`] : []),
    ...(await compareContents(url, { world, load, app })),
    ...(undone > 0 ? [`${undone} acknowledged deletions are undone`] : []),
    // The person who signs in was there before the receiver.
    ...(first.length > 1 ? [`${first.length - 1} people of the API are unknown to the receiver`] : []),
    ...(missing(receiver.people, api) > 0 ? [`the receiver has ${missing(receiver.people, api)} people too many`] : []),
    ...(missing(acknowledged, receiver.people) > 0
      ? [`the receiver lacks ${missing(acknowledged, receiver.people)} acknowledged people`]
      : []),
  ];
}

type Given = { world: World; load: Pick<Load, "acknowledged">; app: ReadonlyMap<string, PersonRecord> };

/** Compares each field of each acknowledged record with what staff and the app read now. */
export async function compareContents(url: string, { world, load, app }: Given): Promise<string[]> {
  const token = await getAppToken({ url }, world.staff, ["admin:read"]);
  const differences = [];
  for (const [id, { record, unanswered }] of load.acknowledged) {
    const found = await get(`${url}/admin/v1/people/${id}`, token);
    differences.push(...findDifferences({ record, unanswered }, found));
    const seen = app.get(id) ?? null;
    const view = { record: viewOfApp(record), unanswered };
    differences.push(...findDifferences(view, seen && viewOfApp(seen)).map((line) => `the app sees: ${line}`));
  }
  return differences;
}

async function get(address: string, token: string): Promise<PersonRecord | null> {
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  const body = (await response.json()) as PersonRecord;
  return response.ok ? body : null;
}

/** The people that the app sees. */
export async function listPeople(url: string, world: World): Promise<Map<string, PersonRecord>> {
  const token = await getAppToken({ url }, world.app, ["people:read"]);
  const response = await fetch(`${url}/idm/ep/v1/schools/${world.school}/people`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Map(((await response.json()) as PersonRecord[]).map((person) => [person.id, person]));
}

/** How many events and deliveries wait. */
export async function countPending(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client
    .query<{ pending: number }>(
      `SELECT (SELECT count(*) FROM webhook_delivery WHERE state = 'PENDING')::int
         + (SELECT count(*) FROM app_event, webhook_fan_out f WHERE app_event.position IS NULL OR app_event.position > f.position)::int
         AS pending`,
    )
    .finally(() => client.end());
  return rows[0]!.pending;
}

const missing = (of: ReadonlySet<string>, from: ReadonlySet<string>): number =>
  [...of].filter((id) => !from.has(id)).length;
