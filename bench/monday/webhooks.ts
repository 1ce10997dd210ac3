import { request } from "undici";
import { readConfig } from "../../src/config/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { registerEndpoint } from "../../test/support/webhook-changes.ts";
import { insertEvents } from "../../test/support/app-events.ts";
import { makeMakers } from "../../test/support/make.ts";
import type { Subject } from "../harness.ts";

export type Events = {
  /** Commits one event. */
  send(n: number): Promise<void>;
  /** How long those sent so far took from commit to receiver, in order; one that is missing took for ever. */
  read(): Promise<number[]>;
};

/** Events of some apps that the receiver is told of. */
export async function openEvents(db: PrismaDb, receiver: Subject, apps = 5): Promise<Events> {
  const { encryptionKeys: keys } = readConfig({ NODE_ENV: "development" });
  const [make, clientIds] = [makeMakers(db), [] as string[]];
  for (let n = 0; n < apps; n++) {
    const { clientId } = await make.app();
    const endpoint = { clientId, url: `${receiver.url}/hook/${n}`, eventTypes: ["person" as const] };
    await registerEndpoint(db, endpoint, {
      origin: { at: new Date() },
      keys,
      policy: { allowPrivateAddresses: true },
    });
    clientIds.push(clientId);
  }
  const sent = new Map<string, number>();
  return {
    async send(n) {
      const [id] = await insertEvents(db, new Date(), [{ clientId: clientIds[n % apps]! }]);
      sent.set(id!, Date.now());
      await db.pool.query("NOTIFY app_event");
    },
    async read() {
      let times = new Map<string, number>();
      const end = performance.now() + 30_000;
      while (![...sent.keys()].every((id) => times.has(id)) && performance.now() < end) {
        const { body } = await request(`${receiver.url}/times`);
        times = new Map((await body.json()) as [string, number][]);
      }
      const took = [...sent].map(([id, time]) => (times.get(id) ?? Number.POSITIVE_INFINITY) - time);
      sent.clear();
      return took.sort((a, b) => a - b);
    },
  };
}
