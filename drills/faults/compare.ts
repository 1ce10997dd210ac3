import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { getAppToken } from "../../test/support/token.ts";
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
  const [api, pending] = [await listPeople(url, world), await countPending(database.url())];
  const first = [...api].filter((id) => !load.acknowledged.has(id) && !receiver.people.has(id));
  const { received, repeated } = receiver.counts();
  console.log(
    `\n${load.acknowledged.size} people acknowledged, ${api.size} in the API, ${receiver.people.size} at the receiver; ${received} webhooks, ${repeated} of them repeated; ${load.used.codes} codes and ${load.used.refreshes} refresh tokens used.`,
  );
  return [
    ...new Set(load.wrongs),
    ...(pending > 0 ? [`${pending} deliveries still wait`] : []),
    ...(missing(load.acknowledged, api) > 0 ? [`${missing(load.acknowledged, api)} acknowledged people are lost`] : []),
    // The person who signs in was there before the receiver.
    ...(first.length > 1 ? [`${first.length - 1} people of the API are unknown to the receiver`] : []),
    ...(missing(receiver.people, api) > 0 ? [`the receiver has ${missing(receiver.people, api)} people too many`] : []),
    ...(missing(load.acknowledged, receiver.people) > 0
      ? [`the receiver lacks ${missing(load.acknowledged, receiver.people)} acknowledged people`]
      : []),
  ];
}

/** The people that the app sees. */
export async function listPeople(url: string, world: World): Promise<Set<string>> {
  const token = await getAppToken({ url }, world.app, ["people:read"]);
  const response = await fetch(`${url}/idm/ep/v1/schools/${world.school}/people`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Set(((await response.json()) as { id: string }[]).map(({ id }) => id));
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

const missing = (of: Set<string>, from: Set<string>): number => [...of].filter((id) => !from.has(id)).length;
