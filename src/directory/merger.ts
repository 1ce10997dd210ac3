import type { Prisma } from "../../generated/prisma/client.ts";
import { recordAct, type AuditAction } from "../events/index.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { Db, RecordStore, Transaction } from "../platform/database/db.ts";
import { insert, makeFind, makeFindOne, makeRowLock, makeRun, sql, table, update } from "../platform/database/sql.ts";
import type { Queryable, Sql } from "../platform/database/sql.ts";
import { analyzeFilled } from "../platform/database/statistics.ts";
import { AppError } from "../platform/errors.ts";
import { makeSweep } from "../platform/jobs/batches.ts";
import { originOf, type Change } from "./change.ts";
import { closeHandovers } from "./handover.ts";
import type { GroupId, SchoolId } from "./ids.ts";
import { makeSortKey } from "./sort-key.ts";

export type MergerId = string & { readonly __mergerId: true };

const undoDays = 30;
const school = { select: { id: true, name: true } };
const whole = { from: school, into: school } satisfies Prisma.SchoolMergerInclude;
const sideIds = { fromSchoolId: true, intoSchoolId: true } satisfies Prisma.SchoolMergerOmit;

type Row = Prisma.SchoolMergerGetPayload<{ include: typeof whole; omit: typeof sideIds }>;
export type Merger = Row & { id: MergerId; state: "MERGED" | "FINAL" | "UNDONE" };

function presentMerger(row: Row, now: Date): Merger {
  const state = row.undoneAt !== null ? "UNDONE" : row.undoUntil > now ? "MERGED" : "FINAL";
  return { ...row, id: row.id as MergerId, state };
}

/** Errors: not_found merger_not_found, also if the school is neither of both. */
export async function getMerger(
  { prisma }: RecordStore,
  { id, schoolId, now }: { id: MergerId; schoolId: SchoolId; now: Date },
): Promise<Merger> {
  const of = { OR: [{ fromSchoolId: schoolId }, { intoSchoolId: schoolId }] };
  const merger = await prisma.schoolMerger.findFirst({ where: { id, ...of }, include: whole, omit: sideIds });
  if (merger === null) throw new AppError("not_found", "merger_not_found", "There is no such merger.");
  return presentMerger(merger, now);
}

/** The mergers of a school into another one, and of others into it, newest first. */
export async function listMergers(
  { prisma }: RecordStore,
  { schoolId, limit, after, now }: { schoolId: SchoolId; limit: number; after?: string | undefined; now: Date },
): Promise<Merger[]> {
  const mergers = await prisma.schoolMerger.findMany({
    where: { OR: [{ fromSchoolId: schoolId }, { intoSchoolId: schoolId }] },
    include: whole,
    omit: sideIds,
    orderBy: { id: "desc" },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return mergers.map((one) => presentMerger(one, now));
}

type Sides = { from: SchoolId; into: SchoolId };
type Of = Sides & { id: MergerId; now: Date };
type Merging = Of & { keepSourceIds: boolean };
type Step<Params> = (tx: Queryable, params: Params) => Promise<number>;

const p = table("person", "p");
const g = table("group", "g");
const a = table("affiliation", "a");
const m = table("membership", "m");
const mp = table("mergedPerson", "mp");
const mg = table("mergedGroup", "mg");
const there = table("affiliation", "there");
const otherPerson = table("person", "other_person");
const otherGroup = table("group", "other_group");

const isAt = (schoolId: Sql): Sql => sql`EXISTS (
  SELECT FROM ${there} WHERE ${there.personId} = ${a.personId} AND ${there.schoolId} = ${schoolId})`;

/** SQL: the source system identifier of a person or group at another school; null if somebody else has it there. */
const freePersonId = (id: Sql, schoolId: Sql): Sql =>
  unlessTaken(
    id,
    sql`${otherPerson} WHERE ${otherPerson.homeSchoolId} = ${schoolId} AND ${otherPerson.sourceSystemIdentifier} = ${id}`,
  );
const freeGroupId = (id: Sql, schoolId: Sql): Sql =>
  unlessTaken(
    id,
    sql`${otherGroup} WHERE ${otherGroup.schoolId} = ${schoolId} AND ${otherGroup.sourceSystemIdentifier} = ${id}`,
  );
const unlessTaken = (id: Sql, holders: Sql): Sql => sql`CASE WHEN NOT EXISTS (SELECT FROM ${holders}) THEN ${id} END`;

const remember: readonly Step<Of>[] = [
  makeRun(({ id, from, into }) =>
    insert(
      "mergedPerson",
      {
        mergerId: sql`${id}::uuid`,
        personId: a.personId,
        wasHome: sql`${p.homeSchoolId} = ${from}`,
        wasAtBoth: isAt(sql`${into}`),
        sourceSystemIdentifier: sql`CASE WHEN ${p.homeSchoolId} = ${from} THEN ${p.sourceSystemIdentifier} END`,
      },
      sql`FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId} WHERE ${a.schoolId} = ${from}`,
    ),
  ),
  makeRun(({ id, from }) =>
    insert(
      "mergedGroup",
      {
        mergerId: sql`${id}::uuid`,
        groupId: g.id,
        name: g.name,
        sourceSystemIdentifier: g.sourceSystemIdentifier,
      },
      sql`FROM ${g} WHERE ${g.schoolId} = ${from}`,
    ),
  ),
];

// One statement moves groups and affiliations, because a membership belongs to one of each at the same school; the
// foreign keys take memberships and login cards along.
const merge: readonly Step<Merging>[] = [
  makeRun(
    ({ from, into, now, keepSourceIds }) => sql`
    WITH moved AS (
      ${update("group", "g", {
        schoolId: sql`${into}::uuid`,
        sourceSystemIdentifier: sql`CASE WHEN ${keepSourceIds}::boolean
          THEN ${freeGroupId(g.sourceSystemIdentifier, sql`${into}`)} END`,
        updatedAt: now,
      })} WHERE ${g.schoolId} = ${from})
    ${update("affiliation", "a", { schoolId: sql`${into}::uuid` })}
    WHERE ${a.schoolId} = ${from} AND NOT ${isAt(sql`${into}`)}`,
  ),
  makeRun(
    ({ from, into, now, keepSourceIds }) => sql`
    ${update("person", "p", {
      homeSchoolId: sql`${into}::uuid`,
      sourceSystemIdentifier: sql`CASE WHEN ${keepSourceIds}::boolean
        THEN ${freePersonId(p.sourceSystemIdentifier, sql`${into}`)} END`,
      updatedAt: now,
    })} WHERE ${p.homeSchoolId} = ${from}`,
  ),
  makeRun(({ from }) => sql`DELETE FROM ${a} WHERE ${a.schoolId} = ${from}`),
];

const mergedHere = (id: Sql): Sql => sql`${mp.mergerId} = ${id} AND ${mp.personId} = ${a.personId}`;

const separate: readonly Step<Of>[] = [
  makeRun(
    ({ id, from, into }) => sql`
    DELETE FROM ${m} USING ${mp} WHERE ${mp.mergerId} = ${id} AND ${mp.personId} = ${m.personId} AND NOT ${mp.wasAtBoth}
      AND ${m.schoolId} = ${into}
      AND NOT EXISTS (SELECT FROM ${there} WHERE ${there.personId} = ${m.personId} AND ${there.schoolId} = ${from})
      AND NOT EXISTS (SELECT FROM ${mg} WHERE ${mg.mergerId} = ${id} AND ${mg.groupId} = ${m.groupId})`,
  ),
  makeRun(({ id, from, into }) =>
    insert(
      "affiliation",
      { id: sql`gen_random_uuid()`, personId: a.personId, schoolId: sql`${from}::uuid` },
      sql`FROM ${a} JOIN ${mp} ON ${mergedHere(sql`${id}`)}
        WHERE ${mp.wasAtBoth} AND ${a.schoolId} = ${into} AND NOT ${isAt(sql`${from}`)}`,
    ),
  ),
  makeRun(
    ({ id, from, into, now }) => sql`
    WITH moved AS (
      ${update("group", "g", {
        schoolId: sql`${from}::uuid`,
        sourceSystemIdentifier: freeGroupId(mg.sourceSystemIdentifier, sql`${from}`),
        updatedAt: now,
      })} FROM ${mg} WHERE ${mg.mergerId} = ${id} AND ${mg.groupId} = ${g.id} AND ${g.schoolId} = ${into})
    ${update("affiliation", "a", { schoolId: sql`${from}::uuid` })} FROM ${mp}
    WHERE ${mergedHere(sql`${id}`)} AND ${a.schoolId} = ${into} AND NOT ${isAt(sql`${from}`)}`,
  ),
  makeRun(
    ({ id, from, into, now }) => sql`
    ${update("person", "p", {
      homeSchoolId: sql`${from}::uuid`,
      sourceSystemIdentifier: freePersonId(mp.sourceSystemIdentifier, sql`${from}`),
      updatedAt: now,
    })} FROM ${mp} WHERE ${mp.mergerId} = ${id} AND ${mp.personId} = ${p.id} AND ${mp.wasHome}
      AND ${p.homeSchoolId} = ${into}`,
  ),
];

const countLost = makeFindOne<{ lost: number }, Of>()`
  SELECT ((SELECT count(*) FROM ${mp} JOIN ${p} ON ${p.id} = ${mp.personId} WHERE ${mp.mergerId} = ${"id"}
      AND ${mp.sourceSystemIdentifier} IS NOT NULL AND ${p.sourceSystemIdentifier} IS NULL)
    + (SELECT count(*) FROM ${mg} JOIN ${g} ON ${g.id} = ${mg.groupId} WHERE ${mg.mergerId} = ${"id"}
      AND ${mg.sourceSystemIdentifier} IS NOT NULL AND ${g.sourceSystemIdentifier} IS NULL))::int AS lost`;

/** At most one person in the groups of the merger who did not come with it. */
const findStranger = makeFind<Record<string, never>, Of>()`
  SELECT FROM ${m} JOIN ${mg} ON ${mg.mergerId} = ${"id"} AND ${mg.groupId} = ${m.groupId}
  WHERE ${m.schoolId} = ${"into"} AND NOT EXISTS (
    SELECT FROM ${mp} WHERE ${mp.mergerId} = ${"id"} AND ${mp.personId} = ${m.personId}) LIMIT 1`;

const longestName = 200;
const renamed = (name: string, schoolName: string): string => `${name} (${schoolName})`.slice(0, longestName);

const rename = ({ prisma }: Transaction, id: string, name: string, now: Date) =>
  prisma.group.update({ where: { id }, data: { name, sortKey: makeSortKey(name), updatedAt: now } });

function record(
  change: Change,
  action: AuditAction,
  { id, from, into }: Sides & { id: MergerId },
  people: readonly { personId: string }[],
) {
  const origin = originOf(change);
  const act = { ...origin, action, schoolId: into, detail: { mergerId: id, people: people.length } };
  return recordAct(change.tx, act, [
    { ...act, schoolId: from },
    ...people.map(({ personId }) => ({ ...origin, action, schoolId: into, personId, detail: { mergerId: id } })),
  ]);
}

export type Merged = {
  id: MergerId;
  people: number;
  peopleAtBoth: number;
  groups: number;
  renamedGroups: string[];
  removedSourceIds: number;
  /** The groups that are in use. */
  groupIds: GroupId[];
};

/**
 * Moves all people and groups of a school to another one. Nothing of the school is given to an app: its grants are
 * withdrawn before. Errors: invalid move_to_same_school; not_found school_not_found.
 */
export async function mergeSchools(change: Change, sides: Sides & { keepSourceIds: boolean }): Promise<Merged> {
  const { tx, now } = change;
  const { prisma } = tx;
  const { from, into } = sides;
  const schools = await prisma.school.findMany({ where: { id: { in: [from, into] }, sandboxId: null } });
  const closing = schools.find((school) => school.id === from);
  if (schools.length < 2 || closing === undefined)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  const id = makeUuid(now) as MergerId;
  const row = { id, fromSchoolId: from, intoSchoolId: into, people: 0, groups: 0, apps: 0 };
  await prisma.schoolMerger.create({ data: { ...row, mergedAt: now, undoUntil: addDays(now, undoDays) } });
  await closeHandovers(tx, from, originOf(change));
  const of: Merging = { ...sides, id, now };
  for (const step of remember) await step(tx, of);
  const where = { mergerId: id };
  const inOrder = { group: { naturalKey: "asc" } } as const;
  const groups = await prisma.mergedGroup.findMany({ where, select: { groupId: true, group: true }, orderBy: inOrder });
  const active = groups.filter(({ group }) => group.status === "ACTIVE");
  const names = active.map(({ group }) => group.name);
  const sameNamed = await prisma.group.findMany({ where: { schoolId: into, status: "ACTIVE", name: { in: names } } });
  for (const step of merge) {
    await step(tx, of);
    await analyzeFilled(tx);
  }
  const same = active.filter(({ group }) =>
    sameNamed.some(({ name, type }) => name === group.name && type === group.type),
  );
  for (const { group } of same) await rename(tx, group.id, renamed(group.name, closing.name), now);
  const people = await prisma.mergedPerson.findMany({ where, orderBy: { personId: "asc" } });
  const counts = { people: people.length, groups: groups.length };
  await prisma.schoolMerger.update({ where: { id }, data: counts });
  await record(change, "school_merged", of, people);
  return {
    id,
    ...counts,
    peopleAtBoth: people.filter(({ wasAtBoth }) => wasAtBoth).length,
    renamedGroups: same.map(({ group }) => group.name),
    removedSourceIds: (await countLost(tx, of)).lost,
    groupIds: active.map(({ groupId }) => groupId as GroupId),
  };
}

/** To how many apps the receiving school gives the groups. */
export async function recordMergedApps({ prisma }: Transaction, id: MergerId, apps: number): Promise<void> {
  await prisma.schoolMerger.update({ where: { id }, data: { apps } });
}

const lockRow = makeRowLock("schoolMerger", "id", "directory.lockMerger");

const closed = (message: string) => new AppError("conflict", "merger_closed", message);

/**
 * Locks a merger that can be undone. Errors: not_found merger_not_found; conflict merger_closed, merger_groups_joined.
 */
export async function openMerger(
  { tx, now }: Change,
  { id, schoolId }: { id: MergerId; schoolId: SchoolId },
): Promise<Sides> {
  await lockRow(tx, id);
  const { state, from, into } = await getMerger(tx, { id, schoolId, now });
  if (state !== "MERGED") throw closed("The merger was undone already, or it can no longer be undone.");
  const later = { fromSchoolId: into.id, undoneAt: null, id: { gt: id } };
  if ((await tx.prisma.schoolMerger.count({ where: later })) > 0)
    throw closed("The receiving school was merged into another one since. Undo that merger first.");
  const sides = { from: from.id as SchoolId, into: into.id as SchoolId };
  const strangers = await findStranger(tx, { ...sides, id, now });
  if (strangers.length === 0) return sides;
  const message = "People who did not come with the merger are in its groups now. Take them out of the groups first.";
  throw new AppError("conflict", "merger_groups_joined", message);
}

/** The groups that came with a merger, wherever they are now. */
export async function listMergedGroups({ prisma }: Transaction, id: MergerId): Promise<GroupId[]> {
  const mergedGroups = await prisma.mergedGroup.findMany({ where: { mergerId: id }, select: { groupId: true } });
  return mergedGroups.map(({ groupId }) => groupId as GroupId);
}

/** Moves back who and what came and is still there. The receiving school gives no app the groups of the merger. */
export async function separateSchools(change: Change, { id, from, into }: Sides & { id: MergerId }): Promise<void> {
  const { tx, now } = change;
  const { prisma } = tx;
  const of: Of = { id, from, into, now };
  for (const step of separate) {
    await step(tx, of);
    await analyzeFilled(tx);
  }
  const where = { mergerId: id };
  const { name: schoolName } = await prisma.school.findUniqueOrThrow({ where: { id: from } });
  for (const { name, group } of await prisma.mergedGroup.findMany({ where, include: { group: true } }))
    if (group.schoolId === from && group.name !== name && group.name === renamed(name, schoolName))
      await rename(tx, group.id, name, now);
  const people = await prisma.mergedPerson.findMany({
    where: { ...where, person: { affiliations: { some: { schoolId: from } } } },
    orderBy: { personId: "asc" },
  });
  await prisma.schoolMerger.update({ where: { id }, data: { undoneAt: now } });
  await record(change, "school_merger_undone", of, people);
}

const merger = table("schoolMerger", "merger");

const forgetting = (["mergedPerson", "mergedGroup", "mergedGrant", "mergedStaffRole"] as const).map((name) => {
  const [old, gone] = [table(name, "old"), table(name, "gone")];
  return makeRun<{ now: Date; batch: number }>()`
    DELETE FROM ${gone} WHERE gone.ctid = ANY (ARRAY(
      SELECT old.ctid FROM ${old} JOIN ${merger} ON ${merger.id} = ${old.mergerId}
      WHERE ${merger.undoUntil} < ${"now"} LIMIT ${"batch"}))`;
});

/** Forgets where people and groups came from once a merger can no longer be undone. */
export const makeMergerSweep = ({ db, clock }: { db: Db; clock: Clock }) =>
  makeSweep(
    { name: "directory.sweepMergers", clock },
    ...forgetting.map((forget) => (now: Date, batch: number) => forget(db.pool, { now, batch })),
  );
