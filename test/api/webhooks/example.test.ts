import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { makeHeaders, readSecret } from "../../../src/webhooks/signature.ts";
import { bundles, findBundle, listOperations, resolve } from "../../contract/bundles.ts";

// The worked example of the contract, as a partner reads it: a secret, a body, the headers they give.
const text = (
  findBundle("webhooks").document as unknown as { tags: { name: string; description: string }[] }
).tags.find(({ name }) => name === "Signatures")!.description;
const [secret, body, shown] = [...text.matchAll(/```\n([\s\S]*?)\n```/g)].map((match) => match[1]!) as [
  string,
  string,
  string,
];
const headers = Object.fromEntries(shown.split("\n").map((line) => line.split(": ") as [string, string]));

test("the example's signatures are what the secret and the body give", () => {
  expect(headers["X-EP-Signature-Sha256"]).toBe(createHmac("sha256", secret).update(body).digest("hex"));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${headers["webhook-id"]!}.${headers["webhook-timestamp"]!}.${body}`;
  expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  expect(text).toContain(`body of ${Buffer.byteLength(body)} bytes`);
});

test("the service makes the very headers of the example", () => {
  const { event } = JSON.parse(body) as { event: string };
  const delivery = { messageId: headers["webhook-id"]!, eventType: event, isTest: false, body };
  const { "User-Agent": _, ...made } = makeHeaders(
    delivery,
    [readSecret(secret)],
    new Date(Number(headers["webhook-timestamp"]) * 1000),
  );
  expect(made).toEqual(headers);
});

test("the body and the headers of the example are those that the operation shows", () => {
  const bundle = findBundle("webhooks");
  const { operation } = listOperations(bundle).find(
    ({ operation: { operationId } }) => operationId === "receivePersonEvent",
  )!;
  const examples = operation.requestBody!.content["application/json"]!.examples!;
  expect(resolve<{ value: unknown }>(bundle, examples["personMovedGroups"] as never).value).toEqual(JSON.parse(body));
  const parameters = operation.parameters!.map((parameter) =>
    resolve<{ name: string; example: unknown }>(bundle, parameter as never),
  );
  // Sent only with a test, and only where traces are on.
  const notAlways = ["X-EP-Test", "traceparent"];
  for (const { name, example } of parameters.filter(({ name }) => !notAlways.includes(name)))
    expect([name, example]).toEqual([name, headers[name]]);
  expect(bundles.map(({ name }) => name)).toContain("webhooks");
});
