import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { verifyWebhook, type VerifyOptions } from "../../clients/typescript/src/index.ts";

/** The example of openapi/webhooks.yaml. */
const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
const other = "whsec_YW5vdGhlciBzZWNyZXQgYXMgYW4gZXhhbXBsZSBoZXJl";
const event = {
  event: "person",
  action: "update",
  updatedProperties: ["groups"],
  personId: "c0000000-0000-4000-8000-000000000002",
};
const body = JSON.stringify(event);
const headers = {
  "X-EP-Event-Type": "person",
  "X-EP-Signature-Sha256": "7d39f73a8da5a01e17d23ca6de0d45642b993d98844b06351528b2e4f12f92ef",
  "webhook-id": "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10",
  "webhook-timestamp": "1770105600",
  "webhook-signature": "v1,rOJqom4q83sAKuWnAzSXvvMNk3l1d36nEByQZfP69XY=",
};
const now = new Date(1770105600_000);

const check = (changed: Record<string, string | undefined>, options: VerifyOptions & { of?: string } = {}) =>
  verifyWebhook(options.of ?? body, { ...headers, ...changed }, secret, { now, ...options });

describe("the example of the contract", () => {
  const genuine = { id: headers["webhook-id"], isTest: false, event };

  test.each(["standard", "hex"] as const)("is genuine by its %s signature", async (signature) => {
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body).buffer])
      for (const given of [headers, new Headers(headers)])
        expect(await verifyWebhook(raw, given, secret, { now, signature })).toEqual(genuine);
    await expect(check({}, { of: `${body} `, signature })).rejects.toMatchObject({ code: "wrong_signature" });
  });

  test("is genuine by either of two secrets, and by either of two signatures", async () => {
    expect(await verifyWebhook(body, headers, [other, secret], { now })).toEqual(genuine);
    expect(await check({ "webhook-signature": `v1a,x v1,AAAA ${headers["webhook-signature"]}` })).toEqual(genuine);
    await expect(verifyWebhook(body, headers, [other], { now })).rejects.toMatchObject({ code: "wrong_signature" });
    await expect(verifyWebhook(body, headers, [], { now })).rejects.toMatchObject({ code: "wrong_signature" });
  });

  test("is genuine within the tolerance only", async () => {
    const shifted = (seconds: number) => ({ now: new Date(now.getTime() + seconds * 1000) });
    for (const seconds of [-300, 300]) expect(await check({}, shifted(seconds))).toEqual(genuine);
    for (const seconds of [-301, 301])
      await expect(check({}, shifted(seconds))).rejects.toMatchObject({ code: "wrong_time" });
    expect(await check({}, { ...shifted(301), toleranceSeconds: 400 })).toEqual(genuine);
  });
});

test("a header that is missing, empty or nonsense makes a request that is not genuine", async () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
    await expect(check({ [name]: undefined })).rejects.toMatchObject({ code: "missing_header" });
  for (const value of ["", "v1", "v1,", "v1,%%%", headers["webhook-signature"].slice(3)])
    await expect(check({ "webhook-signature": value })).rejects.toMatchObject({ code: "wrong_signature" });
  for (const value of ["", "soon", "1770105600.5", "9".repeat(30)])
    await expect(check({ "webhook-timestamp": value })).rejects.toMatchObject({ code: "wrong_time" });
  for (const value of ["", "00", "x".repeat(64), headers["X-EP-Signature-Sha256"].slice(2)])
    await expect(check({ "X-EP-Signature-Sha256": value }, { signature: "hex" })).rejects.toMatchObject({
      code: "wrong_signature",
    });
});

test("who leaves the signature with a time out does not get by with the one without", async () => {
  const standard = { "webhook-timestamp": undefined, "webhook-signature": undefined };
  await expect(check(standard)).rejects.toMatchObject({ code: "missing_header" });
});

test("a secret that is none is told", async () => {
  await expect(verifyWebhook(body, headers, "whsec_", { now })).rejects.toThrow(TypeError);
});

function sign(text: string, changed: Record<string, string> = {}) {
  const signature = createHmac("sha256", secret).update(text).digest("hex");
  return verifyWebhook(text, { ...headers, ...changed, "X-EP-Signature-Sha256": signature }, secret, {
    signature: "hex",
  });
}

test("a genuine test is told as a test, and what is no event that this version knows as unknown", async () => {
  expect(await sign(body, { "x-ep-test": "true" })).toMatchObject({ isTest: true });
  for (const text of [
    "",
    "null",
    "[]",
    '{"event":"toString"}',
    '{"event":"device","action":"create","deviceId":"d"}',
    '{"event":"group","personId":"p"}',
  ])
    await expect(sign(text), text).rejects.toMatchObject({ code: "unknown_event" });
});
