import type { Prisma } from "../../../generated/prisma/client.ts";
import { makeSortKey, type SortOrder } from "../../directory/index.ts";
import type { PublicKey } from "../../platform/crypto/public-key.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { fields, makeFind, makeRowLock, sql, table } from "../../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../../platform/database/sql.ts";
import { commandLineClientId, type ClientId, type ScopeName } from "../token.ts";

/** A checked URI that this service calls; the only kind that is stored. */
export type CalledUri = string & { readonly __calledUri: true };

type Secrets = {
  secretHash: Buffer | null;
  oldSecretHash: Buffer | null;
  oldSecretEndsAt: Date | null;
};

type Suspension = { suspendedAt: Date | null; suspensionReason: string | null };

type Checked = {
  clientId: ClientId;
  scopes: ScopeName[];
  defaultScopes: ScopeName[];
  backchannelLogoutUri: CalledUri | null;
  publicKeys: PublicKey[];
  jwksUri: CalledUri | null;
};

export type Registration = Omit<
  Prisma.AppModel,
  keyof Secrets | keyof Suspension | keyof Checked | "createdAt" | "updatedAt"
> &
  Checked;

export type App = Registration & Secrets & Suspension;

const registered = table("app", "registered");
const { createdAt: _createdAt, updatedAt: _updatedAt, ...columns } = registered;

const selectApp = (clientId: Value): Sql => sql`
  SELECT ${fields<App>({ ...columns, attributes: sql`${registered.attributes}::text[]` })}
  FROM ${registered} WHERE ${registered.clientId} = ${clientId}`;

export const appOf = (clientId: Value): Sql => sql`(SELECT to_json(found) FROM (${selectApp(clientId)}) found)`;

export type AppValue = Registration & Record<keyof Secrets | keyof Suspension, string | null>;

// PostgreSQL writes bytes in JSON as \x and hexadecimal digits.
const readBytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text.slice(2), "hex"));

const readTime = (text: string | null): Date | null => (text === null ? null : new Date(text));

export const readApp = ({ secretHash, oldSecretHash, oldSecretEndsAt, suspendedAt, ...app }: AppValue): App => ({
  ...app,
  secretHash: readBytes(secretHash),
  oldSecretHash: readBytes(oldSecretHash),
  oldSecretEndsAt: readTime(oldSecretEndsAt),
  suspendedAt: readTime(suspendedAt),
});

const selectOne = makeFind<App, { clientId: string }>(({ clientId }) => selectApp(clientId), "access.findApp");

export const findApp = async (db: Queryable, clientId: string): Promise<App | null> =>
  (await selectOne(db, { clientId }))[0] ?? null;

const toBuffer = (bytes: Uint8Array | null): Buffer | null => bytes && Buffer.from(bytes);

const appFrom = ({ createdAt: _created, updatedAt: _updated, ...app }: Prisma.AppModel): App => ({
  ...app,
  ...(app as unknown as Checked),
  secretHash: toBuffer(app.secretHash),
  oldSecretHash: toBuffer(app.oldSecretHash),
});

export type AppPlace = { clientId: ClientId; place: string };

type AppFilter = {
  search?: string | undefined;
  among?: readonly ClientId[] | undefined;
  /** Also the app that is a part of the service. */
  withBuiltIn?: boolean;
};

export async function listAppPlaces(
  { prisma }: RecordStore,
  { search, among, withBuiltIn = false }: AppFilter,
): Promise<AppPlace[]> {
  const text = search?.normalize("NFC").toLowerCase() ?? "";
  const clientId = {
    ...(!withBuiltIn && { not: commandLineClientId }),
    ...(among !== undefined && { in: [...among] }),
  };
  const apps = await prisma.app.findMany({ where: { clientId }, select: { clientId: true, name: true } });
  return apps
    .filter(({ clientId, name }) => `${name} ${clientId}`.toLowerCase().includes(text))
    .map(({ clientId, name }) => ({ clientId: clientId as ClientId, place: `${makeSortKey(name)}\0${clientId}` }))
    .sort(byPlace);
}

const byPlace = (a: AppPlace, b: AppPlace): number => (a.place < b.place ? -1 : Number(a.place > b.place));

type AppPage = { limit: number; after?: string | undefined; order?: SortOrder | undefined };

export async function listAppsByName(
  db: RecordStore,
  { limit, after, order = "asc", ...filter }: AppFilter & AppPage,
): Promise<(App & AppPlace)[]> {
  const places = await listAppPlaces(db, filter);
  const isAfter = (place: string) => after === undefined || (order === "asc" ? place > after : place < after);
  const inOrder = order === "asc" ? places : places.toReversed();
  const page = inOrder.filter(({ place }) => isAfter(place)).slice(0, limit);
  const apps = await db.prisma.app.findMany({ where: { clientId: { in: page.map(({ clientId }) => clientId) } } });
  const placeOf = new Map<string, string>(page.map(({ clientId, place }) => [clientId, place]));
  const listed = apps.map((app) => ({ ...appFrom(app), place: placeOf.get(app.clientId)! }));
  return listed.sort(order === "asc" ? byPlace : (a, b) => byPlace(b, a));
}

/** The redirect URIs of apps without a secret, whose pages may call the service. */
export async function listPublicRedirectUris({ prisma }: RecordStore): Promise<string[]> {
  const apps = await prisma.app.findMany({ where: { type: "PUBLIC" }, select: { redirectUris: true } });
  return apps.flatMap(({ redirectUris }) => redirectUris);
}

const lockRow = makeRowLock("app", "clientId", "access.lockApp");

export async function lockApp(tx: Transaction, clientId: ClientId): Promise<App | null> {
  await lockRow(tx, clientId);
  const app = await tx.prisma.app.findUnique({ where: { clientId } });
  return app && appFrom(app);
}

export const appNotFound = () => new AppError("not_found", "app_not_found", "There is no such app.");

/** Errors: not_found app_not_found. */
export async function getLockedApp(tx: Transaction, clientId: ClientId): Promise<App> {
  const app = await lockApp(tx, clientId);
  if (app === null) throw appNotFound();
  return app;
}
