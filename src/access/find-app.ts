import type { Prisma } from "../../generated/prisma/client.ts";
import { makeSortKey, type SortOrder } from "../directory/index.ts";
import type { PublicKey } from "../platform/crypto/public-key.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import {
  fields,
  findRows,
  makeRowLock,
  sql,
  statement,
  table,
  type Sql,
  type Value,
  type Queryable,
} from "../platform/database/sql.ts";
import type { CalledUri } from "./redirect-uri.ts";
import { commandLineClientId, type ClientId, type ScopeName } from "./token.ts";

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

const selectOne = statement<{ clientId: string }>(({ clientId }) => selectApp(clientId), "access.findApp");

export async function findApp(db: Queryable, clientId: string): Promise<App | null> {
  const [app] = await findRows<App, { clientId: string }>(db, selectOne, { clientId });
  return app ?? null;
}

const toBuffer = (bytes: Uint8Array | null): Buffer | null => bytes && Buffer.from(bytes);

function appFrom({ createdAt: _created, updatedAt: _updated, ...app }: Prisma.AppModel): App {
  const {
    clientId,
    scopes,
    defaultScopes,
    backchannelLogoutUri,
    publicKeys,
    jwksUri,
    secretHash,
    oldSecretHash,
    ...rest
  } = app;
  const checked = { clientId, scopes, defaultScopes, backchannelLogoutUri, publicKeys, jwksUri } as Record<
    keyof Checked,
    unknown
  > as Checked;
  return { ...rest, ...checked, secretHash: toBuffer(secretHash), oldSecretHash: toBuffer(oldSecretHash) };
}

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
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

type AppPage = { limit: number; after?: string | undefined; order?: SortOrder | undefined };

export async function listAppsByName(
  db: RecordStore,
  { limit, after, order = "asc", ...filter }: AppFilter & AppPage,
): Promise<(App & AppPlace)[]> {
  const places = await listAppPlaces(db, filter);
  const isAfter = (place: string) => after === undefined || (order === "asc" ? place > after : place < after);
  const inOrder = order === "asc" ? places : places.toReversed();
  const page = inOrder.filter(({ place }) => isAfter(place)).slice(0, limit);
  const found = await db.prisma.app.findMany({ where: { clientId: { in: page.map(({ clientId }) => clientId) } } });
  const byId = new Map<string, Prisma.AppModel>(found.map((app) => [app.clientId, app]));
  return page.flatMap(({ clientId, place }) => {
    const app = byId.get(clientId);
    return app === undefined ? [] : [{ ...appFrom(app), place }];
  });
}

/** Of the apps without a secret, whose pages may call the service. */
export async function listPublicRedirectUris({ prisma }: RecordStore): Promise<string[]> {
  const apps = await prisma.app.findMany({ where: { type: "PUBLIC" }, select: { redirectUris: true } });
  return apps.flatMap(({ redirectUris }) => redirectUris);
}

const lockRow = makeRowLock("app", "clientId", "access.lockApp");

export async function lockApp(tx: Transaction, clientId: ClientId): Promise<App | null> {
  await lockRow(tx, clientId);
  const found = await tx.prisma.app.findUnique({ where: { clientId } });
  return found && appFrom(found);
}
