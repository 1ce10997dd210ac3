import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Database } from "./database.ts";
import { canSetClocks, type Member } from "./members.ts";
import type { Relay } from "./relay.ts";

export type Stage = { database: Database; relay: Relay; members: Member[]; random: () => number };

/**
 * A fault that is there for a while.
 *
 * Shape: `isPossible` is false where the machine lacks what it needs; with `takesDatabase` the service cannot use the
 *        database meanwhile.
 */
type Kind = { isPossible?(stage: Stage): boolean; takesDatabase?: true; run(stage: Stage): Promise<void> };

const holdMs = 3000;

/** One of the processes, of a role where one is given. */
function oneOf({ members, random }: Stage, role?: Member["role"]): Member {
  const fit = members.filter((member) => role === undefined || member.role === role);
  return fit[Math.floor(random() * fit.length)]!;
}

async function during(begin: () => unknown, end: () => unknown): Promise<void> {
  await begin();
  await sleep(holdMs).finally(end);
}

async function exhaustConnections(url: string): Promise<void> {
  const clients: pg.Client[] = [];
  for (let isFree = true; isFree;) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    isFree = await client.connect().then(
      () => clients.push(client) < 200,
      () => false,
    );
  }
  await sleep(holdMs);
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
}

async function setServer({ database }: Stage, settings: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url() });
  client.on("error", () => undefined);
  await client.connect();
  for (const setting of settings.split("; ")) await client.query(setting);
  await client.query("SELECT pg_reload_conf()").finally(() => client.end());
}

async function stepClock(stage: Stage, offsetSeconds: number): Promise<void> {
  const member = oneOf(stage);
  await during(
    () => member.setClock(offsetSeconds),
    () => member.setClock(0),
  );
}

export const kinds: Readonly<Record<string, Kind>> = {
  "kill-web": { run: async (stage) => oneOf(stage, "web").signal("SIGKILL") },
  "kill-worker": { run: async (stage) => oneOf(stage, "worker").signal("SIGKILL") },
  "restart-web": { run: async (stage) => oneOf(stage, "web").signal("SIGTERM") },
  "restart-worker": { run: async (stage) => oneOf(stage, "worker").signal("SIGTERM") },
  "kill-postgres": { takesDatabase: true, run: async ({ database }) => database.kill() },
  "restart-postgres": { takesDatabase: true, run: ({ database }) => database.restart() },
  "cut-connections": { takesDatabase: true, run: async ({ relay }) => void relay.cut() },
  "exhaust-connections": { takesDatabase: true, run: ({ database }) => exhaustConnections(database.url()) },
  "disk-full": {
    takesDatabase: true,
    isPossible: ({ database }) => database.hasOwnDisk,
    run: ({ database }) => during(database.fillDisk, database.emptyDisk),
  },
  "slow-network": {
    run: ({ relay }) =>
      during(
        () => relay.delay(300),
        () => relay.delay(0),
      ),
  },
  // Every commit waits as for a disk that takes so long.
  "slow-disk": {
    run: (stage) =>
      during(
        () => setServer(stage, "ALTER SYSTEM SET commit_delay = 100000; ALTER SYSTEM SET commit_siblings = 0"),
        () => setServer(stage, "ALTER SYSTEM RESET commit_delay; ALTER SYSTEM RESET commit_siblings"),
      ),
  },
  "slow-dns": {
    run: async (stage) => {
      const member = oneOf(stage, "worker");
      await during(
        () => member.setDnsDelay(2000),
        () => member.setDnsDelay(0),
      );
    },
  },
  "clock-forward": { isPossible: () => canSetClocks, run: (stage) => stepClock(stage, 3600) },
  "clock-back": { isPossible: () => canSetClocks, run: (stage) => stepClock(stage, -3600) },
};
