import { createHmac, timingSafeEqual } from "node:crypto";
import type { OutboundPolicy } from "../../src/platform/outbound/guarded-request.ts";
import { silentLog, type Log } from "../../src/platform/telemetry/log.ts";
import { makeWebhooks, type EventType, type WebhookSettings } from "../../src/webhooks/index.ts";
import { registerEndpoint } from "./webhook-changes.ts";
import { insertEvents, type Told } from "./app-events.ts";
import { testDatabase, type TestDatabase } from "./database.ts";
import { atFileEnd } from "./file-end.ts";
import { makeMakers } from "./make.ts";
import type { Received } from "./receiver.ts";
import { makeTestClock, type TestClock } from "./service.ts";

export const keys = [Buffer.from("a key for tests that is 32 bytes")];
export const settings: WebhookSettings = {
  timeoutMs: 10_000,
  retrySeconds: [5, 300, 1800],
  disableAfterDays: 5,
  logDays: 30,
  concurrency: 512,
};
export const inside: OutboundPolicy = { allowPrivateAddresses: true };

export type WebhookWorld = {
  db: TestDatabase;
  clock: TestClock;
  app(): Promise<string>;
  endpoint(of: { clientId: string; url: string; eventTypes?: EventType[] }): Promise<{ id: string; secret: string }>;
  /** Writes events as a change would and commits them; answers their ids, which are the webhook-ids. */
  tell(...events: Told[]): Promise<string[]>;
  run(job: "fanOut" | "deliver" | "drop" | "sweep", signal?: AbortSignal): Promise<void>;
  /** Carries everything that is due to its receivers. */
  settle(): Promise<void>;
  /** Cuts off what is under way, as the end of a process would. */
  close(): Promise<void>;
};

type Wishes = {
  db?: TestDatabase;
  clock?: TestClock;
  settings?: Partial<WebhookSettings>;
  policy?: OutboundPolicy;
  log?: Log;
  random?: () => number;
};

/** The webhooks of a database of their own, with a clock that stands; jobs run when a test runs them. */
export async function startWebhooks(wishes: Wishes = {}): Promise<WebhookWorld> {
  const db = wishes.db ?? (await testDatabase());
  const clock = wishes.clock ?? makeTestClock();
  const make = makeMakers(db);
  const { jobs, close } = makeWebhooks({
    db,
    clock,
    log: wishes.log ?? silentLog,
    keys,
    policy: wishes.policy ?? inside,
    settings: { ...settings, ...wishes.settings },
    random: wishes.random ?? (() => 0.5),
  });
  atFileEnd(close);
  const run = (name: string, signal = new AbortController().signal) =>
    jobs.find((job) => job.name === `webhooks.${name}`)!.run(signal);
  return {
    db,
    clock,
    app: async () => (await make.app()).clientId,
    endpoint: ({ eventTypes = ["person", "group", "school"], ...of }) =>
      registerEndpoint(
        db,
        { eventTypes, ...of },
        { origin: { at: clock(), actorId: "test" }, keys, policy: wishes.policy ?? inside },
      ),
    tell: (...events) => insertEvents(db, clock(), events),
    run,
    async settle() {
      await run("fanOut");
      await run("deliver");
    },
    close,
  };
}

/** Verifies a request with nothing but the published contract: both signatures, from the secret as it was shown. */
export function verify({ headers, body }: Received, secret: string): { ep: boolean; standard: boolean } {
  const hex = createHmac("sha256", secret).update(body, "utf8").digest();
  const shown = Buffer.from(String(headers["x-ep-signature-sha256"]), "hex");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = `v1,${createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(signed)
    .digest("base64")}`;
  return {
    ep: shown.length === hex.length && timingSafeEqual(shown, hex),
    standard: String(headers["webhook-signature"]).split(" ").includes(expected),
  };
}
