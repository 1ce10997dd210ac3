import type { Prisma } from "../../generated/prisma/client.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays, type Clock, addMonths, daysBetween, dayOf } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { makeSweep } from "../platform/jobs/batches.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { personNameOf, type PersonName } from "./person.ts";

export type DataRequestId = string & { readonly __dataRequestId: true };

type Row = Prisma.DataRequestModel;

/** Days as `2026-02-03`. `person` is null after the deletion for good. */
export type DataRequest = Pick<Row, "askedBy" | "extension" | "extendedAt" | "exportedAt" | "outcome" | "closedAt"> & {
  id: DataRequestId;
  schoolId: SchoolId;
  person: { id: PersonId; homeSchoolId: SchoolId | null; name: PersonName | null } | null;
  receivedOn: string;
  dueOn: string;
  daysLeft: number | null;
  closedBy: { role: string; name: PersonName | null } | null;
};

const name = { firstFull: true, firstCall: true, last: true } as const;
const whole = {
  person: { select: { id: true, homeSchoolId: true, ...name } },
  closedBy: { select: name },
} satisfies Prisma.DataRequestInclude;

type Whole = Prisma.DataRequestGetPayload<{ include: typeof whole }>;

const isoDay = (day: Date): string => day.toISOString().slice(0, 10);

function presentRequest({ person, closedBy, closedRole, ...row }: Whole, now: Date): DataRequest {
  const isClosed = row.closedAt !== null;
  return {
    ...row,
    id: row.id as DataRequestId,
    schoolId: row.schoolId as SchoolId,
    person: person && {
      id: person.id as PersonId,
      homeSchoolId: person.homeSchoolId as SchoolId | null,
      name: personNameOf(person),
    },
    receivedOn: isoDay(row.receivedOn),
    dueOn: isoDay(row.dueOn),
    daysLeft: isClosed ? null : daysBetween(dayOf(now), isoDay(row.dueOn)),
    closedBy: isClosed ? { role: closedRole ?? "NONE", name: closedBy && personNameOf(closedBy) } : null,
  };
}

const requestNotFound = () => new AppError("not_found", "data_request_not_found", "There is no such data request.");
const conflict = (code: string, message: string) => new AppError("conflict", code, message);

/** Errors: not_found data_request_not_found. */
export async function getDataRequest({ prisma }: RecordStore, id: DataRequestId, now: Date): Promise<DataRequest> {
  const request = await prisma.dataRequest.findUnique({ where: { id }, include: whole });
  if (request === null) throw requestNotFound();
  return presentRequest(request, now);
}

type Listing = {
  /** Null means all schools. */
  schoolIds: readonly SchoolId[] | null;
  personId?: PersonId | undefined;
  isOpen?: boolean | undefined;
  /** Requests that are due first come first; otherwise the newest. */
  byDueDay?: boolean;
  limit: number;
  after?: string | undefined;
  now: Date;
};

const filterOf = ({ schoolIds, personId, isOpen, after }: Omit<Listing, "limit" | "now">) => ({
  ...(schoolIds !== null && { schoolId: { in: [...schoolIds] } }),
  ...(personId !== undefined && { personId }),
  ...(isOpen !== undefined && { closedAt: isOpen ? null : { not: null } }),
  ...(after !== undefined && { id: { lt: after } }),
});

export async function listDataRequests({ prisma }: RecordStore, { limit, now, byDueDay = false, ...filter }: Listing) {
  const newest = { id: "desc" } as const;
  const orderBy = byDueDay ? [{ dueOn: "asc" } as const, newest] : [newest];
  const requests = await prisma.dataRequest.findMany({ where: filterOf(filter), include: whole, orderBy, take: limit });
  return requests.map((one) => presentRequest(one, now));
}

export async function countDataRequests(
  { prisma }: RecordStore,
  { schoolIds, now }: { schoolIds: readonly SchoolId[]; now: Date },
): Promise<{ count: number; overdue: number }> {
  const where = filterOf({ schoolIds, isOpen: true });
  const isOver = { dueOn: { lt: new Date(dayOf(now)) } };
  const [count, overdue] = [
    await prisma.dataRequest.count({ where }),
    await prisma.dataRequest.count({ where: { ...where, ...isOver } }),
  ];
  return { count, overdue };
}

type NewRequest = { personId: PersonId; schoolId: SchoolId; askedBy: Row["askedBy"]; receivedOn?: string | undefined };

/** Errors: invalid received_on_refused for a day in the future or more than a year ago. */
export async function recordDataRequest(
  tx: Transaction,
  { personId, schoolId, askedBy, ...request }: NewRequest,
  origin: Origin,
): Promise<DataRequestId> {
  const receivedOn = request.receivedOn ?? dayOf(origin.at);
  const id = makeUuid(origin.at) as DataRequestId;
  const age = daysBetween(receivedOn, dayOf(origin.at));
  if (!(age >= 0 && age <= 366)) {
    const message = "The day of receipt must not be in the future, and not more than a year ago.";
    throw new AppError("invalid", "received_on_refused", message);
  }
  const days = { receivedOn: new Date(receivedOn), dueOn: new Date(addMonths(receivedOn, 1)) };
  await tx.prisma.dataRequest.create({ data: { id, schoolId, personId, askedBy, ...days } });
  await recordAudit(tx, { ...origin, action: "data_request_recorded", personId, schoolId, detail: { askedBy } });
  return id;
}

const lockRow = makeRowLock("dataRequest", "id", "directory.lockDataRequest");

/** Locks the request until the transaction ends. Errors: not_found; conflict data_request_closed. */
export async function getOpenDataRequest(tx: Transaction, id: DataRequestId, now: Date): Promise<DataRequest> {
  await lockRow(tx, id);
  const request = await getDataRequest(tx, id, now);
  if (request.closedAt !== null) throw conflict("data_request_closed", "The data request is closed already.");
  return request;
}

/** Two months more, once, and within the first one. Errors: conflict data_request_extended, data_request_overdue. */
export async function extendDataRequest(
  tx: Transaction,
  { id, schoolId, person, receivedOn, extendedAt, daysLeft }: DataRequest,
  extension: NonNullable<Row["extension"]>,
  origin: Origin,
): Promise<void> {
  if (extendedAt !== null) throw conflict("data_request_extended", "The time for the answer was extended already.");
  if ((daysLeft ?? 0) < 0)
    throw conflict("data_request_overdue", "The first month is over. The time can no longer be extended.");
  const data = { extension, extendedAt: origin.at, dueOn: new Date(addMonths(receivedOn, 3)) };
  await tx.prisma.dataRequest.update({ where: { id }, data });
  const line = { personId: person?.id, schoolId, detail: { reason: extension } };
  await recordAudit(tx, { ...origin, action: "data_request_extended", ...line });
}

export async function closeDataRequest(
  tx: Transaction,
  { id, schoolId, person, exportedAt }: DataRequest,
  outcome: NonNullable<Row["outcome"]>,
  { closedById, ...origin }: Origin & { closedById: PersonId | null },
): Promise<void> {
  const data = { outcome, closedAt: origin.at, closedById, closedRole: origin.actorRole ?? null };
  await tx.prisma.dataRequest.update({ where: { id }, data });
  const detail = { outcome, exportedAt: exportedAt?.toISOString() ?? null };
  await recordAudit(tx, { ...origin, action: "data_request_closed", personId: person?.id, schoolId, detail });
}

/** Notes in the open requests that a school received about a person that it exported their data. */
export async function noteExport(
  { prisma }: Transaction,
  { at, ...whose }: { personId: PersonId; schoolId: SchoolId; at: Date },
): Promise<void> {
  await prisma.dataRequest.updateMany({ where: { ...whose, closedAt: null }, data: { exportedAt: at } });
}

type SweepDeps = { db: RecordStore; clock: Clock; recordDays: number };

/** Deletes closed requests after the time for which they show that the school answered. */
export const makeDataRequestSweep = ({ db, clock, recordDays }: SweepDeps) =>
  makeSweep({ name: "directory.sweepDataRequests", clock }, async (now, limit) => {
    const where = { closedAt: { lt: addDays(now, -recordDays) } };
    return (await db.prisma.dataRequest.deleteMany({ where, limit })).count;
  });
