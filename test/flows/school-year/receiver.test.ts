import { createHmac } from "node:crypto";
import { request } from "node:http";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { makeReceiver, type Receiver } from "./partner/receiver.ts";
import type { Hint } from "./partner/records.ts";
import { serve } from "./serve.ts";

const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
let receiver: Receiver;
let url: string;
let taken: string[];
/** How many of the next readings fail. */
let failing: number;

beforeAll(async () => {
  url = await serve((request, response) => receiver.listener(request, response));
});
beforeEach(() => {
  [taken, failing] = [[], 0];
  const take = async ({ type, id, action }: Hint) => {
    if (failing-- > 0) throw new Error("the API is away");
    taken.push(`${type} ${id} ${action}`);
  };
  receiver = makeReceiver({ secret, take, retryMs: 1 });
});

async function post(event: object, { id = JSON.stringify(event), key = secret } = {}): Promise<number> {
  const body = JSON.stringify(event);
  const signature = createHmac("sha256", key).update(body).digest("hex");
  return (await fetch(url, { method: "POST", headers: { "x-ep-signature-sha256": signature, "webhook-id": id }, body }))
    .status;
}

const [ada, bo] = [
  { event: "person", action: "create", personId: "ada" },
  { event: "person", action: "delete", personId: "bo" },
];

test("what is signed with another secret, or not at all, is refused and not worked on", async () => {
  expect(await post(ada, { key: "whsec_other" })).toBe(401);
  expect((await fetch(url, { method: "POST", body: JSON.stringify(ada) })).status).toBe(401);
  await receiver.settled();
  expect(taken).toEqual([]);
});

test("an event is worked on once, however often it comes", async () => {
  for (let time = 0; time < 3; time++) expect(await post(ada, { id: "one" })).toBe(204);
  expect(await post(ada, { id: "two" })).toBe(204);
  await receiver.settled();
  expect(taken).toEqual(["person ada create", "person ada create"]);
});

test("an event that cannot be worked on is confirmed and tried again before the next one", async () => {
  failing = 2;
  expect([await post(ada), await post(bo)]).toEqual([204, 204]);
  await receiver.settled();
  expect(taken).toEqual(["person ada create", "person bo delete"]);
});

test("a request that breaks off does no harm", async () => {
  const half = request(url, { method: "POST", headers: { "content-length": 100 } });
  const isBroken = new Promise((resolve) => half.once("error", resolve));
  half.write("{");
  setTimeout(() => half.destroy(new Error("broken off")), 20);
  await isBroken;
  expect(await post(ada)).toBe(204);
});
