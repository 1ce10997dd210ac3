import { randomUUID } from "node:crypto";
import { checkName, checkText, cleanText } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { appAttributes } from "./attributes.ts";
import { writeProfile, type ProfileUpdate } from "./app-profile.ts";
import {
  authMethodOf,
  checkClientAuthentication,
  hasSecret,
  readPublicKeys,
  type TokenEndpointAuthMethod,
} from "./client-authentication.ts";
import { hashSecret, makeSecret } from "./client-secret.ts";
import { recordRegistration } from "./disclosure/registration.ts";
import { findApp, lockApp, type App, type Registration } from "./find-app.ts";
import { defaultIdTokenAlgorithm, recordFormerAlgorithm } from "./id-token-algorithm.ts";
import { checkUri } from "./redirect-uri.ts";
import { checkSector } from "./sector.ts";
import type { ClientId, ScopeName } from "./token.ts";
import { withholdAdded } from "./withheld.ts";

type Wanted = Omit<Registration, "tokenEndpointAuthMethod" | "publicKeys"> & {
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  publicKeys: readonly unknown[];
};

export type NewApp = Pick<App, "name" | "type" | "scopes" | "redirectUris"> &
  Partial<Wanted> & {
    profile?: ProfileUpdate | undefined;
    clientSecret?: string | undefined;
  };

type RegistrationOrigin = Origin & {
  allowLoopbackHttp: boolean;
  /** What the app gets is withheld at schools until they agree to it. */
  demandsAgreements?: boolean;
};

/**
 * Only the result has the secret.
 *
 * Errors: invalid uri_refused, client_id_refused, client_secret_refused, client_authentication,
 *         public_key_refused, default_scopes_refused, erasures_refused, sector_refused, public_app and text_*;
 *         conflict client_id_taken, client_id_retired.
 */
export async function createApp(
  tx: Transaction,
  app: NewApp,
  { allowLoopbackHttp, ...origin }: RegistrationOrigin,
): Promise<{ clientId: ClientId; clientSecret: string | null }> {
  checkRegistration(app);
  checkErasures(app);
  checkDefaultScopes(app, app.defaultScopes);
  checkAddresses(app, allowLoopbackHttp);
  checkName("name", app.name);
  const clientId = app.clientId ?? (makeUuid(origin.at) as ClientId);
  if (await findApp(tx, clientId)) throw clientIdTaken();
  const sector = await chooseSector(tx, app);
  const registration = fillRegistration({ ...app, clientId, sector });
  const clientSecret = hasSecret(registration) ? (app.clientSecret ?? makeSecret()) : null;
  const secretHash = app.type === "PUBLIC" ? null : toSecretHash(clientSecret ?? makeSecret());
  const times = { createdAt: origin.at, updatedAt: origin.at };
  await tx.prisma.app.create({ data: { ...registration, secretHash, ...times } }).catch((error: unknown) => {
    throw (error as { constraint?: string }).constraint === "app_pkey" ? clientIdTaken() : error;
  });
  // Checked after the insert, which waits for a concurrent deletion of the same client id.
  if ((await tx.prisma.retiredClientId.count({ where: { clientId } })) > 0) {
    const message = "An app that was deleted had this client id, and none is given twice.";
    throw new AppError("conflict", "client_id_retired", message);
  }
  await writeProfile(tx, clientId, app.profile ?? {});
  await recordRegistration(tx, clientId, origin.at);
  await recordAudit(tx, { ...origin, action: "app_created", clientId });
  return { clientId, clientSecret };
}

/** Errors: invalid sector_refused. */
async function chooseSector(tx: Transaction, wish: NewApp): Promise<string | null> {
  await checkSector(tx, wish);
  return wish.subjectType === "SHARED" ? null : (wish.sector ?? randomUUID());
}

const toSecretHash = (secret: string) => new Uint8Array(hashSecret(secret));

// The hash of a secret that nobody is told.
const withoutSecrets = () => ({ secretHash: toSecretHash(makeSecret()), oldSecretHash: null, oldSecretEndsAt: null });

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Adds defaults; a column of the schema that is missing here does not compile. Errors: as `createApp`. */
function fillRegistration(app: NewApp & { clientId: ClientId }): Registration {
  const { type, tokenEndpointAuthMethod: asked, jwksUri = null } = app;
  const method = asked ?? (type === "PUBLIC" ? "none" : "client_secret_basic");
  const publicKeys = readPublicKeys(app.publicKeys ?? []);
  checkClientAuthentication({ type, tokenEndpointAuthMethod: method, publicKeys, jwksUri });
  return {
    clientId: app.clientId,
    name: cleanText(app.name),
    type,
    tokenEndpointAuthMethod: method === "none" ? "client_secret_basic" : method,
    publicKeys,
    jwksUri,
    pkceRequired: app.pkceRequired ?? true,
    redirectUris: app.redirectUris,
    postLogoutRedirectUris: app.postLogoutRedirectUris ?? [],
    loginUrl: app.loginUrl ?? null,
    backchannelLogoutUri: app.backchannelLogoutUri ?? null,
    scopes: unique(app.scopes),
    defaultScopes: unique(app.defaultScopes ?? []).filter((scope) => app.scopes.includes(scope)),
    scopePlatform: app.scopePlatform ?? null,
    attributes: appAttributes.filter((name) => app.attributes?.includes(name) ?? true),
    idTokenAlgorithm: app.idTokenAlgorithm ?? defaultIdTokenAlgorithm,
    schulconnexSpelling: app.schulconnexSpelling ?? "V1_4",
    subjectType: app.subjectType ?? "APP",
    sector: app.sector ?? null,
    confirmsErasures: app.confirmsErasures ?? false,
  };
}

export type AppUpdate = { clientId: ClientId; profile?: ProfileUpdate | undefined } & Partial<
  Omit<Wanted, "clientId" | "type" | "subjectType" | "sector">
>;

/**
 * Tokens lose a removed scope at once; a change to keys ends the secrets.
 *
 * Errors: not_found app_not_found; invalid as `createApp`.
 */
export async function updateApp(
  tx: Transaction,
  { profile = {}, ...update }: AppUpdate,
  { allowLoopbackHttp, demandsAgreements = false, ...origin }: RegistrationOrigin,
): Promise<void> {
  const before = await lockApp(tx, update.clientId);
  if (before === null) throw appNotFound();
  const after = fillRegistration({ ...before, tokenEndpointAuthMethod: authMethodOf(before), ...update });
  checkRegistration(after);
  checkErasures(after);
  checkDefaultScopes(after, update.defaultScopes);
  checkAddresses(after, allowLoopbackHttp);
  if (after.name !== before.name) checkName("name", after.name);
  const { clientId, ...data } = after;
  const secrets = hasSecret(before) && !hasSecret(after) ? withoutSecrets() : {};
  await tx.prisma.app.update({ where: { clientId }, data: { ...data, ...secrets, updatedAt: origin.at } });
  if (after.idTokenAlgorithm !== before.idTokenAlgorithm)
    await recordFormerAlgorithm(tx, before.idTokenAlgorithm, origin);
  await writeProfile(tx, clientId, profile);
  await withholdAdded(tx, { before, after, demandsAgreements }, origin.at);
  await recordRegistration(tx, clientId, origin.at);
  const changed = Object.keys({ ...update, ...profile }).filter((key) => key !== "clientId");
  await recordAudit(tx, { ...origin, action: "app_updated", clientId, detail: { changed } });
}

const clientIdTaken = () => new AppError("conflict", "client_id_taken", "Another app has this client id.");

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

function checkErasures({ type, scopes, confirmsErasures = false }: NewApp): void {
  if (!confirmsErasures || (type !== "PUBLIC" && scopes.some((scope) => /^(users|people):read$/.test(scope)))) return;
  const message = "An app that confirms erasures needs users:read or people:read, and a secret or keys of its own.";
  throw new AppError("invalid", "erasures_refused", message);
}

function checkDefaultScopes({ type, scopes }: NewApp, given: readonly ScopeName[] = []): void {
  const refuse = (message: string) => new AppError("invalid", "default_scopes_refused", message);
  const wrong = given.find((scope) => !scopes.includes(scope));
  if (wrong !== undefined)
    throw refuse(`A default scope is one of the scopes of the app, which does not have ${wrong}.`);
  if (type === "PUBLIC" && given.length > 0)
    throw refuse("A public app gets no token of its own, so it has no default scopes.");
}

function checkAddresses(app: NewApp, allowLoopbackHttp: boolean): void {
  const inBrowser = { allowLoopbackHttp, allowOwnScheme: app.type === "PUBLIC" };
  for (const name of ["redirectUris", "postLogoutRedirectUris"] as const)
    for (const [index, uri] of (app[name] ?? []).entries()) checkUri(`${name}/${index}`, uri, inBrowser);
  for (const name of ["loginUrl", "backchannelLogoutUri", "jwksUri"] as const) {
    const uri = app[name];
    if (uri) checkUri(name, uri, { allowLoopbackHttp, allowOwnScheme: false });
  }
}
