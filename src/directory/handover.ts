import type { Prisma } from "../../generated/prisma/client.ts";
import type { Db, RecordStore, Transaction } from "../platform/database/db.ts";
import { activeClass, describeAct } from "./classes.ts";
import { recordAuditLines, type AuditAction, type Origin } from "../events/index.ts";
import { AppError } from "../platform/errors.ts";
import { addDays, type Clock } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock, makeRun, table } from "../platform/database/sql.ts";
import { makeSweep } from "../platform/jobs/batches.ts";
import { movePerson, moveToSameSchool } from "./affiliation.ts";
import { originOf, write, type Change } from "./change.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { addMembership } from "./membership.ts";
import { personNameOf, updatePerson, type PersonName } from "./person.ts";

export type HandoverId = string & { readonly __handoverId: true };
export type HandoverState = "OFFERED" | "ACCEPTED" | "DECLINED" | "WITHDRAWN" | "EXPIRED";

type NamedSchool = { id: string; name: string };

/** `pupils` are those who can still move; empty once it is closed. */
export type Handover = Omit<Prisma.HandoverModel, "state" | "fromSchoolId" | "toSchoolId"> & {
  id: HandoverId;
  state: HandoverState;
  from: NamedSchool;
  to: NamedSchool;
  pupils: { id: PersonId; name: PersonName | null; classes: string[] }[];
};

/** After the day on which the offer would end. */
const keptDays = 30;

const movable = (now: Date) =>
  ({
    status: "ACTIVE",
    role: "STUDENT",
    staffRoles: { none: { OR: [{ endsAt: null }, { endsAt: { gt: now } }] } },
  }) satisfies Prisma.PersonWhereInput;

const school = { select: { id: true, name: true } };
const whole = (now: Date) =>
  ({
    from: school,
    to: school,
    people: {
      where: { person: movable(now) },
      orderBy: [{ person: { sortKey: "asc" } }, { personId: "asc" }],
      select: {
        person: {
          select: {
            id: true,
            homeSchoolId: true,
            firstFull: true,
            firstCall: true,
            last: true,
            affiliations: {
              select: {
                schoolId: true,
                memberships: { where: { group: activeClass }, select: { group: { select: { name: true } } } },
              },
            },
          },
        },
      },
    },
  }) satisfies Prisma.HandoverInclude;

type Whole = Prisma.HandoverGetPayload<{ include: ReturnType<typeof whole> }>;

const isOpen = ({ state, expiresAt }: Pick<Whole, "state" | "expiresAt">, now: Date): boolean =>
  state === "OFFERED" && expiresAt > now;

function presentHandover({ people, fromSchoolId, toSchoolId: _to, ...rest }: Whole, now: Date): Handover {
  const offered = isOpen(rest, now) ? people.map(({ person }) => person) : [];
  const isExpired = rest.state === "OFFERED" && !isOpen(rest, now);
  return {
    ...rest,
    id: rest.id as HandoverId,
    state: isExpired ? "EXPIRED" : (rest.state as HandoverState),
    pupils: offered
      .filter(({ homeSchoolId }) => homeSchoolId === fromSchoolId)
      .map(({ id, affiliations, ...name }) => {
        const here = affiliations.find(({ schoolId }) => schoolId === fromSchoolId);
        const names = here?.memberships.map(({ group }) => group.name).sort() ?? [];
        return { id: id as PersonId, name: personNameOf(name), classes: names };
      }),
  };
}

/** Errors: not_found handover_not_found. */
export async function getHandover({ prisma }: RecordStore, id: HandoverId, now: Date): Promise<Handover> {
  const handover = await prisma.handover.findUnique({ where: { id }, include: whole(now) });
  if (handover === null) throw new AppError("not_found", "handover_not_found", "There is no such hand-over.");
  return presentHandover(handover, now);
}

/** The hand-overs from a school and to it, newest first. */
export async function listHandovers(
  { prisma }: RecordStore,
  { schoolId, limit, after, now }: { schoolId: SchoolId; limit: number; after?: string | undefined; now: Date },
): Promise<Handover[]> {
  const handovers = await prisma.handover.findMany({
    where: { OR: [{ fromSchoolId: schoolId }, { toSchoolId: schoolId }] },
    include: whole(now),
    orderBy: { id: "desc" },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return handovers.map((one) => presentHandover(one, now));
}

/** The offers that wait for an answer of these schools. */
export async function listOpenHandovers(
  { prisma }: RecordStore,
  { schoolIds, limit, now }: { schoolIds: readonly SchoolId[]; limit: number; now: Date },
): Promise<{ count: number; first: Handover[] }> {
  const where = { toSchoolId: { in: [...schoolIds] }, state: "OFFERED", expiresAt: { gt: now } };
  const [count, handovers] = await Promise.all([
    prisma.handover.count({ where }),
    prisma.handover.findMany({ where, include: whole(now), orderBy: { id: "desc" }, take: limit }),
  ]);
  return { count, first: handovers.map((one) => presentHandover(one, now)) };
}

type NewHandover = { from: SchoolId; to: SchoolId; personIds: readonly PersonId[]; days: number };

/**
 * Errors: invalid move_to_same_school; not_found school_not_found; conflict person_not_movable,
 * person_already_offered.
 */
export async function createHandover(tx: Transaction, { from, to, personIds, days }: NewHandover, origin: Origin) {
  const { at } = origin;
  const { prisma } = tx;
  if (from === to) throw moveToSameSchool();
  if ((await prisma.school.count({ where: { id: { in: [from, to] }, sandboxId: null } })) < 2)
    throw new AppError("not_found", "school_not_found", "The school does not exist.");
  const people = { id: { in: [...personIds] }, homeSchoolId: from, ...movable(at) };
  if ((await prisma.person.count({ where: people })) < personIds.length) {
    const message = "Only active pupils whose home is this school and who have no staff role can be handed over.";
    throw new AppError("conflict", "person_not_movable", message);
  }
  const expired = { personId: { in: [...personIds] }, handover: { expiresAt: { lte: at } } };
  await prisma.handoverPerson.deleteMany({ where: expired });
  const id = makeUuid(at) as HandoverId;
  await prisma.handover.create({
    data: {
      id,
      fromSchoolId: from,
      toSchoolId: to,
      state: "OFFERED",
      offered: personIds.length,
      createdAt: at,
      expiresAt: addDays(at, days),
    },
  });
  const rows = personIds.toSorted().map((personId) => ({ personId, handoverId: id }));
  await write(prisma.handoverPerson.createMany({ data: rows }));
  const { groupIds } = await describeAct(tx, { schoolId: from, people: personIds });
  await record(tx, "handover_offered", { id, from, to, people: personIds.length, groupIds }, origin);
  return id;
}

const lockRow = makeRowLock("handover", "id", "directory.lockHandover");

/** Errors: not_found handover_not_found; conflict handover_closed. */
async function lockOpen(tx: Transaction, id: HandoverId, now: Date): Promise<Handover> {
  await lockRow(tx, id);
  const handover = await getHandover(tx, id, now);
  if (handover.state !== "OFFERED")
    throw new AppError("conflict", "handover_closed", "The hand-over is closed: somebody answered it, or it expired.");
  return handover;
}

type Closing = { state: "ACCEPTED" | "DECLINED" | "WITHDRAWN"; moved?: number | null; groupIds?: readonly string[] };

async function close(
  tx: Transaction,
  { id, from, to, pupils }: Handover,
  { state, moved = null, groupIds: placed }: Closing,
  origin: Origin,
): Promise<void> {
  await tx.prisma.handoverPerson.deleteMany({ where: { handoverId: id } });
  await tx.prisma.handover.update({ where: { id }, data: { state, moved, closedAt: origin.at } });
  const actions = {
    ACCEPTED: "handover_accepted",
    DECLINED: "handover_declined",
    WITHDRAWN: "handover_withdrawn",
  } as const;
  const schools = { from: from.id as SchoolId, to: to.id as SchoolId };
  const people = pupils.map((pupil) => pupil.id);
  const { groupIds } = await describeAct(tx, { schoolId: schools.from, people, groupIds: placed });
  await record(tx, actions[state], { id, ...schools, ...(moved !== null && { people: moved }), groupIds }, origin);
}

/** Declines or withdraws an offer. Errors: as `lockOpen`. */
export async function closeHandover(
  tx: Transaction,
  { id, state }: { id: HandoverId; state: "DECLINED" | "WITHDRAWN" },
  origin: Origin,
): Promise<void> {
  await close(tx, await lockOpen(tx, id, origin.at), { state }, origin);
}

export async function closeHandovers(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<void> {
  const { at } = origin;
  const of = { OR: [{ fromSchoolId: schoolId }, { toSchoolId: schoolId }] };
  const open = await tx.prisma.handover.findMany({ where: { ...of, state: "OFFERED", expiresAt: { gt: at } } });
  for (const { id, toSchoolId } of open) {
    const state = toSchoolId === schoolId ? "DECLINED" : "WITHDRAWN";
    await closeHandover(tx, { id: id as HandoverId, state }, origin);
  }
}

type Placement = {
  personId: PersonId;
  groupId?: GroupId | undefined;
  sourceSystemIdentifier?: string | undefined;
};

/**
 * Moves the pupils who can still move; returns them. Errors: as `lockOpen`; not_found group_not_found; conflict
 * source_system_identifier_taken.
 */
export async function acceptHandover(
  change: Change,
  { id, placements }: { id: HandoverId; placements: readonly Placement[] },
): Promise<PersonId[]> {
  const { tx, now } = change;
  const { from, to, pupils: offered } = await getHandover(tx, id, now);
  const schools = { from: from.id as SchoolId, to: to.id as SchoolId };
  const groups = placements.flatMap(({ groupId }) => groupId ?? []);
  await change.touch({ people: offered.map((pupil) => pupil.id), schools: Object.values(schools), groups });
  const count = await tx.prisma.group.count({ where: { id: { in: groups }, schoolId: schools.to, status: "ACTIVE" } });
  if (count < new Set(groups).size) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  const handover = await lockOpen(tx, id, now);
  const left = await describeAct(tx, { schoolId: schools.from, people: handover.pupils.map((pupil) => pupil.id) });
  for (const { id: personId } of handover.pupils) {
    await movePerson(change, { personId, ...schools });
    const placement = placements.find((one) => one.personId === personId);
    const { groupId, sourceSystemIdentifier } = placement ?? {};
    if (sourceSystemIdentifier !== undefined) await updatePerson(change, { personId, sourceSystemIdentifier });
    if (groupId !== undefined) await addMembership(change, { groupId, personId });
  }
  // Each school reads the names of its own.
  const groupIds = [...new Set([...(left.groupIds ?? []), ...groups])];
  const closing = { state: "ACCEPTED", moved: handover.pupils.length, groupIds } as const;
  await close(tx, handover, closing, originOf(change));
  return handover.pupils.map((pupil) => pupil.id);
}

type Subject = {
  id: HandoverId;
  from: SchoolId;
  to: SchoolId;
  people?: number;
  groupIds?: readonly string[] | undefined;
};

/** Records one line at each of both schools. */
const record = (tx: Transaction, action: AuditAction, { from, to, id, people, groupIds }: Subject, origin: Origin) =>
  recordAuditLines(
    tx,
    [from, to].map((schoolId) => ({
      ...origin,
      action,
      schoolId,
      detail: { handoverId: id, ...(people !== undefined && { people }), ...(groupIds && { groupIds }) },
    })),
  );

const [old, gone] = [table("handover", "old"), table("handover", "gone")];

const deleteOld = makeRun<{ before: Date; batch: number }>()`
  DELETE FROM ${gone} WHERE ${gone.id} = ANY (ARRAY(
    SELECT ${old.id} FROM ${old} WHERE ${old.expiresAt} < ${"before"} ORDER BY ${old.expiresAt} LIMIT ${"batch"}))`;

export const makeHandoverSweep = ({ db, clock }: { db: Db; clock: Clock }) =>
  makeSweep({ name: "directory.sweepHandovers", clock }, (now, batch) =>
    deleteOld(db.pool, { before: addDays(now, -keptDays), batch }),
  );
