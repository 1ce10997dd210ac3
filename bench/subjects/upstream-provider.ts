// The login that a school has elsewhere, as small as it can be: a code is the account itself, and nobody is asked
// anything. Under /hangs it accepts the exchange of a code and never responds.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

const { privateKey, publicKey } = await generateKeyPair("RS256");
const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256", use: "sig" }] };
const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const discoveryOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  id_token_signing_alg_values_supported: ["RS256"],
});

async function exchange(issuer: string, fields: URLSearchParams) {
  const { sub, nonce, clientId } = JSON.parse(fields.get("code")!) as Record<"sub" | "nonce" | "clientId", string>;
  const idToken = await new SignJWT({ nonce, sid: nonce })
    .setProtectedHeader({ alg: "RS256", kid: "1" })
    .setIssuer(issuer)
    .setSubject(sub)
    .setAudience(clientId)
    .setIssuedAt()
    .setExpirationTime("5 min")
    .sign(privateKey);
  return { access_token: "x", token_type: "Bearer", expires_in: 300, id_token: idToken };
}

server.on("request", (request, response) => {
  const [, base = "", path] = /^(\/hangs)?(\/.*)$/.exec(request.url!)!;
  const issuer = url + base;
  const answer = (body: object) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (path === "/keys") answer(keys);
  else if (path !== "/token") answer(discoveryOf(issuer));
  else if (base === "")
    void text(request).then(async (body) => answer(await exchange(issuer, new URLSearchParams(body))));
});
process.send?.({ url });
process.once("SIGTERM", () => process.exit(0));
process.once("disconnect", () => process.exit(1));
