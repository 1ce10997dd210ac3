import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";
import { printFormPost } from "./form-post.ts";
import type { components } from "../../../../generated/openapi/sign-on.ts";

type Schemas = components["schemas"];

export type Tampering = {
  answer?: (answer: URLSearchParams) => void;
  claims?: (claims: JWTPayload) => JWTPayload;
  signature?: "other-key" | "none";
  tokenType?: string;
};

export type TokenRequest = { authorization: string | undefined; form: URLSearchParams };

/** One sign-on of an app, as the issuer sees it. No other sign-on has its `sub` and `name`. */
export type Attempt = {
  sub: string;
  name: string;
  tampering: Tampering;
  request: URLSearchParams | null;
  tokenRequest: TokenRequest | null;
};

export type Issuer = {
  url: string;
  /** Resolves when an app has read the discovery document. */
  discovered: Promise<void>;
  /** Begins a sign-on: the next authorization request is its. */
  expect(tampering: Tampering): Attempt;
  close(): Promise<void>;
};

type IssuerSettings = {
  port: number;
  clientId: string;
  /** Answers requests to the APIs; false for another address. */
  answerApi?: (req: IncomingMessage, res: ServerResponse) => Promise<boolean>;
  /** Learns the tokens that an app gets for itself. */
  noteToken?: (request: TokenRequest, accessToken: string) => void;
  /** New ones if left out. */
  keys?: ReturnType<typeof makeIssuerKeys>;
};

/** The keys that sign ID tokens: the published one, and one that no app should accept. */
export const makeIssuerKeys = () => Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);

const kid = "check-app";
const hourSeconds = 3600;

/** Starts an OpenID Connect issuer on loopback that signs everybody in at once and answers as this service does. */
export async function startIssuer(settings: IssuerSettings): Promise<Issuer> {
  const { port, clientId, answerApi, noteToken, keys = makeIssuerKeys() } = settings;
  const [own, other] = await keys;
  const key = { ...(await exportJWK(own.publicKey)), kid, alg: "RS256", use: "sig" };
  const codes = new Map<string, Attempt>();
  const tokens = new Map<string, Attempt>();
  let current: Attempt | null = null;
  let url = "";
  // `Promise.withResolvers` is not in Node 20.
  let noteDiscovered = () => {};
  const discovered = new Promise<void>((resolve) => (noteDiscovered = resolve));

  function authorize(request: URLSearchParams, res: ServerResponse): void {
    const back = request.get("redirect_uri") ?? "";
    // A second request of the same sign-on is an app that begins anew; it gets no second chance.
    if (current === null || current.request !== null || !URL.canParse(back)) {
      sendJson(res, 400, { error: "invalid_request", error_description: "check-app waits for no such request." });
      return;
    }
    current.request = request;
    const code = randomBytes(24).toString("base64url");
    codes.set(code, current);
    const answer = new URLSearchParams({ code, state: request.get("state") ?? "", iss: url });
    current.tampering.answer?.(answer);
    if (request.get("response_mode") === "form_post")
      return void res.writeHead(200, htmlHeaders).end(printFormPost(back, answer));
    const target = new URL(back);
    if (request.get("response_mode") === "fragment") target.hash = answer.toString();
    else for (const [name, value] of answer) target.searchParams.set(name, value);
    res.writeHead(302, { Location: target.href, "Cache-Control": "no-store" }).end();
  }

  async function issueToken(request: TokenRequest, res: ServerResponse): Promise<void> {
    const { form } = request;
    const accessToken = randomBytes(24).toString("base64url");
    const answer: Schemas["TokenResponse"] = {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: hourSeconds,
      scope: form.get("scope") ?? "openid",
    };
    if (form.get("grant_type") === "client_credentials") {
      noteToken?.(request, accessToken);
      return sendJson(res, 200, answer);
    }
    const attempt = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    if (attempt === undefined) return sendJson(res, 400, { error: "invalid_grant" });
    attempt.tokenRequest = request;
    tokens.set(accessToken, attempt);
    const { claims, signature, tokenType } = attempt.tampering;
    const honest = claimsOf(attempt, { issuer: url, clientId, accessToken });
    const idToken = await sign(
      claims?.(honest) ?? honest,
      signature === "other-key" ? other.privateKey : own.privateKey,
    );
    sendJson(res, 200, {
      ...answer,
      scope: attempt.request?.get("scope") ?? "openid",
      id_token: signature === "none" ? unsign(idToken) : idToken,
      ...(tokenType !== undefined && { token_type: tokenType }),
    });
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? "/", url);
    if ((await answerApi?.(req, res)) === true) return;
    const form = req.method === "POST" ? new URLSearchParams(await text(req)) : searchParams;
    if (pathname === "/.well-known/openid-configuration") {
      sendJson(res, 200, discoveryOf(url));
      noteDiscovered();
    } else if (pathname === "/.well-known/jwks.json") sendJson(res, 200, { keys: [key] });
    else if (pathname === "/oauth2/auth") authorize(form, res);
    else if (pathname === "/oauth2/token") await issueToken({ authorization: req.headers.authorization, form }, res);
    else if (pathname === "/oauth2/userinfo") {
      const attempt = tokens.get(/^bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1] ?? "");
      if (attempt === undefined) sendJson(res, 401, { error: "invalid_token" });
      else sendJson(res, 200, personOf(attempt));
    } else sendJson(res, 404, { error: "not_found" });
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => sendJson(res, 500, { error: "server_error", cause: String(error) }));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    discovered,
    expect: (tampering) => {
      const name = `Ada ${randomBytes(6).toString("hex")}`;
      current = { sub: randomUUID(), name, tampering, request: null, tokenRequest: null };
      return current;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const discoveryOf = (url: string): Schemas["DiscoveryDocument"] => ({
  issuer: url,
  authorization_endpoint: `${url}/oauth2/auth`,
  token_endpoint: `${url}/oauth2/token`,
  userinfo_endpoint: `${url}/oauth2/userinfo`,
  jwks_uri: `${url}/.well-known/jwks.json`,
  end_session_endpoint: `${url}/oauth2/sessions/logout`,
  revocation_endpoint: `${url}/oauth2/revoke`,
  introspection_endpoint: `${url}/oauth2/introspect`,
  scopes_supported: ["openid", "offline_access", "profile", "school", "role", "groups"],
  claims_supported: ["sub", "given_name", "call_name", "family_name", "role", "iss"],
  response_types_supported: ["code"],
  response_modes_supported: ["query", "fragment", "form_post"],
  grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
});

const personOf = ({ sub, name }: Attempt) =>
  ({ sub, given_name: name, call_name: name, family_name: "Beispiel", role: "STUDENT" }) as const;

type Issued = { issuer: string; clientId: string; accessToken: string };

function claimsOf(attempt: Attempt, { issuer, clientId, accessToken }: Issued): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  const nonce = attempt.request?.get("nonce");
  const claims: Schemas["IdTokenClaims"] = {
    iss: issuer,
    aud: [clientId],
    ...personOf(attempt),
    jti: randomUUID(),
    sid: attempt.sub.slice(0, 8),
    at_hash: createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url"),
    auth_time: now,
    rat: now,
    iat: now,
    exp: now + hourSeconds,
    ...(nonce && { nonce }),
  };
  return claims;
}

const sign = (claims: JWTPayload, key: CryptoKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid, typ: "JWT" }).sign(key);

/** The same claims with a header that names no algorithm. */
function unsign(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url");
  return `${header}.${token.split(".")[1]!}.`;
}

const htmlHeaders = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };

const sendJson = (res: ServerResponse, status: number, body: object): void =>
  void res
    .writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" })
    .end(JSON.stringify(body));
