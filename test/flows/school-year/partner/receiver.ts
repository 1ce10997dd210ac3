import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { components } from "../../../../generated/openapi/webhooks.ts";
import type { Hint } from "./records.ts";

type Schemas = components["schemas"];
type Event = Schemas["PersonEvent"] | Schemas["GroupEvent"] | Schemas["SchoolEvent"];

export type Receiver = { listener: RequestListener; settled(): Promise<void> };

type Wishes = { secret: string; take(hint: Hint): Promise<void>; retryMs?: number };

/**
 * Receives webhooks: checks the signature, writes the event down, confirms; the work comes after, one event at a time.
 *
 * Shape: `inbox` and `seen` are tables in a real app, written in one transaction; ids older than a day may go.
 *        `settled` ends when nothing is left to do.
 */
export function makeReceiver({ secret, take, retryMs = 1000 }: Wishes): Receiver {
  const seen = new Set<string>();
  const inbox: Event[] = [];
  let working: Promise<void> | null = null;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (!isGenuine(body, String(request.headers["x-ep-signature-sha256"]))) return void response.writeHead(401).end();
    const id = String(request.headers["webhook-id"]);
    if (!seen.has(id)) {
      seen.add(id);
      inbox.push(JSON.parse(body.toString()) as Event);
    }
    response.writeHead(204).end();
    if (inbox.length > 0) working ??= work();
  }

  function isGenuine(body: Buffer, signature: string): boolean {
    const expected = createHmac("sha256", secret).update(body).digest();
    const given = Buffer.from(signature, "hex");
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  async function work(): Promise<void> {
    for (let event = inbox[0]; event !== undefined; event = inbox[0]) {
      const isDone = await take(hintOf(event)).then(
        () => true,
        () => false,
      );
      if (isDone) inbox.shift();
      else await sleep(retryMs);
    }
    working = null;
  }

  return {
    listener: (request, response) => void receive(request, response).catch(() => response.destroy()),
    settled: () => working ?? Promise.resolve(),
  };
}

function hintOf(event: Event): Hint {
  const { action, updatedProperties } = event;
  switch (event.event) {
    case "person":
      return { type: "person", id: event.personId, action, updatedProperties };
    case "group":
      return { type: "group", id: event.groupId, action, updatedProperties };
    case "school":
      return { type: "school", id: event.schoolId, action, updatedProperties };
  }
}
