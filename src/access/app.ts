import { checkText, cleanText } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import type { BackchannelLogoutUri } from "./backchannel-logout.ts";
import { hashSecret, makeSecret } from "./client-secret.ts";
import { checkUri } from "./redirect-uri.ts";
import type { ClientId, ScopeName } from "./token.ts";

export type App = {
  clientId: ClientId;
  name: string;
  type: "CONFIDENTIAL" | "PUBLIC";
  /** SHA-256 of the client secret; null exactly for public apps. */
  secretHash: Buffer | null;
  /** The secret before it, which is valid too until it ends. */
  oldSecretHash: Buffer | null;
  oldSecretEndsAt: Date | null;
  pkceRequired: boolean;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  loginUrl: string | null;
  backchannelLogoutUri: BackchannelLogoutUri | null;
  scopes: ScopeName[];
  idTokenAlgorithm: "RS256" | "ES256" | "EdDSA";
  schulconnexSpelling: "V1_4" | "V1_7";
};

/** What an operator writes of an app. */
export type Registration = Omit<App, "secretHash" | "oldSecretHash" | "oldSecretEndsAt">;

const appColumns = `
  client_id AS "clientId", name, type::text, secret_hash AS "secretHash", old_secret_hash AS "oldSecretHash",
    old_secret_ends_at AS "oldSecretEndsAt", pkce_required AS "pkceRequired",
    redirect_uris AS "redirectUris", post_logout_redirect_uris AS "postLogoutRedirectUris", login_url AS "loginUrl",
    backchannel_logout_uri AS "backchannelLogoutUri", scopes, id_token_algorithm::text AS "idTokenAlgorithm",
    schulconnex_spelling::text AS "schulconnexSpelling"`;

const selectApp = (clientId: string): string => `SELECT ${appColumns} FROM app WHERE client_id = ${clientId}`;

/** An app as one value, for statements that ask for more than it; `readApp` reads it. */
export const appOf = (clientId: string): string => `(SELECT to_json(found) FROM (${selectApp(clientId)}) found)`;

export type AppValue = Registration & Record<"secretHash" | "oldSecretHash" | "oldSecretEndsAt", string | null>;

// JSON shows bytes as \x and hexadecimal digits, and times as text.
const readBytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text.slice(2), "hex"));

export const readApp = ({ secretHash, oldSecretHash, oldSecretEndsAt, ...app }: AppValue): App => ({
  ...app,
  secretHash: readBytes(secretHash),
  oldSecretHash: readBytes(oldSecretHash),
  oldSecretEndsAt: oldSecretEndsAt === null ? null : new Date(oldSecretEndsAt),
});

export async function findApp(db: Queryable, clientId: string): Promise<App | null> {
  const { rows } = await db.query<App>({ name: "access.findApp", text: selectApp("$1"), values: [clientId] });
  return rows[0] ?? null;
}

/** All apps by name. */
export async function listApps(db: Queryable): Promise<App[]> {
  return (await db.query<App>(`SELECT ${appColumns} FROM app ORDER BY name, client_id`)).rows;
}

export type NewApp = Pick<App, "name" | "type" | "scopes" | "redirectUris"> &
  Partial<Registration> & {
    /** For worlds with fixed credentials; otherwise 256 random bits. */
    clientSecret?: string | undefined;
  };

const insertApp = `
  INSERT INTO app (client_id, name, type, secret_hash, pkce_required, redirect_uris, post_logout_redirect_uris, login_url,
    backchannel_logout_uri, scopes, id_token_algorithm, schulconnex_spelling, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13)`;

/**
 * Registers an app. The secret is told here and never again.
 *
 * Errors: invalid for an address that a browser must not be sent to, for a client id or secret that Basic auth would garble,
 *         and for a public app with a secret or without PKCE; conflict for a client id that another app has or had.
 */
export async function createApp(
  tx: Queryable,
  app: NewApp,
  origin: Origin & { allowLoopbackHttp: boolean },
): Promise<{ clientId: ClientId; clientSecret: string | null }> {
  checkRegistration(app);
  checkAddresses(app, origin.allowLoopbackHttp);
  const clientId = app.clientId ?? (makeUuid(origin.at) as ClientId);
  const clientSecret = app.type === "PUBLIC" ? null : (app.clientSecret ?? makeSecret());
  if (await findApp(tx, clientId)) throw new AppError("conflict", "client_id_taken", "Another app has this client id.");
  await tx.query(insertApp, [
    clientId,
    cleanText(app.name),
    app.type,
    clientSecret && hashSecret(clientSecret),
    app.pkceRequired ?? true,
    app.redirectUris,
    app.postLogoutRedirectUris ?? [],
    app.loginUrl,
    app.backchannelLogoutUri,
    app.scopes,
    app.idTokenAlgorithm ?? "RS256",
    app.schulconnexSpelling ?? "V1_4",
    origin.at,
  ]);
  // After the insert, which waits for a deletion of the same client id that is under way.
  if (await isRetired(tx, clientId))
    throw new AppError(
      "conflict",
      "client_id_retired",
      "An app that was deleted had this client id, and none is given twice.",
    );
  await recordAudit(tx, {
    at: origin.at,
    actorId: origin.actorId,
    requestId: origin.requestId,
    action: "app_created",
    clientId,
  });
  return { clientId, clientSecret };
}

async function isRetired(db: Queryable, clientId: ClientId): Promise<boolean> {
  return (await db.query("SELECT FROM retired_client_id WHERE client_id = $1", [clientId])).rowCount !== 0;
}

export type AppUpdate = { clientId: ClientId } & Partial<Omit<Registration, "clientId" | "type">>;

const updateColumns = `
  UPDATE app SET name = $2, pkce_required = $3, redirect_uris = $4, post_logout_redirect_uris = $5, login_url = $6,
    backchannel_logout_uri = $7, scopes = $8, id_token_algorithm = $9, schulconnex_spelling = $10, updated_at = $11
  WHERE client_id = $1`;

/** Changes what is given of a registration and leaves the rest. A scope that is taken away is lost for tokens at once. */
export async function updateApp(
  tx: Queryable,
  update: AppUpdate,
  origin: Origin & { allowLoopbackHttp: boolean },
): Promise<void> {
  const before = await findApp(tx, update.clientId);
  if (before === null) throw appNotFound();
  const { secretHash: _, oldSecretHash: _old, oldSecretEndsAt: _ends, ...after } = { ...before, ...update };
  checkRegistration(after);
  checkAddresses(after, origin.allowLoopbackHttp);
  await tx.query(updateColumns, [
    after.clientId,
    cleanText(after.name),
    after.pkceRequired,
    after.redirectUris,
    after.postLogoutRedirectUris,
    after.loginUrl,
    after.backchannelLogoutUri,
    after.scopes,
    after.idTokenAlgorithm,
    after.schulconnexSpelling,
    origin.at,
  ]);
  const { at, actorId, requestId } = origin;
  const changed = Object.keys(update).filter((key) => key !== "clientId");
  await recordAudit(tx, {
    at,
    actorId,
    requestId,
    action: "app_updated",
    clientId: after.clientId,
    detail: { changed },
  });
}

export const appNotFound = () => new AppError("not_found", "app_not_found", "There is no such app.");

function checkRegistration({ name, type, clientId, clientSecret, pkceRequired }: NewApp): void {
  const refuse = (code: string, message: string) => new AppError("invalid", code, message);
  checkText("name", name);
  if (clientId !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(clientId)) {
    throw refuse("client_id_refused", "A client id has up to 64 characters of A-Z, a-z, 0-9, _ and -.");
  }
  if (clientSecret !== undefined && !/^[A-Za-z0-9_-]{16,}$/.test(clientSecret)) {
    throw refuse("client_secret_refused", "A client secret has at least 16 characters of A-Z, a-z, 0-9, _ and -.");
  }
  if (type === "PUBLIC" && (clientSecret !== undefined || pkceRequired === false)) {
    throw refuse("public_app", "A public app has no secret and must use PKCE.");
  }
}

function checkAddresses(app: NewApp, allowLoopbackHttp: boolean): void {
  const inBrowser = { allowLoopbackHttp, allowOwnScheme: app.type === "PUBLIC" };
  for (const uri of [...app.redirectUris, ...(app.postLogoutRedirectUris ?? [])]) checkUri(uri, inBrowser);
  for (const uri of [app.loginUrl, app.backchannelLogoutUri]) {
    if (uri) checkUri(uri, { allowLoopbackHttp, allowOwnScheme: false });
  }
}
