import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JWK } from "jose";
import { afterAll, expect, test } from "vitest";
import { makeLogoutToken, makeSender } from "./job.ts";

const [strict, lax] = [makeSender({ allowPrivateAddresses: false }), makeSender({ allowPrivateAddresses: true })];
afterAll(() => Promise.all([strict.close(), lax.close()]));

test.each([
  "http://app.example/logout",
  "https://127.0.0.1/logout",
  "https://[::1]/logout",
  "https://169.254.169.254/logout",
  "https://localhost/logout",
])("outside development nothing is sent to %s", async (uri) => {
  await expect(strict.send(uri, "token")).rejects.toThrow(/https only|not public/);
});

test("an answer other than 2xx is a failure, a redirect too", async () => {
  let status = 204;
  const server = createServer((_req, res) => res.writeHead(status, { location: "/x" }).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await lax.send(uri, "token");
  for (status of [302, 400, 500]) await expect(lax.send(uri, "token")).rejects.toThrow(String(status));
  server.close();
});

test("without a signing key for the app's algorithm there is no token", async () => {
  const privateJwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }) as JWK;
  const notice = {
    id: "n",
    clientId: "app",
    sub: "p",
    hasOwnSid: false,
    sid: "s",
    attempts: 1,
    uri: "https://app.example",
    algorithm: "RS256" as const,
  };
  const keys = [{ kid: "k", algorithm: "EdDSA" as const, state: "ACTIVE" as const, privateJwk }];
  await expect(
    makeLogoutToken(notice, { issuerUrl: "https://idp.example", keys, sessionIds: Buffer.alloc(32), now: new Date() }),
  ).rejects.toThrow("RS256");
});
