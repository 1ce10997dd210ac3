// Signs people in, keeps a copy of what schools share with this app, and receives webhooks.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { createClient, eraseAsAsked, makeSync, verifyWebhook, WebhookError } from "@schultor/client";
import { makeSqliteStore } from "@schultor/client/sqlite";
import express, { type CookieOptions, type NextFunction, type Request, type Response } from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oidc from "openid-client";

const { CLIENT_SECRET = "", WEBHOOK_SECRETS = "", PORT = "4000", DATABASE = "copy.db" } = process.env;
const { ISSUER = "http://localhost:3000", CLIENT_ID = "demo-lernapp" } = process.env;
const { APP_URL = `http://127.0.0.1:${PORT}` } = process.env;
if (CLIENT_SECRET === "") throw new Error("CLIENT_SECRET is missing");

const app = express();
const page = (body: string) => `<!doctype html><html lang="en"><title>Example</title><main>${body}</main></html>`;
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

// The copy

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

// Whose data the service asks this app to erase. Here that is the copy and the sessions; add what your app stores.
const erase = async (personId: string) => {
  await store.write({ remove: [{ type: "person", id: personId }] });
  for (const [id, { sub }] of sessions) if (sub === personId) sessions.delete(id);
};
const eraseAll = () => eraseAsAsked(client, erase).catch(console.error);
setInterval(eraseAll, 3_600_000);

// The raw bytes: JSON that is parsed and written again has another signature.
app.post("/hook", express.raw({ type: "*/*" }), async (req, res) => {
  try {
    const webhook = await verifyWebhook(req.body ?? "", req.headers, WEBHOOK_SECRETS.split(" ").filter(Boolean));
    await sync.receive(webhook);
    res.status(204).end();
    if ("erasureId" in webhook.event) void eraseAll();
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    // It is genuine, of a type that came later than this app: confirm it and do nothing.
    res.status(error.code === "unknown_event" ? 204 : 401).end();
  }
});

// Sign-on

type Session = { sub: string; sid: unknown; name: unknown; idToken: string | undefined };
const sessions = new Map<string, Session>(); // In production: the sessions of your framework, in your database.
const cookieOptions: CookieOptions = { httpOnly: true, sameSite: "lax", secure: APP_URL.startsWith("https:") };
const readCookie = (req: Request, name: string) =>
  new RegExp(`(?:^|; )${name}=([^;]*)`).exec(req.headers.cookie ?? "")?.[1] ?? "";

let discovered: Promise<oidc.Configuration> | undefined;
function discover() {
  discovered ??= oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.ClientSecretBasic(CLIENT_SECRET), {
    // Without the first one the library takes an ID token of the token endpoint on trust.
    execute: [oidc.enableNonRepudiationChecks, ...(ISSUER.startsWith("http:") ? [oidc.allowInsecureRequests] : [])],
  });
  discovered.catch(() => (discovered = undefined));
  return discovered;
}

// The Login URL: a tile opens it with iss and login_hint.
app.get("/login", async (req, res) => {
  const { iss, login_hint } = req.query;
  if (iss !== undefined && iss !== ISSUER) {
    res.status(400).send(page("This app does not know that issuer."));
    return;
  }
  const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
  const url = oidc.buildAuthorizationUrl(await discover(), {
    redirect_uri: `${APP_URL}/callback`,
    scope: "openid profile",
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
    ...(typeof login_hint === "string" && { login_hint }),
  });
  // In a cookie, so that the answer counts in this browser only.
  res.cookie("attempt", Object.values(attempt).join("."), { ...cookieOptions, path: "/callback", maxAge: 3_600_000 });
  res.redirect(url.href);
});

app.get("/callback", async (req, res) => {
  const [state, nonce, verifier] = readCookie(req, "attempt").split(".");
  if (!state || !nonce || !verifier) {
    res.status(400).send(page(`Another sign-in is needed. <a href="/login">Sign in</a>`));
    return;
  }
  const tokens = await oidc.authorizationCodeGrant(await discover(), new URL(req.originalUrl, APP_URL), {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
  });
  const { sub, sid, given_name: name } = tokens.claims()!;
  const id = randomUUID();
  sessions.set(id, { sub, sid, name, idToken: tokens.id_token });
  res.clearCookie("attempt", { ...cookieOptions, path: "/callback" }).cookie("session", id, cookieOptions);
  // Somebody whose school lets them sign in and syncs nothing is read now.
  sync.refresh({ type: "person", id: sub }).catch(console.error);
  res.redirect("/");
});

app.post("/logout", async (req, res) => {
  const id = readCookie(req, "session");
  const id_token_hint = sessions.get(id)?.idToken;
  sessions.delete(id);
  const hint: Record<string, string> = id_token_hint ? { id_token_hint, post_logout_redirect_uri: `${APP_URL}/` } : {};
  res.clearCookie("session", cookieOptions).redirect(oidc.buildEndSessionUrl(await discover(), hint).href);
});

// The service says that a session has ended elsewhere.
let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
app.post("/backchannel-logout", express.urlencoded({ extended: false }), async (req, res) => {
  keys ??= createRemoteJWKSet(new URL((await discover()).serverMetadata().jwks_uri!));
  const expected = { issuer: ISSUER, audience: CLIENT_ID, typ: "logout+jwt", requiredClaims: ["exp", "jti"] };
  const { payload } = await jwtVerify(req.body?.logout_token ?? "", keys, expected);
  const isLogout = "http://schemas.openid.net/event/backchannel-logout" in Object(payload["events"]);
  if (!isLogout || "nonce" in payload) throw new Error("That is no logout token.");
  for (const [id, { sid, sub }] of sessions)
    if (payload.sid ? sid === payload.sid : sub === payload.sub) sessions.delete(id);
  res.set("Cache-Control", "no-store").status(200).end();
});

app.get("/", async (req, res) => {
  const session = sessions.get(readCookie(req, "session"));
  if (!session) {
    res.send(page(`<a href="/login">Sign in</a>`));
    return;
  }
  const record = await store.get({ type: "person", id: session.sub });
  const ids = record?.type === "person" ? record.groups : [];
  const groups = await Promise.all(ids.map((id) => store.get({ type: "group", id })));
  const names = groups.flatMap((group) => (group?.type === "group" ? [escapeHtml(group.name)] : []));
  const logout = `<form method="post" action="/logout"><button>Sign out</button></form>`;
  const who = escapeHtml(String(session.name ?? "somebody without a name"));
  res
    .set("Cache-Control", "no-store")
    .send(page(`<p>Hello ${who}! Groups: ${names.join(", ") || "none"}</p>${logout}`));
});

// What is refused: an answer with another state, an ID token with a wrong signature, and so on.
app.use((error: Error, req: Request, res: Response, _next: NextFunction) => {
  console.error(`${req.path}: ${error.message}`);
  res.status(400).send(page(`That did not work. <a href="/login">Try again</a>`));
});

app.listen(Number(PORT), "127.0.0.1", () => console.log(`listening at ${APP_URL}`));
