import type { Prisma } from "../../generated/prisma/client.ts";
import { makeSortKey, type NameOrder } from "../directory/index.ts";
import type { Queryable, RecordStore, Transaction } from "../platform/database/db.ts";
import { fields, findRows, sql, statement, table, type Sql, type Value } from "../platform/database/sql.ts";
import type { BackchannelLogoutUri } from "./backchannel-logout.ts";
import type { ClientId, ScopeName } from "./token.ts";

/** The columns that hold client secrets. */
type Secrets = {
  /** SHA-256 of the client secret; null exactly for public apps. */
  secretHash: Buffer | null;
  /** The secret before it, which is valid too until it ends. */
  oldSecretHash: Buffer | null;
  oldSecretEndsAt: Date | null;
};

/** Columns whose values were checked. */
type Checked = { clientId: ClientId; scopes: ScopeName[]; backchannelLogoutUri: BackchannelLogoutUri | null };

/** What an operator writes of an app: every column of the record but secrets and times. */
export type Registration = Omit<Prisma.AppModel, keyof Secrets | keyof Checked | "createdAt" | "updatedAt"> & Checked;

export type App = Registration & Secrets;

const registered = table("app", "registered");

const selectApp = (clientId: Value): Sql => sql`
  SELECT ${fields<App>({
    clientId: registered.clientId,
    name: registered.name,
    type: registered.type,
    secretHash: registered.secretHash,
    oldSecretHash: registered.oldSecretHash,
    oldSecretEndsAt: registered.oldSecretEndsAt,
    pkceRequired: registered.pkceRequired,
    redirectUris: registered.redirectUris,
    postLogoutRedirectUris: registered.postLogoutRedirectUris,
    loginUrl: registered.loginUrl,
    backchannelLogoutUri: registered.backchannelLogoutUri,
    scopes: registered.scopes,
    attributes: sql`${registered.attributes}::text[]`,
    idTokenAlgorithm: registered.idTokenAlgorithm,
    schulconnexSpelling: registered.schulconnexSpelling,
  })}
  FROM ${registered} WHERE ${registered.clientId} = ${clientId}`;

/** An app as one value, for statements that ask for more than it; `readApp` reads it. */
export const appOf = (clientId: Value): Sql => sql`(SELECT to_json(found) FROM (${selectApp(clientId)}) found)`;

export type AppValue = Registration & Record<keyof Secrets, string | null>;

// JSON shows bytes as \x and hexadecimal digits, and times as text.
const readBytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text.slice(2), "hex"));

export const readApp = ({ secretHash, oldSecretHash, oldSecretEndsAt, ...app }: AppValue): App => ({
  ...app,
  secretHash: readBytes(secretHash),
  oldSecretHash: readBytes(oldSecretHash),
  oldSecretEndsAt: oldSecretEndsAt === null ? null : new Date(oldSecretEndsAt),
});

type Asked = { clientId: string };

const selectOne = statement<Asked>(({ clientId }) => selectApp(clientId), "access.findApp");

/** The app with a client id, as each sign-on asks for it; null where there is none. */
export async function findApp(db: Queryable, clientId: string): Promise<App | null> {
  const [app] = await findRows<App, Asked>(db, selectOne, { clientId });
  return app ?? null;
}

const toBuffer = (bytes: Uint8Array | null): Buffer | null => bytes && Buffer.from(bytes);

/** An app from its record, whose values were checked when it was written. */
function appFrom({ createdAt: _created, updatedAt: _updated, ...app }: Prisma.AppModel): App {
  const { clientId, scopes, backchannelLogoutUri, secretHash, oldSecretHash, ...rest } = app;
  const checked = { clientId, scopes, backchannelLogoutUri } as Record<keyof Checked, unknown> as Checked;
  return { ...rest, ...checked, secretHash: toBuffer(secretHash), oldSecretHash: toBuffer(oldSecretHash) };
}

/** All apps by name. */
export async function listApps({ prisma }: RecordStore): Promise<App[]> {
  return (await prisma.app.findMany({ orderBy: [{ name: "asc" }, { clientId: "asc" }] })).map(appFrom);
}

/** Where an app stands among all: its place orders by name as in a German dictionary, and stays when others come. */
export type AppPlace = { clientId: ClientId; place: string };

type AppsAsked = { search?: string | undefined; among?: readonly ClientId[] | undefined };

/** The places of apps in their order; `search` is a part of the name or client id, in any case. */
export async function listAppPlaces({ prisma }: RecordStore, { search, among }: AppsAsked): Promise<AppPlace[]> {
  const part = search?.normalize("NFC").toLowerCase() ?? "";
  const where = among === undefined ? {} : { clientId: { in: [...among] } };
  const apps = await prisma.app.findMany({ where, select: { clientId: true, name: true } });
  return apps
    .filter(({ clientId, name }) => `${name} ${clientId}`.toLowerCase().includes(part))
    .map(({ clientId, name }) => ({ clientId: clientId as ClientId, place: `${makeSortKey(name)}\0${clientId}` }))
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

type AppsPart = { limit: number; after?: string | undefined; order?: NameOrder | undefined };

/** A page of the apps, each with its place; `after` is the place of the last app of the page before. */
export async function listAppsByName(
  db: RecordStore,
  { limit, after, order = "name", ...asked }: AppsAsked & AppsPart,
): Promise<(App & AppPlace)[]> {
  const places = await listAppPlaces(db, asked);
  const isBehind = (place: string) => after === undefined || (order === "name" ? place > after : place < after);
  const inOrder = order === "name" ? places : places.toReversed();
  const page = inOrder.filter(({ place }) => isBehind(place)).slice(0, limit);
  const found = await db.prisma.app.findMany({ where: { clientId: { in: page.map(({ clientId }) => clientId) } } });
  const byId = new Map<string, Prisma.AppModel>(found.map((app) => [app.clientId, app]));
  return page.flatMap(({ clientId, place }) => {
    const app = byId.get(clientId);
    return app === undefined ? [] : [{ ...appFrom(app), place }];
  });
}

const lockRow = statement<{ clientId: ClientId }>(
  ({ clientId }) => sql`SELECT FROM ${registered} WHERE ${registered.clientId} = ${clientId} FOR NO KEY UPDATE`,
  "access.lockApp",
);

/** Reads an app, whose row is locked until the end of the transaction; null where there is none. */
export async function lockApp(tx: Transaction, clientId: ClientId): Promise<App | null> {
  await findRows(tx, lockRow, { clientId });
  const found = await tx.prisma.app.findUnique({ where: { clientId } });
  return found && appFrom(found);
}
