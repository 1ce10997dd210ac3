import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import Provider, { type KoaContextWithOIDC } from "oidc-provider";
import { atFileEnd } from "./file-end.ts";
import type { TestClock } from "./service.ts";

export const clientId = "schultor";
export const clientSecret = "secret-of-schultor-at-the-provider";

type Body = Record<string, unknown>;
type Claims = Record<string, unknown>;

export type UpstreamProvider = {
  issuer: string;
  /** Who signs in next, and the claims of every account. */
  account: string;
  claims: Record<string, Claims>;
  /** Claims in the ID token too, not in userinfo alone. */
  inIdToken: boolean;
  /** The scopes that the school's admin released; others end the login with `invalid_scope`. */
  released: Set<string> | null;
  redirectUris: string[];
  /** Of the service that judges its tokens: one that stands still is set to their time, which is the real one. */
  clock: TestClock | null;
  requests: { method: string; path: string; query: URLSearchParams; authorization: string | undefined }[];
  /** Answers before the provider does, where it returns true. */
  before: ((req: IncomingMessage, res: ServerResponse) => boolean) | null;
  /** Changes what the provider answers at a path. */
  after: ((path: string, body: Body) => Body | Promise<Body>) | null;
  /** What comes back to the redirect URI for the address of the login. */
  visit(address: URL, cookies?: Map<string, string>): Promise<URLSearchParams>;
  sign(claims: JWTPayload, header?: { alg?: string; typ?: string; kid?: string | undefined }): Promise<string>;
  /** From now on new ID tokens are signed with another key. */
  changeKey(): Promise<void>;
  close(): Promise<void>;
};

const pairs: ReturnType<typeof generateKeyPair>[] = [];

/** A key under an id of its own. All providers of a process take the same ones in turn, which cost much to make. */
async function takeKey(number: number) {
  const { privateKey } = await (pairs[number] ??= generateKeyPair("RS256", { extractable: true }));
  const jwk = { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: crypto.randomUUID() };
  return { privateKey, jwk };
}

/** oidc-provider as a school's own login: one client, accounts that a test names, no page; ends with the test file. */
export async function startUpstreamProvider(
  options: { authMethod?: "client_secret_basic" | "client_secret_post" } = {},
): Promise<UpstreamProvider> {
  // Idle connections stay open: on a busy machine the service might reuse one just as it is closed.
  const server = createServer({ keepAliveTimeout: 0 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let [key, changes] = [await takeKey(0), 0];

  const makeProvider = () => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          // Those of the test are allowed below: the id of a connection is known later.
          redirect_uris: ["http://127.0.0.1/callback"],
          response_types: ["code"],
          grant_types: ["authorization_code"],
          token_endpoint_auth_method: options.authMethod ?? "client_secret_basic",
          backchannel_logout_uri: `${issuer}/unused`,
          backchannel_logout_session_required: true,
        },
      ],
      jwks: { keys: [key.jwk] },
      cookies: { keys: ["test"] },
      scopes: ["openid", "profile", "email", ...iservScopes],
      claims: { openid: ["sub"], profile: claimNames, email: ["email"] },
      conformIdTokenClaims: false,
      findAccount: (_ctx, id) => ({
        accountId: id,
        claims: (use) => {
          const claims = self.claims[id] ?? {};
          return { sub: id, ...(use === "userinfo" || self.inIdToken ? claims : {}) };
        },
      }),
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      loadExistingGrant: async (ctx) => {
        const { session, client, requestParamScopes } = ctx.oidc;
        const grant = new ctx.oidc.provider.Grant({ accountId: session!.accountId!, clientId: client!.clientId });
        grant.addOIDCScope([...requestParamScopes].join(" "));
        await grant.save();
        return grant;
      },
      ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
      renderError: (ctx, _out, error) =>
        void (ctx.body = { error: (error as { error?: string }).error ?? String(error) }),
    });
    provider.Client.prototype.redirectUriAllowed = (uri: string) => self.redirectUris.includes(uri);
    provider.Client.prototype.postLogoutRedirectUriAllowed = () => true;
    provider.use(async (ctx: KoaContextWithOIDC, next) => {
      if (ctx.path === "/auth" && self.released !== null) {
        const asked = String(ctx.query["scope"]).split(" ");
        if (asked.some((one) => !self.released!.has(one))) {
          const back = new URL(String(ctx.query["redirect_uri"]));
          back.search = new URLSearchParams({
            error: "invalid_scope",
            state: String(ctx.query["state"]),
            iss: issuer,
          }).toString();
          return void ctx.redirect(back.href);
        }
      }
      await next();
      if (self.after !== null && typeof ctx.body === "object" && ctx.body !== null)
        ctx.body = await self.after(ctx.path, ctx.body as Body);
    });
    return provider;
  };

  const self: UpstreamProvider = {
    issuer,
    account: "account-1",
    claims: {},
    inIdToken: false,
    released: null,
    redirectUris: [],
    clock: null,
    requests: [],
    before: null,
    after: null,
    async visit(address, cookies = new Map<string, string>()) {
      for (let next = address; ;) {
        const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
        const answer = await fetch(next, { redirect: "manual", headers });
        for (const line of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (value === "") cookies.delete(name);
          else cookies.set(name, value);
        }
        const location = answer.headers.get("location");
        if (location === null) throw new Error(`${next.pathname} answered ${answer.status}: ${await answer.text()}`);
        next = new URL(location, next);
        if (self.redirectUris.includes(`${next.origin}${next.pathname}`)) return next.searchParams;
      }
    },
    sign: (claims, header = {}) => {
      const { kid, ...other } = { kid: key.jwk.kid as string | undefined, ...header };
      const named = { alg: "RS256", ...(kid !== undefined && { kid }), ...other };
      return new SignJWT(claims).setProtectedHeader(named).sign(key.privateKey);
    },
    async changeKey() {
      key = await takeKey((changes += 1));
      provider = makeProvider();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  let provider = makeProvider();
  server.on("request", (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? "/", issuer);
    const { authorization } = req.headers;
    self.requests.push({ method: req.method ?? "", path: pathname, query: searchParams, authorization });
    if (self.clock !== null && self.clock() < new Date()) self.clock.set(new Date());
    if (self.before?.(req, res) === true) return;
    if (!pathname.startsWith("/interaction/")) return void provider.callback()(req, res);
    void (async () => {
      const { prompt } = await provider.interactionDetails(req, res);
      const result = prompt.name === "login" ? { login: { accountId: self.account } } : { consent: {} };
      await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true });
    })().catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  atFileEnd(() => self.close().catch(() => undefined));
  return self;
}

const iservScopes = ["uuid", "groups", "roles", "iserv:uuid", "iserv:groups", "iserv:roles"];
const claimNames = [
  ...["name", "given_name", "family_name", "preferred_username", "uuid", "iserv:uuid", "groups", "iserv:groups"],
  ...["roles", "employee_id", "import_id", "tid", "oid", "hd", "amr", "acr_of_school", "upn"],
  ...[
    "iserv_uuid",
    "iserv_groups",
    "iserv:roles",
    "email",
    "email_verified",
    "mail",
    "nickname",
    "idp",
    "picture",
    "school_ids",
  ],
];
