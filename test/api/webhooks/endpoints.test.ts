import { expect, test } from "vitest";
import { withTransaction } from "../../../src/platform/database/db.ts";
import { reEncryptWebhookSecrets } from "../../../src/webhooks/index.ts";
import { getEndpoint, registerEndpoint, rotateEndpointSecret, updateEndpoint } from "../../support/webhook-changes.ts";
import { startReceiver } from "../../support/receiver.ts";
import { inside, keys, startWebhooks, verify } from "../../support/webhooks.ts";

const world = await startWebhooks();
const receiver = await startReceiver();
const clientId = await world.app();

const origin = () => ({ at: world.clock(), actorId: "test" });
type Resolved = { address: string; family: number }[];
const names: Record<string, Resolved> = {
  "app.example.org": [{ address: "93.184.216.34", family: 4 }],
  "inner.example.org": [{ address: "10.0.0.7", family: 4 }],
  "mixed.example.org": [
    { address: "93.184.216.34", family: 4 },
    { address: "127.0.0.1", family: 4 },
  ],
};
const policy = {
  allowPrivateAddresses: false,
  lookup: (name: string, _options: object, done: (error: Error | null, addresses: Resolved) => void) =>
    names[name]
      ? done(null, names[name])
      : done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), []),
};
const register = (url: string) =>
  registerEndpoint(world.db, { clientId, url, eventTypes: ["person"] }, { origin: origin(), keys, policy });

// Other spellings of inner addresses: test/security/addresses.test.ts.
test("an address that is no https address of the internet is refused at registration", async () => {
  for (const url of [
    ...["http://app.example.org/hook", "ftp://app.example.org", "https://user:secret@app.example.org"],
    ...["https://app.example.org/#part", "app.example.org", "", `https://app.example.org/${"a".repeat(2000)}`],
    ...["https://10.1.2.3/", "https://192.168.0.1/", "https://172.20.0.1/", "https://100.64.0.1/"],
    ...["https://[fd00::1]/", "https://[fe80::1]/", "https://0.0.0.0/", "https://inner.example.org/"],
    ...["https://mixed.example.org/", "https://nowhere.example.org/"],
  ])
    await expect(register(url), url).rejects.toMatchObject({ kind: "invalid", code: "webhook_url_refused" });
});

test("a public https address is registered, and can be changed to nothing worse", async () => {
  const { id } = await register("https://app.example.org/hook?x=1");
  expect(await getEndpoint(world.db, id)).toMatchObject({
    url: "https://app.example.org/hook?x=1",
    eventTypes: ["person"],
    state: "ACTIVE",
    reason: null,
  });
  await expect(
    updateEndpoint(world.db, { id, url: "https://inner.example.org/" }, { origin: origin(), policy }),
  ).rejects.toMatchObject({ code: "webhook_url_refused" });
  await updateEndpoint(
    world.db,
    { id, url: "https://93.184.216.34/", eventTypes: ["school", "group", "school"] },
    { origin: origin(), policy },
  );
  expect(await getEndpoint(world.db, id)).toMatchObject({
    url: "https://93.184.216.34/",
    eventTypes: ["group", "school"],
  });
});

test("an unknown app, no event type and an unknown endpoint are refused", async () => {
  await expect(
    registerEndpoint(
      world.db,
      { clientId: "nobody", url: receiver.url, eventTypes: ["person"] },
      { origin: origin(), keys, policy: inside },
    ),
  ).rejects.toMatchObject({ code: "app_not_found" });
  await expect(
    registerEndpoint(
      world.db,
      { clientId, url: receiver.url, eventTypes: [] },
      { origin: origin(), keys, policy: inside },
    ),
  ).rejects.toMatchObject({ code: "webhook_without_event_type" });
  await expect(getEndpoint(world.db, "00000000-0000-4000-8000-000000000000")).rejects.toMatchObject({
    kind: "not_found",
  });
});

test("the secret is shown once: what is kept does not hold it, nor does the audit", async () => {
  const { secret } = await world.endpoint({ clientId, url: receiver.url });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const dump = async (table: string) => JSON.stringify((await world.db.pool.query(`SELECT * FROM ${table}`)).rows);
  const kept = (await dump("webhook_secret")) + (await dump("webhook_endpoint")) + (await dump("audit"));
  expect(kept).not.toContain(secret.slice(6, 30));
  const { rows } = await world.db.pool.query<{ sealed: Buffer }>("SELECT sealed FROM webhook_secret");
  expect(
    rows.some(({ sealed }) => sealed.includes(Buffer.from(secret.slice(6), "base64")) || sealed.includes(secret)),
  ).toBe(false);
});

test("in the overlap of a rotation both secrets verify webhook-signature and the old one the hex signature; after it only the new one does", async () => {
  const app = await world.app();
  const { id, secret: old } = await world.endpoint({ clientId: app, url: `${receiver.url}/rotated` });
  const send = async () => {
    await world.tell({ clientId: app });
    await world.settle();
    return receiver.received.filter(({ path }) => path === "/rotated").at(-1)!;
  };
  const { secret: fresh, oldValidUntil } = await rotateEndpointSecret(
    world.db,
    { id, overlapHours: 24 },
    { origin: origin(), keys },
  );
  expect(oldValidUntil.getTime() - world.clock().getTime()).toBe(86_400_000);
  const during = await send();
  expect([verify(during, old), verify(during, fresh)]).toEqual([
    { ep: true, standard: true },
    { ep: false, standard: true },
  ]);
  world.clock.forwardSeconds(86_401);
  const after = await send();
  expect([verify(after, old), verify(after, fresh)]).toEqual([
    { ep: false, standard: false },
    { ep: true, standard: true },
  ]);

  const { secret: newest } = await rotateEndpointSecret(world.db, { id, overlapHours: 0 }, { origin: origin(), keys });
  const leaked = await send();
  expect([verify(leaked, fresh), verify(leaked, newest)]).toEqual([
    { ep: false, standard: false },
    { ep: true, standard: true },
  ]);
  await world.run("sweep");
  const { rows } = await world.db.pool.query("SELECT FROM webhook_secret WHERE endpoint_id = $1", [id]);
  expect(rows).toHaveLength(1);
});

test("secrets are opened after they were encrypted anew with another key", async () => {
  const other = Buffer.from("another key for tests, 32 bytes!");
  await world.endpoint({ clientId, url: receiver.url });
  const count = await withTransaction(world.db, (tx) => reEncryptWebhookSecrets(tx, [other, ...keys]));
  expect(count).toBeGreaterThan(0);
  await expect(withTransaction(world.db, (tx) => reEncryptWebhookSecrets(tx, keys))).rejects.toThrow(
    "none of the encryption keys",
  );
  await withTransaction(world.db, (tx) => reEncryptWebhookSecrets(tx, [...keys, other]));
});
