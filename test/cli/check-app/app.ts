import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import {
  createRemoteJWKSet,
  decodeJwt,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  type CryptoKey,
  type JWTPayload,
} from "jose";
import { serve } from "../../support/serve.ts";

/** What the app does wrong. */
export type Fault =
  | ("answers the Login URL itself" | "needs another click" | "drops the hint" | "encodes the hint twice")
  | ("asks for an ID token" | "names another client" | "leaves out openid")
  | ("adds a slash" | "exchanges with another redirect URI")
  | ("fixed state" | "short state" | "no state" | "fixed nonce" | "short nonce" | "no nonce")
  | ("no PKCE" | "plain PKCE" | "fixed PKCE" | "wrong verifier" | "no verifier")
  | ("wrong secret" | "unencoded secret" | "secret in two places" | "wrong client_id in the body")
  | ("no assertion type" | "signs with a key of its own" | "names nobody in the assertion" | "sends it to another")
  | ("assertion without an end" | "assertion for a day" | "assertion without an id" | "repeats the id")
  | "keeps its cookie from other sites"
  | ("fails at the end" | "forgets the session" | "compares the token type")
  | ("ignores the state" | "ignores a missing state" | "keeps the state for all")
  | ("ignores the nonce" | "breaks off at another nonce" | "ignores a missing nonce")
  | ("ignores the signature" | "takes no signature for one" | "ignores the audience" | "ignores the issuer")
  | ("ignores the end of tokens" | "ignores iss")
  | ("takes no event" | "never answers" | "redirects events" | "writes the JSON again" | "ignores webhook signatures")
  | ("looks whether the signature is there" | "trims the body" | "takes unsigned")
  | ("ignores the time" | "refuses what it has" | "refuses gaps" | "refuses unknown types" | "refuses unknown actions")
  | ("refuses unknown properties" | "reads the first signature" | "forgets the old secret" | "forgets the new secret");

export type Settings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** client_secret_basic if left out. */
  authMethod?: "client_secret_basic" | "client_secret_post" | "private_key_jwt" | "none";
  /** For private_key_jwt. */
  privateKey?: CryptoKey;
  faults: ReadonlySet<Fault>;
  /** Of the webhooks, the newest first. */
  secrets: readonly string[];
  /** Whether the page at the end names the person. */
  showsName: boolean;
  /** Whether the response comes as a form. */
  readsForm?: boolean;
  /** Which of the two signatures the receiver verifies. */
  verifies: "ep" | "standard";
};

type Begun = { state: string | null; nonce: string | null; verifier: string };

/** Starts an app that does everything as the documentation says, but for its faults; ends with the test file. */
export async function startApp(settings: Settings) {
  const { issuer, clientId, clientSecret, authMethod = "client_secret_basic", secrets, verifies } = settings;
  const has = (fault: Fault) => settings.faults.has(fault);
  const begun = new Map<string, Begun>();
  const sessions = new Map<string, string>();
  const lastState = new Map<string, Begun>();
  const seen = new Set<string>();
  const known = new Set<string>();
  const random = () => randomBytes(24).toString("base64url");
  const fixed = random();
  const redirectUri = () => `${url}/callback`;
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  function startSignOn(asked: URL, res: ServerResponse): void {
    if (has("answers the Login URL itself")) return send(res, 200, "Please type your password");
    if (has("needs another click")) return redirect(res, "/welcome");
    const hint = asked.searchParams.get("login_hint");
    const state = has("no state")
      ? null
      : has("fixed state")
        ? fixed
        : has("short state")
          ? random().slice(0, 6)
          : random();
    const nonce = has("no nonce")
      ? null
      : has("fixed nonce")
        ? fixed
        : has("short nonce")
          ? random().slice(0, 6)
          : random();
    const verifier = has("fixed PKCE") ? fixed.repeat(2) : random() + random();
    const key = random();
    begun.set(key, { state, nonce, verifier });
    if (state !== null) lastState.set(state, { state, nonce, verifier });
    const target = new URL(`${issuer}/oauth2/auth`);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const sent = {
      response_type: has("asks for an ID token") ? "code id_token" : "code",
      client_id: has("names another client") ? "other" : clientId,
      scope: has("leaves out openid") ? "profile" : "openid profile",
      redirect_uri: redirectUri() + (has("adds a slash") ? "/" : ""),
      ...(settings.readsForm && { response_mode: "form_post" }),
      ...(state !== null && { state }),
      ...(nonce !== null && { nonce }),
      ...(!has("no PKCE") && {
        code_challenge: has("plain PKCE") ? verifier : challenge,
        code_challenge_method: has("plain PKCE") ? "plain" : "S256",
      }),
      ...(hint !== null &&
        !has("drops the hint") && { login_hint: has("encodes the hint twice") ? encodeURIComponent(hint) : hint }),
    };
    target.search = new URLSearchParams(sent).toString();
    redirect(
      res,
      target.href,
      `begun=${key}; Path=/callback; HttpOnly${has("keeps its cookie from other sites") ? "; SameSite=Lax" : ""}`,
    );
  }

  async function finishSignOn(asked: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const given = req.method === "POST" ? new URLSearchParams(await text(req)) : asked.searchParams;
    const own = has("keeps the state for all")
      ? lastState.get(given.get("state") ?? "")
      : begun.get(cookieOf(req, "begun") ?? "");
    if (own === undefined) return send(res, 400, "No sign-on began here");
    const isMissing = !given.get("state") && has("ignores a missing state");
    if (own.state !== null && given.get("state") !== own.state && !has("ignores the state") && !isMissing)
      return send(res, 400, "The state is another one");
    if (given.get("iss") !== issuer && !has("ignores iss")) return send(res, 400, "The answer is of another issuer");
    const tokens = await exchange(given.get("code") ?? "", own);
    const type = String(tokens["token_type"]);
    if ((has("compares the token type") ? type : type.toLowerCase().replace("b", "B")) !== "Bearer")
      return send(res, 502, "The token type is unknown");
    const claims = await verifyIdToken(String(tokens["id_token"]), own).catch(() => null);
    if (claims === null && has("breaks off at another nonce")) return void res.destroy();
    if (claims === null) return send(res, 403, "The ID token is not good");
    if (has("fails at the end")) return send(res, 500, "A fault");
    const key = random();
    if (!has("forgets the session")) sessions.set(key, claims.sub!);
    redirect(res, "/home", `session=${key}; Path=/; HttpOnly; Max-Age=3600`);
  }

  async function exchange(code: string, { verifier }: Begun): Promise<Record<string, unknown>> {
    const form = new URLSearchParams({ grant_type: "authorization_code", code });
    form.set(
      "redirect_uri",
      redirectUri() + (has("adds a slash") || has("exchanges with another redirect URI") ? "/" : ""),
    );
    if (!has("no PKCE") && !has("no verifier"))
      form.set("code_verifier", has("wrong verifier") ? random() + random() : verifier);
    const secret = has("wrong secret") ? "other" : clientSecret;
    if (authMethod !== "client_secret_basic")
      form.set("client_id", has("wrong client_id in the body") ? "other" : clientId);
    if (authMethod === "client_secret_post" || has("secret in two places")) form.set("client_secret", secret);
    if (authMethod === "private_key_jwt") {
      form.set("client_assertion", await signAssertion());
      if (!has("no assertion type"))
        form.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    }
    const encode = (text: string) => (has("unencoded secret") ? text : encodeURIComponent(text));
    const basic = `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString("base64")}`;
    const headers: Record<string, string> = authMethod === "client_secret_basic" ? { Authorization: basic } : {};
    const response = await fetch(`${issuer}/oauth2/token`, { method: "POST", body: form, headers });
    return (await response.json()) as Record<string, unknown>;
  }

  async function signAssertion(): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const subject = has("names nobody in the assertion") ? "other" : clientId;
    const key = has("signs with a key of its own") ? (await generateKeyPair("ES256")).privateKey : settings.privateKey!;
    return new SignJWT({
      iss: subject,
      sub: subject,
      aud: has("sends it to another") ? "https://issuer.example.org" : issuer,
      ...(!has("assertion without an end") && { exp: now + (has("assertion for a day") ? 86_400 : 60) }),
      ...(!has("assertion without an id") && { jti: has("repeats the id") ? fixed : random() }),
    })
      .setProtectedHeader({ alg: "ES256" })
      .sign(key);
  }

  async function verifyIdToken(token: string, { nonce }: Begun): Promise<JWTPayload> {
    keys ??= createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
    const isTaken = token.endsWith(".") ? has("takes no signature for one") : has("ignores the signature");
    if (!isTaken) await jwtVerify(token, keys, { algorithms: ["RS256"], currentDate: new Date(0) });
    const claims = decodeJwt(token);
    if (![claims.aud].flat().includes(clientId) && !has("ignores the audience")) throw new Error("For another app");
    if (claims.iss !== issuer && !has("ignores the issuer")) throw new Error("Of another issuer");
    if (claims.exp! * 1000 < Date.now() && !has("ignores the end of tokens")) throw new Error("Too old");
    const isMissing = claims["nonce"] === undefined && has("ignores a missing nonce");
    if (nonce !== null && claims["nonce"] !== nonce && !has("ignores the nonce") && !isMissing)
      throw new Error("The nonce is another one");
    return claims;
  }

  function showHome(req: IncomingMessage, res: ServerResponse): void {
    const sub = sessions.get(cookieOf(req, "session") ?? "");
    if (sub === undefined) send(res, 200, "Nobody is signed in");
    else send(res, 200, settings.showsName ? `Signed in: ${sub}` : "Signed in");
  }

  /** What the signature is verified over. */
  function readSigned(body: string): string {
    if (has("writes the JSON again")) return JSON.stringify(JSON.parse(body));
    return has("trims the body") ? body.trim() : body;
  }

  function isGenuine({ headers }: IncomingMessage, body: string): boolean {
    const [ep, standard] = [headers["x-ep-signature-sha256"], headers["webhook-signature"]];
    const isMissing = !(verifies === "ep" ? ep : standard);
    if (has("ignores webhook signatures")) return true;
    if (has("takes unsigned") && isMissing) return true;
    if (has("looks whether the signature is there")) return !isMissing;
    const good = secrets.filter(
      (_, at) => !(has("forgets the old secret") && at === 1) && !(has("forgets the new secret") && at === 0),
    );
    const signed = readSigned(body);
    const [id, time] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"])];
    if (Math.abs(Date.now() / 1000 - Number(time)) > 300 && !has("ignores the time")) return false;
    if (verifies === "ep") return good.some((secret) => isSame(ep, hmac(secret, signed, "hex")));
    const covered = `${id}.${time}.${signed}`;
    const all = String(standard).split(" ");
    const read = has("reads the first signature") ? all.slice(0, 1) : all;
    return good.some((secret) =>
      read.some((one) => isSame(one, `v1,${hmac(Buffer.from(secret.slice(6), "base64"), covered, "base64")}`)),
    );
  }

  async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (has("takes no event")) return send(res, 404, "");
    if (has("redirects events")) return redirect(res, "/home");
    if (has("never answers")) return;
    if (!isGenuine(req, body)) return send(res, 401, "");
    const event = JSON.parse(body) as {
      event: string;
      action: string;
      personId?: string;
      updatedProperties?: string[];
    };
    const id = String(req.headers["webhook-id"]);
    if (has("refuses what it has") && seen.has(id)) return send(res, 409, "");
    seen.add(id);
    if (has("refuses unknown types") && event.event !== "person") return send(res, 422, "");
    const actions = ["create", "update", "delete", "restore"];
    if (has("refuses unknown actions") && event.event === "person" && !actions.includes(event.action))
      return send(res, 422, "");
    if (has("refuses gaps") && event.action === "delete" && !known.has(event.personId ?? "")) return send(res, 404, "");
    if (event.action === "create") known.add(event.personId!);
    const isStrange = "reason" in event || (event.updatedProperties ?? []).some((name) => name !== "name");
    if (has("refuses unknown properties") && isStrange) return send(res, 400, "");
    res.writeHead(204).end();
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const asked = new URL(req.url ?? "/", url);
    if (asked.pathname === "/login") startSignOn(asked, res);
    else if (asked.pathname.startsWith("/callback")) await finishSignOn(asked, req, res);
    else if (asked.pathname === "/home") showHome(req, res);
    else if (asked.pathname === "/hook") await receive(req, res);
    else send(res, 200, "Welcome. Sign in?");
  }

  const url = await serve((req, res) => {
    answer(req, res).catch(() => send(res, 500, "A fault"));
  });
  return { url };
}

const hmac = (key: string | Buffer, text: string, encoding: "hex" | "base64"): string =>
  createHmac("sha256", key).update(text).digest(encoding);

function isSame(given: string | string[] | undefined, expected: string): boolean {
  const [one, other] = [Buffer.from(String(given ?? "")), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const cookieOf = (req: IncomingMessage, name: string): string | undefined =>
  new RegExp(`(?:^|; )${name}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1];

const send = (res: ServerResponse, status: number, text: string): void =>
  void res.writeHead(status, { "Content-Type": "text/html" }).end(text);

const redirect = (res: ServerResponse, to: string, cookie?: string): void =>
  void res.writeHead(302, { Location: to, ...(cookie !== undefined && { "Set-Cookie": cookie }) }).end();
