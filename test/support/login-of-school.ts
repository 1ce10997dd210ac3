import { generateKeyPairSync, randomUUID, type JsonWebKey } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { importJWK, SignJWT } from "jose";
import { errors, Provider, type ClientMetadata } from "oidc-provider";
import type { SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import {
  addressesOf,
  createConnectionIn,
  updateConnectionIn,
  type ConnectionId,
  type NewConnection,
} from "../../src/upstream/index.ts";
import { readConfig } from "../../src/config/index.ts";
import { type Browser, makeBrowser, type Shown } from "./browser.ts";
import { atFileEnd } from "./file-end.ts";
import type { TestService } from "./service.ts";

type Claims = Record<string, unknown>;

export type UpstreamProvider = {
  issuer: string;
  /** The authorization requests that arrived. */
  requests: URL[];
  /** Registers the service, as the IT contact of a school does. */
  register(client: Pick<ClientMetadata, "client_id" | "client_secret"> & Partial<ClientMetadata>): void;
  /** Who signs in from now on, and their claims. */
  signIn(sub: string, claims?: Claims): void;
  /** Whoever comes cancels. */
  cancel(): void;
  /** Answers requests to a path so; null for as it is. */
  spoil(how: { path: string; status: number; body: object } | null): void;
  makeLogoutToken(of: { clientId: string; sub?: string; sid?: string; claims?: Claims; now?: Date }): Promise<string>;
};

/** oidc-provider on this machine, which signs people in without a page. */
export async function startUpstreamProvider(): Promise<UpstreamProvider> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: "upstream" };
  const clients: ClientMetadata[] = [];
  const requests: URL[] = [];
  const accounts = new Map<string, Claims>();
  let whoever: string | null = null;
  let spoiled: Parameters<UpstreamProvider["spoil"]>[0] = null;
  let provider: Provider | null = null;

  const goOn = async (of: Provider, req: IncomingMessage, res: ServerResponse) => {
    const { params } = await of.interactionDetails(req, res);
    if (whoever === null) return of.interactionFinished(req, res, { error: "access_denied" });
    const grant = new of.Grant({ accountId: whoever, clientId: String(params["client_id"]) });
    grant.addOIDCScope(String(params["scope"]));
    const consent = { grantId: await grant.save() };
    const amr = accounts.get(whoever)?.["amr"] as string[] | undefined;
    await of.interactionFinished(req, res, { login: { accountId: whoever, ...(amr && { amr }) }, consent });
  };

  server.on("request", (req, res) => {
    const url = new URL(req.url ?? "/", issuer);
    if (url.pathname === "/auth") requests.push(url);
    if (spoiled?.path === url.pathname) {
      res.writeHead(spoiled.status, { "content-type": "application/json" }).end(JSON.stringify(spoiled.body));
      return;
    }
    provider ??= makeProvider(issuer, { clients, jwk, accounts });
    if (url.pathname.startsWith("/interaction/")) void goOn(provider, req, res);
    else void provider.callback()(req, res);
  });

  return {
    issuer,
    requests,
    register(client) {
      clients.push({ ...client });
      provider = null;
    },
    signIn(sub, claims = {}) {
      accounts.set(sub, claims);
      whoever = sub;
    },
    cancel: () => void (whoever = null),
    spoil: (how) => void (spoiled = how),
    async makeLogoutToken({ clientId, sub, sid, claims = {}, now = new Date() }) {
      const issuedAt = Math.floor(now.getTime() / 1000);
      const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
      const payload = { iss: issuer, aud: clientId, jti: randomUUID(), iat: issuedAt, exp: issuedAt + 120, events };
      return new SignJWT({ ...payload, ...(sub && { sub }), ...(sid && { sid }), ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "upstream", typ: "logout+jwt" })
        .sign(await importJWK(jwk as JsonWebKey & { kty: string }, "RS256"));
    },
  };
}

function makeProvider(
  issuer: string,
  { clients, jwk, accounts }: { clients: ClientMetadata[]; jwk: object; accounts: ReadonlyMap<string, Claims> },
): Provider {
  const names = [...new Set([...accounts.values()].flatMap((claims) => Object.keys(claims)))];
  const provider = new Provider(issuer, {
    clients,
    jwks: { keys: [jwk as never] },
    cookies: { keys: ["key of the test"] },
    claims: { openid: ["sub", "sid", "amr", ...names], profile: ["name"] },
    conformIdTokenClaims: false,
    scopes: ["openid", "profile"],
    pkce: { required: () => true },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => {
        const claims = accounts.get(sub);
        if (claims === undefined) throw new errors.AccessDenied("no such account");
        return { sub, ...claims };
      },
    }),
    ttl: { Session: 3600, Interaction: 600, Grant: 3600, AccessToken: 600, IdToken: 600 },
  });
  provider.on("server_error", (_ctx, error) => console.error(error));
  return provider;
}

const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });

export const clientSecret = "secret-of-the-service-with-enough-characters";

/** A connection of a school that is on, registered at the provider. */
export async function connectSchool(
  service: TestService,
  provider: Pick<UpstreamProvider, "issuer" | "register">,
  { school, ...wishes }: { school: SchoolId } & Partial<NewConnection>,
): Promise<{ connectionId: ConnectionId; clientId: string }> {
  const clientId = `schultor-${randomUUID()}`;
  const context = { keys, allowHttp: true, origin: { at: service.clock() } };
  const made = {
    schoolId: school,
    profile: "OIDC" as const,
    name: "IServ",
    issuer: provider.issuer,
    clientId,
    clientSecret,
    ruleClaim: "import_id",
    ruleField: "SOURCE_SYSTEM_IDENTIFIER" as const,
    ...wishes,
  };
  const connectionId = await withPrismaTransaction(service.db, (tx) => createConnectionIn(tx, made, context));
  const { redirectUri, postLogoutRedirectUri } = addressesOf(service.url, connectionId);
  provider.register({
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [postLogoutRedirectUri],
  });
  await service.db.prisma.upstreamConnection.update({
    where: { id: connectionId },
    data: { testedAt: service.clock() },
  });
  const on = { id: connectionId, update: { state: "ON" as const } };
  await withPrismaTransaction(service.db, (tx) => updateConnectionIn(tx, on, context));
  return { connectionId, clientId };
}

/** A browser that is known at the provider too, and goes on to and fro until it shows a page or is at an app. */
export type TravellingBrowser = Browser & { follow(shown: Shown): Promise<Shown> };

export function makeTravellingBrowser(
  service: TestService,
  provider: Pick<UpstreamProvider, "issuer">,
  headers: Record<string, string> = { "accept-language": "en" },
): TravellingBrowser {
  const [here, there] = [makeBrowser(service.url, headers), makeBrowser(provider.issuer, headers)];
  const follow = async (shown: Shown): Promise<Shown> => {
    const { origin } = new URL(shown.url);
    if (shown.html !== "") return shown;
    if (origin === provider.issuer) return follow(await there.open(shown.url));
    return origin === service.url ? follow(await here.open(shown.url)) : shown;
  };
  return {
    ...here,
    follow,
    open: async (address) => follow(await (address.startsWith(provider.issuer) ? there : here).open(address)),
    submit: async (page, step, fields) => {
      const of = new URL(page.url).origin === provider.issuer ? there : here;
      return follow(await of.submit(page, step, fields));
    },
  };
}
