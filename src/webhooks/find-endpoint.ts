import type { PrismaDb, Queryable, RecordStore } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { findRows, sql, statement, table } from "../platform/sql.ts";
import type { Reason } from "./endpoint-state.ts";
import type { EventType } from "./payload.ts";
import { isFirst, isWaiting } from "./queue.ts";

export type Endpoint = {
  id: string;
  clientId: string;
  url: string;
  eventTypes: EventType[];
  state: "ACTIVE" | "PAUSED" | "DISABLED";
  reason: Reason | null;
  stateChangedAt: Date;
  /** Of an endpoint paused because it fails: when one event is tried. */
  resumeAt: Date | null;
  failingSince: Date | null;
  /** Deliveries that wait. */
  pending: number;
  createdAt: Date;
};

const shown = {
  id: true,
  clientId: true,
  url: true,
  eventTypes: true,
  state: true,
  reason: true,
  stateChangedAt: true,
  resumeAt: true,
  failingSince: true,
  createdAt: true,
} as const;

/** The columns without a type of their own in the database; a constraint holds their values. */
type Codes = Pick<Endpoint, "eventTypes" | "reason">;

const d = table("webhookDelivery", "d");
const count = (which: typeof isFirst) => sql`(SELECT count(*) FROM ${d} WHERE ${d.endpointId} = e.id AND ${which(d)})`;

// Each count is worded as an index of its own is. A count by Prisma Client gives the state as a parameter, which keeps
// PostgreSQL from using them.
const countPending = statement<{ ids: readonly string[] }>(
  ({ ids }) => sql`
  SELECT e.id, (${count(isFirst)} + ${count(isWaiting)})::int AS pending FROM unnest(${ids}::uuid[]) AS e (id)`,
);

async function pendingOf(db: Queryable, ids: readonly string[]): Promise<Map<string, number>> {
  type Row = { id: string; pending: number };
  const rows = await findRows<Row, { ids: readonly string[] }>(db, countPending, { ids });
  return new Map(rows.map(({ id, pending }) => [id, pending]));
}

/** Lists the endpoints of an app, or of all. */
export async function listEndpoints(
  { prisma, pool }: PrismaDb,
  { clientId }: { clientId?: string | undefined } = {},
): Promise<Endpoint[]> {
  const endpoints = await prisma.webhookEndpoint.findMany({
    where: clientId === undefined ? {} : { clientId },
    orderBy: [{ clientId: "asc" }, { createdAt: "asc" }, { id: "asc" }],
    select: shown,
  });
  const pending = await pendingOf(
    pool,
    endpoints.map(({ id }) => id),
  );
  return endpoints.map((endpoint) => ({ ...endpoint, ...(endpoint as Codes), pending: pending.get(endpoint.id) ?? 0 }));
}

/** Gets one endpoint. Errors: not_found. */
export async function getEndpoint({ prisma, pool }: PrismaDb, id: string): Promise<Endpoint> {
  const endpoint = await prisma.webhookEndpoint.findUnique({ where: { id }, select: shown });
  if (endpoint === null) throw notFound();
  return { ...endpoint, ...(endpoint as Codes), pending: (await pendingOf(pool, [id])).get(id) ?? 0 };
}

/** Finds whose endpoint it is and in which state. Errors: not_found. */
export async function getEndpointState(
  { prisma }: RecordStore,
  id: string,
): Promise<Pick<Endpoint, "clientId" | "state">> {
  const endpoint = await prisma.webhookEndpoint.findUnique({ where: { id }, select: { clientId: true, state: true } });
  if (endpoint === null) throw notFound();
  return endpoint;
}

const notFound = () =>
  new AppError("not_found", "webhook_endpoint_not_found", "There is no webhook endpoint with this id");
