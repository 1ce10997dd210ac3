import { randomUUID } from "node:crypto";
import { checkName, cleanText } from "../../directory/index.ts";
import { forgetEvents, recordAudit, type Origin } from "../../events/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../../platform/database/db.ts";
import { sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { deleteFiguresOf } from "../../traffic/index.ts";
import { appAttributes } from "../attributes.ts";
import { againAfterDeadlock, inSlot } from "../change.ts";
import { authMethodOf, checkClientAuthentication, hasSecret, readPublicKeys } from "../client-authentication.ts";
import type { TokenEndpointAuthMethod } from "../client-authentication.ts";
import { recordRegistration, recordWithheld } from "../disclosure/record.ts";
import { forgetIdsOfSectors } from "../pairwise.ts";
import type { ClientId } from "../token.ts";
import { withholdAdded } from "../withheld.ts";
import { appNotFound, findApp, getLockedApp, type App, type Registration } from "./find.ts";
import { writeProfile, type ProfileUpdate } from "./profile.ts";
import { checkRegistration, checkSector } from "./rules.ts";
import { hashSecret, makeSecret } from "./secret.ts";

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
 *         public_key_refused, default_scopes_refused, erasures_refused, roster_scopes_refused, sector_refused,
 *         public_app and text_*;
 *         conflict client_id_taken, client_id_retired.
 */
export async function createApp(tx: Transaction, app: NewApp, { allowLoopbackHttp, ...origin }: RegistrationOrigin) {
  checkRegistration(app, { defaultScopes: app.defaultScopes, allowLoopbackHttp });
  checkName("name", app.name);
  const clientId = app.clientId ?? (makeUuid(origin.at) as ClientId);
  if (await findApp(tx, clientId)) throw clientIdTaken();
  await checkSector(tx, app);
  const sector = app.subjectType === "SHARED" ? null : (app.sector ?? randomUUID());
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
  await recordRegistration(tx, { clientId, at: origin.at });
  await recordAudit(tx, { ...origin, action: "app_created", clientId });
  return { clientId, clientSecret };
}

const toSecretHash = (secret: string) => new Uint8Array(hashSecret(secret));

// The hash of a secret that nobody is told.
const withoutSecrets = () => ({ secretHash: toSecretHash(makeSecret()), oldSecretHash: null, oldSecretEndsAt: null });

/** Adds defaults; a column of the schema that is missing here does not compile. Errors: as `createApp`. */
function fillRegistration(app: NewApp & { clientId: ClientId }): Registration {
  const { type, jwksUri = null } = app;
  const method = app.tokenEndpointAuthMethod ?? (type === "PUBLIC" ? "none" : "client_secret_basic");
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
    scopes: [...new Set(app.scopes)],
    defaultScopes: [...new Set(app.defaultScopes)].filter((scope) => app.scopes.includes(scope)),
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
  const before = await getLockedApp(tx, update.clientId);
  const after = fillRegistration({ ...before, tokenEndpointAuthMethod: authMethodOf(before), ...update });
  checkRegistration(after, { defaultScopes: update.defaultScopes, allowLoopbackHttp });
  if (after.name !== before.name) checkName("name", after.name);
  const { clientId, ...data } = after;
  const secrets = hasSecret(before) && !hasSecret(after) ? withoutSecrets() : {};
  await tx.prisma.app.update({ where: { clientId }, data: { ...data, ...secrets, updatedAt: origin.at } });
  if (after.idTokenAlgorithm !== before.idTokenAlgorithm)
    await recordFormerAlgorithm(tx, before.idTokenAlgorithm, origin);
  await writeProfile(tx, clientId, profile);
  await withholdAdded(tx, { before, after, demandsAgreements }, origin.at);
  await recordRegistration(tx, { clientId, at: origin.at });
  const changed = Object.keys({ ...update, ...profile }).filter((key) => key !== "clientId");
  await recordAudit(tx, { ...origin, action: "app_updated", clientId, detail: { changed } });
}

const clientIdTaken = () => new AppError("conflict", "client_id_taken", "Another app has this client id.");

export type ForgetApp = (tx: Transaction, clientId: ClientId) => Promise<void>;

type Deletion = { origin: Origin; forget: ForgetApp };

/**
 * Deletes an app in one transaction that `work` may wrap; its events are removed later in batches.
 *
 * Errors: not_found app_not_found; unavailable during too many large changes.
 */
export async function deleteApp(
  db: PrismaDb,
  clientId: ClientId,
  { work = (_tx, deleteRecords) => deleteRecords(), ...deletion }: Deletion & { work?: Around },
): Promise<void> {
  const deleteOnce = () => withPrismaTransaction(db, (tx) => work(tx, () => deleteRecords(tx, clientId, deletion)));
  await inSlot(db, () => againAfterDeadlock(deleteOnce));
  await forgetEvents(db, { clientId, onlyNewIds: false });
}

type Around = (tx: Transaction, deleteRecords: () => Promise<void>) => Promise<void>;

async function deleteRecords(tx: Transaction, clientId: ClientId, { origin, forget }: Deletion): Promise<void> {
  // A large app has millions of sign-ins and tokens.
  await tx.query("SET LOCAL statement_timeout = 0");
  await forget(tx, clientId);
  const select = { idTokenAlgorithm: true, sector: true } as const;
  const move = await tx.prisma.idMove.findUnique({ where: { clientId } });
  const app = await tx.prisma.app.findUnique({ where: { clientId }, select });
  const { count } = await tx.prisma.app.deleteMany({ where: { clientId } });
  if (app === null || count === 0) throw appNotFound();
  await recordRegistration(tx, { clientId, at: origin.at });
  await recordWithheld(tx, { clientId, schoolId: null, at: origin.at });
  const sectors = [app.sector, move?.oldSector, move?.newSector].filter((sector) => typeof sector === "string");
  await forgetIdsOfSectors(tx, [...new Set(sectors)]);
  await deleteFiguresOf(tx, `app:${clientId}`);
  await tx.prisma.announcedSignIn.deleteMany({ where: { clientId } });
  // Schools keep the receipts of what they agreed to.
  await tx.prisma.agreement.deleteMany({ where: { clientId, acceptances: { none: {} } } });
  await forget(tx, clientId);
  await tx.prisma.retiredClientId.create({ data: { clientId, retiredAt: origin.at } });
  await recordFormerAlgorithm(tx, app.idTokenAlgorithm, origin);
  await recordAudit(tx, { ...origin, action: "app_deleted", clientId });
}

const suspended = table("app", "suspended");

/** SQL: nobody signs in to the app, its tokens are refused, and its webhooks wait. */
export const appIsSuspended = (client: Value): Sql => sql`EXISTS (SELECT FROM ${suspended}
  WHERE ${suspended.clientId} = ${client} AND ${suspended.suspendedAt} IS NOT NULL)`;

/** The app exists. If it is suspended already, only the reason changes. */
export async function suspendApp(
  tx: Transaction,
  { clientId, reason }: { clientId: ClientId; reason: string },
  origin: Origin,
): Promise<void> {
  const { suspendedAt } = await tx.prisma.app.findUniqueOrThrow({ where: { clientId }, select: { suspendedAt: true } });
  const data = { suspendedAt: suspendedAt ?? origin.at, suspensionReason: reason, updatedAt: origin.at };
  await tx.prisma.app.update({ where: { clientId }, data });
  await recordAudit(tx, { ...origin, action: "app_suspended", clientId });
}

/** Errors: not_found suspension_not_found. */
export async function resumeApp(tx: Transaction, clientId: ClientId, origin: Origin): Promise<void> {
  const data = { suspendedAt: null, suspensionReason: null, updatedAt: origin.at };
  const { count } = await tx.prisma.app.updateMany({ where: { clientId, suspendedAt: { not: null } }, data });
  if (count === 0) throw new AppError("not_found", "suspension_not_found", "The app is not suspended.");
  await recordAudit(tx, { ...origin, action: "app_resumed", clientId });
}

type IdTokenAlgorithm = Registration["idTokenAlgorithm"];

/** Keys of this algorithm are always published. */
export const defaultIdTokenAlgorithm: IdTokenAlgorithm = "RS256";

/** Keys of the algorithm stay published until the ID tokens that the app got have expired. */
async function recordFormerAlgorithm(
  tx: Transaction,
  algorithm: IdTokenAlgorithm,
  { at: usedUntil }: Pick<Origin, "at">,
): Promise<void> {
  if (algorithm === defaultIdTokenAlgorithm) return;
  const create = { algorithm, usedUntil };
  await tx.prisma.formerAlgorithm.upsert({ where: { algorithm }, create, update: { usedUntil } });
}
