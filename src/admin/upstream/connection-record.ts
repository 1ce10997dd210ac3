import type { Same } from "../../platform/contract-types.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { makeRowLock } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { addressesOf, findConnection, type Connection, type ConnectionId } from "../../upstream/index.ts";
import { changeRecord, omit, tagOf, type ChangeRequest } from "../change.ts";
import { present, type AdminCaller, type AdminDeps, type Schemas } from "../handler.ts";
import { findSchoolNames } from "../names.ts";

type PresentedConnection = Schemas["UpstreamConnection"];

type Added = "schoolName" | "redirectUri" | "backchannelLogoutUri" | "postLogoutRedirectUri";

/** Does not compile if a connection has a property that the contract lacks. */
export const connectionProperties: Same<Exclude<keyof PresentedConnection, Added>, keyof Connection> = true;

export async function presentConnections(
  { issuerUrl }: Pick<AdminDeps, "issuerUrl">,
  db: Pick<RecordStore, "prisma">,
  connections: readonly Connection[],
): Promise<PresentedConnection[]> {
  const ids = connections.map(({ schoolId }) => schoolId);
  const names = await findSchoolNames(db, ids);
  return connections.map((connection) =>
    present("UpstreamConnection", {
      ...connection,
      ...addressesOf(issuerUrl, connection.id),
      schoolName: names.get(connection.schoolId) ?? "",
      lastFailure: connection.lastFailure ?? "NONE",
    }),
  );
}

/** Properties that change without a change of the settings. */
const status = [
  "schoolName",
  "metadataReadAt",
  "testedAt",
  "lastSuccessAt",
  "failingSince",
  "lastFailure",
  "lastFailureAt",
  "updatedAt",
] as const satisfies (keyof PresentedConnection)[];

export const connectionTag = (connection: PresentedConnection): string => tagOf(connection, status);

export const settingsOf = (connection: PresentedConnection): object => omit(connection, status);

export const connectionUnknown = () =>
  new AppError("not_found", "upstream_connection_not_found", "The connection does not exist.");

type AskedConnection = { connectionId: string; reach: Reach; caller: Pick<AdminCaller, "setUp"> };

/** Errors: not_found upstream_connection_not_found, also if out of reach. */
export async function getReachedConnection(
  db: RecordStore,
  { connectionId, reach, caller: { setUp } }: AskedConnection,
): Promise<Connection> {
  const connection = await findConnection(db, connectionId as ConnectionId);
  const isOthers = setUp !== undefined && setUp.connectionId !== connectionId;
  if (connection === null || isOthers || !isReached(reach, { schools: [connection.schoolId] }))
    throw connectionUnknown();
  return connection;
}

export async function readConnection(deps: Pick<AdminDeps, "issuerUrl">, db: RecordStore, target: AskedConnection) {
  const [body] = await presentConnections(deps, db, [await getReachedConnection(db, target)]);
  return body!;
}

const lock = makeRowLock("upstreamConnection", "id", "admin.lockUpstreamConnection");

/** Changes the settings of a connection. Errors: not_found upstream_connection_not_found; StaleRecord. */
export const changeConnection = (
  deps: AdminDeps,
  request: AskedConnection & ChangeRequest,
  work: (tx: Transaction, before: PresentedConnection) => Promise<void>,
  effect?: "ends",
) =>
  changeRecord(deps, request, {
    touch: (tx) => lock(tx, request.connectionId),
    record: (tx) => readConnection(deps, tx, request),
    work,
    without: status,
    recorded: settingsOf,
    effect,
  });
