import type { Prisma } from "../../generated/prisma/client.ts";
import type { PrismaDb, RecordStore, Store, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { fields, makeFind, makeFindOne, makeRowLock, sql, table } from "../platform/database/sql.ts";
import type { Queryable, Sql } from "../platform/database/sql.ts";
import type { Reason } from "./endpoint-state.ts";
import type { EventType } from "./payload.ts";
import { isFirst, isWaiting, lockQueues } from "./queue.ts";

const hidden = { failures: true, tryNewAt: true, leasedBy: true, leasedUntil: true, updatedAt: true } as const;

type Row = Omit<Prisma.WebhookEndpointModel, keyof typeof hidden>;
type Codes = { eventTypes: EventType[]; reason: Reason | null };
export type Endpoint = Omit<Row, keyof Codes> & Codes & { pending: number };

const d = table("webhookDelivery", "d");
const count = (which: typeof isFirst) => sql`(SELECT count(*) FROM ${d} WHERE ${d.endpointId} = e.id AND ${which(d)})`;

// The same conditions as the partial indexes. Prisma Client passes the state as a parameter, which excludes these.
const countPending = makeFind<{ id: string; pending: number }, { ids: readonly string[] }>()`
  SELECT e.id, (${count(isFirst)} + ${count(isWaiting)})::int AS pending FROM unnest(${"ids"}::uuid[]) AS e (id)`;

async function pendingOf(db: Queryable, ids: readonly string[]): Promise<Map<string, number>> {
  return new Map((await countPending(db, { ids })).map(({ id, pending }) => [id, pending]));
}

export type EndpointPosition = Pick<Endpoint, "clientId" | "createdAt" | "id">;

type EndpointFilter = {
  clientId?: string | undefined;
  among?: readonly string[] | undefined;
  limit?: number | undefined;
  after?: EndpointPosition | undefined;
};

const isAfter = ({ clientId, createdAt, id }: EndpointPosition) => ({
  OR: [
    { clientId: { gt: clientId } },
    { clientId, createdAt: { gt: createdAt } },
    { clientId, createdAt, id: { gt: id } },
  ],
});

export async function listEndpoints(
  { prisma, pool }: PrismaDb,
  { clientId, among, limit, after }: EndpointFilter = {},
): Promise<Endpoint[]> {
  const endpoints = await prisma.webhookEndpoint.findMany({
    where: {
      AND: [
        clientId === undefined ? {} : { clientId },
        among === undefined ? {} : { clientId: { in: [...among] } },
        after === undefined ? {} : isAfter(after),
      ],
    },
    orderBy: [{ clientId: "asc" }, { createdAt: "asc" }, { id: "asc" }],
    omit: hidden,
    ...(limit !== undefined && { take: limit }),
  });
  const pending = await pendingOf(
    pool,
    endpoints.map(({ id }) => id),
  );
  return endpoints.map((endpoint) => ({ ...endpoint, ...(endpoint as Codes), pending: pending.get(endpoint.id) ?? 0 }));
}

export async function readEndpoint(store: Store, id: string): Promise<Endpoint> {
  const endpoint = await store.prisma.webhookEndpoint.findUnique({ where: { id }, omit: hidden });
  if (endpoint === null) throw endpointNotFound();
  return { ...endpoint, ...(endpoint as Codes), pending: (await pendingOf(store, [id])).get(id) ?? 0 };
}

const lockRow = makeRowLock("webhookEndpoint", "id", "webhooks.lockEndpoint");

/** `disables` locks the queues first, as other writers do. Errors: not_found. */
export async function lockEndpoint(tx: Transaction, id: string, { disables = false } = {}): Promise<Endpoint> {
  if (disables) await lockQueues(tx, "exclusive");
  await lockRow(tx, id);
  return readEndpoint(tx, id);
}

export async function getEndpointState(
  { prisma }: RecordStore,
  id: string,
): Promise<Pick<Endpoint, "clientId" | "state" | "listensUntil">> {
  const select = { clientId: true, state: true, listensUntil: true };
  const endpoint = await prisma.webhookEndpoint.findUnique({ where: { id }, select });
  if (endpoint === null) throw endpointNotFound();
  return endpoint;
}

export const endpointNotFound = (): AppError =>
  new AppError("not_found", "webhook_endpoint_not_found", "There is no webhook endpoint with this id");

type EndpointFigures = {
  attempts: number;
  succeeded: number;
  p50Ms: number | null;
  p95Ms: number | null;
  waitingSince: Date | null;
};

const mostDeliveries = 10_000;

const w = table("webhookDelivery", "w");
const a = table("webhookAttempt", "a");
const answered = sql`${a.status} IS NOT NULL`;
const percentile = (part: Sql) =>
  sql`(percentile_disc(${part}) WITHIN GROUP (ORDER BY ${a.durationMs})
    FILTER (WHERE ${answered}))`;

export const findEndpointFigures = makeFindOne<EndpointFigures, { endpointId: string; since: Date }>(
  ({ endpointId, since }) => sql`
  SELECT ${fields<EndpointFigures>({
    attempts: sql`count(*)::int`,
    succeeded: sql`(count(*) FILTER (WHERE ${a.status} BETWEEN 200 AND 299))::int`,
    p50Ms: percentile(sql`0.5`),
    p95Ms: percentile(sql`0.95`),
    waitingSince: sql`(SELECT min(${w.createdAt}) FROM ${w} WHERE ${w.endpointId} = ${endpointId} AND ${isFirst(w)})`,
  })}
  FROM (
    SELECT ${d.id} FROM ${d} WHERE ${d.endpointId} = ${endpointId} ORDER BY ${d.id} DESC LIMIT ${mostDeliveries}
  ) newest JOIN ${a} ON ${a.deliveryId} = newest.id AND ${a.at} >= ${since}`,
);
