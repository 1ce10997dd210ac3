// Signs people in, keeps a copy of what schools share with this app, and receives webhooks.
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { createClient, makeSync, verifyWebhook, WebhookError } from "@schultor/client";
import { makeSqliteStore } from "@schultor/client/sqlite";
import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oidc from "openid-client";

const { CLIENT_SECRET, WEBHOOK_SECRETS = "", PORT = "4000", DATABASE = "copy.db" } = process.env;
const { ISSUER = "http://localhost:3000", CLIENT_ID = "demo-lernapp" } = process.env;
const { APP_URL = `http://127.0.0.1:${PORT}` } = process.env;
if (!CLIENT_SECRET) throw new Error("CLIENT_SECRET is missing");

const app = new Hono();
const page = (body) =>
  html`<!doctype html>
    <html lang="en">
      <title>Example</title>
      <main>${body}</main>
    </html>`;

// ── The copy ──────────────────────────────────────────────────────────────────────────────────────────────────────

const scopes = ["schools", "users", "groups", "people"].map((kind) => `urn:schultor:idm:v1:${kind}:read`);
const client = createClient({ issuer: ISSUER, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, scopes });
const database = new DatabaseSync(DATABASE);
database.exec("PRAGMA journal_mode = WAL"); // Who reads the copy does not stop this app from writing.
const store = makeSqliteStore(database);
const sync = makeSync({ client, store, onError: console.error });

// The first time everything, then what changed: also what webhooks missed, and what a school no longer shares.
const follow = () => sync.follow().catch(console.error);
setInterval(follow, 60_000);
void follow();
sync.resume();

// The raw bytes: JSON that is parsed and written again has another signature.
app.post("/hook", async (c) => {
  const bytes = await c.req.arrayBuffer();
  try {
    await sync.receive(await verifyWebhook(bytes, c.req.raw.headers, WEBHOOK_SECRETS.split(" ").filter(Boolean)));
    return c.body(null, 204);
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    // It is genuine, of a type that came later than this app: confirm it and do nothing.
    return c.body(null, error.code === "unknown_event" ? 204 : 401);
  }
});

// ── Sign-on ───────────────────────────────────────────────────────────────────────────────────────────────────────

const sessions = new Map(); // In production: the sessions of your framework, in your database.
const cookieOptions = { httpOnly: true, sameSite: "Lax", secure: APP_URL.startsWith("https:") };

let discovered;
function discover() {
  discovered ??= oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
    // Without the first one the library takes an ID token of the token endpoint on trust.
    execute: [oidc.enableNonRepudiationChecks, ...(ISSUER.startsWith("http:") ? [oidc.allowInsecureRequests] : [])],
  });
  discovered.catch(() => (discovered = undefined));
  return discovered;
}

// The Login URL: a tile opens it with iss and login_hint.
app.get("/login", async (c) => {
  const { iss, login_hint } = c.req.query();
  if (iss !== undefined && iss !== ISSUER) return c.html(page("This app does not know that issuer."), 400);
  const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  const url = oidc.buildAuthorizationUrl(await discover(), {
    redirect_uri: `${APP_URL}/callback`,
    scope: "openid profile",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
    ...(login_hint !== undefined && { login_hint }),
  });
  // In a cookie, so that the answer counts in this browser only.
  const attemptCookie = { ...cookieOptions, path: "/callback", maxAge: 3600 };
  setCookie(c, "attempt", Object.values(attempt).join("."), attemptCookie);
  return c.redirect(url.href);
});

app.get("/callback", async (c) => {
  const [state, nonce, verifier] = (getCookie(c, "attempt") ?? "").split(".");
  if (!verifier) return c.html(page(html`Another sign-in is needed. <a href="/login">Sign in</a>`), 400);
  const answer = new URL(`/callback${new URL(c.req.url).search}`, APP_URL);
  const tokens = await oidc.authorizationCodeGrant(await discover(), answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
  });
  const { sub, sid, given_name: name } = tokens.claims();
  const id = crypto.randomUUID();
  sessions.set(id, { sub, sid, name, idToken: tokens.id_token });
  deleteCookie(c, "attempt", { ...cookieOptions, path: "/callback" });
  setCookie(c, "session", id, { ...cookieOptions, path: "/" });
  // Somebody whose school lets them sign in and syncs nothing is read now.
  sync.refresh({ type: "person", id: sub }).catch(console.error);
  return c.redirect("/");
});

app.post("/logout", async (c) => {
  const id = getCookie(c, "session");
  const id_token_hint = sessions.get(id)?.idToken;
  sessions.delete(id);
  deleteCookie(c, "session", { ...cookieOptions, path: "/" });
  const hint = id_token_hint ? { id_token_hint, post_logout_redirect_uri: `${APP_URL}/` } : {};
  return c.redirect(oidc.buildEndSessionUrl(await discover(), hint).href);
});

// The service says that a session has ended elsewhere.
let keys;
app.post("/backchannel-logout", async (c) => {
  const { logout_token = "" } = await c.req.parseBody();
  keys ??= createRemoteJWKSet(new URL((await discover()).serverMetadata().jwks_uri));
  const expected = { issuer: ISSUER, audience: CLIENT_ID, typ: "logout+jwt", requiredClaims: ["exp", "jti"] };
  const { payload } = await jwtVerify(logout_token, keys, expected);
  const isLogout = "http://schemas.openid.net/event/backchannel-logout" in (payload.events ?? {});
  if (!isLogout || "nonce" in payload) return c.body(null, 400);
  for (const [id, { sid, sub }] of sessions)
    if (payload.sid ? sid === payload.sid : sub === payload.sub) sessions.delete(id);
  return c.body(null, 200, { "Cache-Control": "no-store" });
});

app.get("/", async (c) => {
  const session = sessions.get(getCookie(c, "session"));
  if (!session) return c.html(page(html`<a href="/login">Sign in</a>`));
  const record = await store.get({ type: "person", id: session.sub });
  const groups = await Promise.all((record?.groups ?? []).map((id) => store.get({ type: "group", id })));
  const names = groups.flatMap((group) => (group ? [group.name] : []));
  const logout = html`<form method="post" action="/logout"><button>Sign out</button></form>`;
  c.header("Cache-Control", "no-store");
  const who = session.name ?? "somebody without a name";
  return c.html(
    page(
      html`<p>Hello ${who}! Groups: ${names.join(", ") || "none"}</p>
        ${logout}`,
    ),
  );
});

// What is refused: an answer with another state, an ID token with a wrong signature, and so on.
app.onError((error, c) => {
  console.error(`${c.req.path}: ${error.message}`);
  return c.html(page(html`That did not work. <a href="/login">Try again</a>`), 400);
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(PORT) }, () => console.log(`listening at ${APP_URL}`));
