import { expect, test } from "vitest";
import { signEvent } from "../../clients/tools/src/signature/sign.ts";
import { signatureAlgorithms as ofTools } from "../../clients/tools/src/check-app/authentication.ts";
import { signatureAlgorithms } from "../../src/platform/crypto/public-key.ts";
import { makeHeaders, makeSecretText, readSecret } from "../../src/webhooks/signature.ts";

test.each([1, 2])("the tools for partners sign an event as the service does, with %i secrets", (count) => {
  const secrets = Array.from({ length: count }, makeSecretText);
  const event = {
    messageId: "01890000-0000-7000-8000-000000000001",
    eventType: "user.updated",
    body: '{"name":"Łukasz"}',
  };
  const at = new Date("2026-02-03T08:00:00.700Z");
  expect(signEvent(event, secrets, at)).toEqual(makeHeaders({ ...event, isTest: false }, secrets.map(readSecret), at));
});

test("the tools for partners accept the signature algorithms of the service", () => {
  expect([...ofTools].toSorted()).toEqual([...signatureAlgorithms].toSorted());
});
