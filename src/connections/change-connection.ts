import { checkName, type SchoolId } from "../directory/index.ts";
import { recordAudit, type AuditAction, type Origin } from "../events/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { checkLimit, lockName } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import {
  getConnectionRow,
  nextRunOf,
  scheduleOf,
  schoolIdsOf,
  type ConnectionRow,
  type RosterApplies,
  type RosterConnectionId,
} from "./connection.ts";
import type { Day } from "./schedule.ts";
import { checkSchedule, isForOthers, openSecret, readSettings, sealSecret, type GivenSettings } from "./settings.ts";
import type { SourceKind, Sources } from "./sources/index.ts";
import type { RosterSource, SourceSettings } from "./sources/source.ts";

type ConnectionFields = GivenSettings & {
  secret?: string | undefined;
  times?: string[] | undefined;
  daysOff?: Day[] | undefined;
  pauseFrom?: string | null | undefined;
  pauseUntil?: string | null | undefined;
  applies?: RosterApplies | undefined;
  notifyAddresses?: string[] | undefined;
};
type NewRosterConnection = ConnectionFields & { name: string; kind: SourceKind; schoolIds: SchoolId[] };
export type RosterConnectionUpdate = ConnectionFields & {
  name?: string | undefined;
  schoolIds?: SchoolId[] | undefined;
  state?: "ON" | "OFF" | undefined;
};

type Context = { keys: EncryptionKeys; sources: Sources; origin: Origin };

/** Errors: invalid roster_setting_malformed for a kind that this service does not offer. */
export function getSource(sources: Sources, kind: string): RosterSource {
  const source = sources[kind as SourceKind];
  if (source !== undefined) return source;
  const message = `kind ${kind} is not offered here: the operator has not set it up.`;
  throw new AppError("invalid", "roster_setting_malformed", message, undefined, { property: "kind" });
}

const mostOfSchool = 10;

const full = () =>
  new AppError("conflict", "roster_connections_full", `A school has at most ${mostOfSchool} roster connections.`);

/** Errors: not_found school_not_found, also for a sandbox; conflict roster_connections_full. */
async function setSchools(tx: Transaction, connectionId: string, input: readonly SchoolId[]): Promise<void> {
  const wanted = [...new Set(input)];
  const { prisma } = tx;
  if ((await prisma.school.count({ where: { id: { in: wanted }, sandboxId: null } })) < wanted.length)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  await checkLimit({
    lock: () => lockName(tx, { name: "roster connections" }),
    count: async () => {
      const others = { schoolId: { in: wanted }, connectionId: { not: connectionId } };
      const sizes = await prisma.rosterConnectionSchool.groupBy({ by: ["schoolId"], where: others, _count: true });
      return Math.max(0, ...sizes.map(({ _count: count }) => count));
    },
    most: mostOfSchool,
    full,
  });
  // The new ones first: a connection is deleted with the last of its schools.
  const data = wanted.map((schoolId) => ({ connectionId, schoolId }));
  await prisma.rosterConnectionSchool.createMany({ data, skipDuplicates: true });
  await prisma.rosterConnectionSchool.deleteMany({ where: { connectionId, schoolId: { notIn: wanted } } });
}

const dateOf = (day: string | null): Date | null => (day === null ? null : new Date(day));

/** The columns of what was given, checked together with what stays. Errors: invalid. */
function readColumns(input: ConnectionFields & { name?: string | undefined }, before: ConnectionRow) {
  const { times, daysOff, applies, notifyAddresses, pauseFrom, pauseUntil, name } = input;
  const data = {
    ...(name !== undefined && { name: checkName("name", name, 60) }),
    ...(times !== undefined && { times: [...new Set(times)].sort() }),
    ...(daysOff !== undefined && { daysOff: [...new Set(daysOff)] }),
    ...(pauseFrom !== undefined && { pauseFrom: dateOf(pauseFrom) }),
    ...(pauseUntil !== undefined && { pauseUntil: dateOf(pauseUntil) }),
    ...(applies !== undefined && { applies }),
    ...(notifyAddresses !== undefined && { notifyAddresses: [...new Set(notifyAddresses)] }),
  };
  checkSchedule(scheduleOf({ ...before, ...data }));
  return data;
}

const record = async (
  tx: Transaction,
  { id, schoolIds }: { id: string; schoolIds: readonly SchoolId[] },
  action: AuditAction,
  origin: Origin,
) => {
  const [only, ...others] = schoolIds;
  const detail = { connectionId: id };
  await recordAudit(tx, { ...origin, action, schoolId: others.length === 0 ? only : undefined, detail });
};

/** Errors: invalid; not_found school_not_found; conflict roster_connections_full. */
export async function createRosterConnectionIn(
  tx: Transaction,
  { name, kind, schoolIds, secret, ...input }: NewRosterConnection,
  { keys, sources, origin }: Context,
): Promise<RosterConnectionId> {
  const source = getSource(sources, kind);
  const settings = readSettings({ kind, source, schools: new Set(schoolIds).size }, {}, input);
  if (secret !== undefined) checkSecret(source, secret);
  const id = makeUuid(origin.at) as RosterConnectionId;
  const empty = { id, name, kind, settings, secret: null, state: "OFF", times: [], daysOff: [], applies: "PREVIEW" };
  const times = { createdAt: origin.at, updatedAt: origin.at };
  const row = { ...empty, notifyAddresses: [], pauseFrom: null, pauseUntil: null, ...times };
  const sealed = secret === undefined ? {} : { secret: sealSecret(keys, { id, settings }, secret) };
  const columns = readColumns({ ...input, name }, row as unknown as ConnectionRow);
  await tx.prisma.rosterConnection.create({ data: { ...row, ...columns, ...sealed } });
  await setSchools(tx, id, schoolIds);
  await record(tx, { id, schoolIds }, "roster_connection_created", origin);
  return id;
}

function checkSecret({ secret }: RosterSource, input: string): void {
  const property = { property: "secret" };
  if (secret === "none")
    throw new AppError("invalid", "roster_setting_unused", "secret is not used by this kind of source.", "", property);
  if (/\p{Cc}/u.test(input.trim()))
    throw new AppError("invalid", "roster_setting_malformed", "secret has a control character.", "", property);
}

/** Errors: as `createRosterConnectionIn`; conflict roster_connection_incomplete if it cannot be switched on. */
export async function updateRosterConnectionIn(
  tx: Transaction,
  id: string,
  { schoolIds, secret, state: wanted, ...input }: RosterConnectionUpdate,
  { keys, sources, origin }: Context,
): Promise<void> {
  const before = await getConnectionRow(tx, id);
  const source = getSource(sources, before.kind);
  const known = before.settings as SourceSettings;
  const schools = new Set(schoolIds ?? schoolIdsOf(before)).size;
  const settings = readSettings({ kind: before.kind, source, schools }, known, input);
  if (secret !== undefined) checkSecret(source, secret);
  const forgetsSecret = secret === undefined && isForOthers(known, settings) && before.secret !== null;
  const hasSecret = secret !== undefined || (before.secret !== null && !forgetsSecret);
  const isComplete = hasSecret || source.secret !== "required";
  if (wanted === "ON" && !isComplete) throw incomplete();
  const state = wanted ?? (forgetsSecret ? "OFF" : before.state);
  const columns = readColumns(input, before);
  const reads = JSON.stringify(settings) !== JSON.stringify(known) || schoolIds !== undefined;
  await tx.prisma.rosterConnection.update({
    where: { id },
    data: {
      ...columns,
      settings,
      state,
      nextRunAt: nextRunOf({ ...before, ...columns, state }, origin.at),
      // The same file may mean something else now.
      ...(reads && { digest: null, validator: null }),
      ...(forgetsSecret && { secret: null }),
      ...(secret !== undefined && { secret: sealSecret(keys, { id, settings }, secret.trim()) }),
      updatedAt: origin.at,
    },
  });
  if (schoolIds !== undefined) await setSchools(tx, id, schoolIds);
  await record(tx, { id, schoolIds: schoolIds ?? schoolIdsOf(before) }, "roster_connection_updated", origin);
}

export const incomplete = () =>
  new AppError(
    "conflict",
    "roster_connection_incomplete",
    "The secret is missing. Type it in for the present address.",
  );

/** Errors: not_found. */
export async function deleteRosterConnectionIn(tx: Transaction, id: string, origin: Origin): Promise<void> {
  const before = await getConnectionRow(tx, id);
  await tx.prisma.rosterConnection.delete({ where: { id } });
  await record(tx, { id, schoolIds: schoolIdsOf(before) }, "roster_connection_deleted", origin);
}

/** A school that becomes a part of another has no roster of its own any more. */
export async function deleteConnectionsOf({ prisma }: RecordStore, schoolId: SchoolId): Promise<void> {
  await prisma.rosterConnectionSchool.deleteMany({ where: { schoolId } });
}

/** Encrypts the secrets of all connections with the first key; returns how many there are. */
export async function reEncryptRosterSecrets({ prisma }: RecordStore, keys: EncryptionKeys): Promise<number> {
  const rows = await prisma.rosterConnection.findMany({ where: { secret: { not: null } } });
  for (const { id, secret, settings } of rows) {
    const of = { id, settings: settings as SourceSettings };
    const plain = openSecret(keys, of, secret!);
    if (plain === null) throw new Error(`none of the encryption keys opens the secret of the roster connection ${id}`);
    await prisma.rosterConnection.update({ where: { id }, data: { secret: sealSecret(keys, of, plain) } });
  }
  return rows.length;
}

/** Removes secrets that only lost keys decrypt, and switches their connections off; returns how many there are. */
export async function forgetLostRosterSecrets({ prisma }: RecordStore): Promise<number> {
  const data = { secret: null, state: "OFF", nextRunAt: null };
  return (await prisma.rosterConnection.updateMany({ where: { secret: { not: null } }, data })).count;
}
