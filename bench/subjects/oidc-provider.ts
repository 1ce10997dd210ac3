import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider, { errors, type AdapterFactory } from "oidc-provider";
import { generateKeyPair, exportJWK } from "jose";

const scope = "urn:schultor:idm:v1:schools:read";

/**
 * oidc-provider as it comes, with one client, one account, and an interaction that signs in and consents without a
 * page. Without an adapter it keeps everything in memory.
 */
export async function serveOidcProvider(adapter?: AdapterFactory): Promise<void> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });

  const server = createServer();
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;

  const provider = new Provider(issuer, {
    ...(adapter && { adapter }),
    clients: [
      {
        client_id: "bench",
        client_secret: "bench-secret",
        redirect_uris: ["http://127.0.0.1:4000/callback"],
        grant_types: ["authorization_code", "refresh_token", "client_credentials"],
        response_types: ["code"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig" }] },
    cookies: { keys: ["bench"] },
    scopes: ["openid", "offline_access", "profile"],
    claims: { openid: ["sub"], profile: ["given_name", "family_name"] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, given_name: "Bo Emil", family_name: "Muster" }),
    }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, client, oneOf) => (oneOf ? "urn:bench" : client ? "urn:bench" : []),
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== "urn:bench") throw new errors.InvalidTarget();
          return { scope, accessTokenFormat: "opaque" };
        },
      },
    },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    routes: { authorization: "/oauth2/auth", token: "/oauth2/token" },
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      ClientCredentials: 3600,
      Grant: 86400,
      IdToken: 3600,
      Session: 86400,
      Interaction: 3600,
    },
  });

  const handle = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) {
      void handle(request, response);
      return;
    }
    void (async () => {
      const { params } = await provider.interactionDetails(request, response);
      const grant = new provider.Grant({ accountId: "person", clientId: String(params["client_id"]) });
      grant.addOIDCScope("openid profile");
      await provider.interactionFinished(request, response, {
        login: { accountId: "person" },
        consent: { grantId: await grant.save() },
      });
    })();
  });
  process.send?.({ url: issuer });
  process.once("SIGTERM", () => process.exit(0));
  process.once("disconnect", () => process.exit(1));
}
