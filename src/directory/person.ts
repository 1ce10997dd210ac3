import type { Prisma } from "../../generated/prisma/client.ts";
import type { PersonRole } from "../../generated/prisma/enums.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { definedOf, listDifferent, auditChange, type Change } from "./change.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makePersonSortKey } from "./sort-key.ts";
import { checkIdentifier, checkText } from "./text.ts";
import { checkPersonStep, type PersonStep } from "./transitions.ts";

export type { PersonRole };

export type PersonRecord = Omit<Prisma.PersonModel, KeptByDirectory>;
type KeptByDirectory = "id" | "homeSchoolId" | "sortKey" | "sourceIdIsShared" | "createdAt" | "updatedAt" | Status;
type Status = "status" | "softDeletedAt" | "purgeAt" | "leftAt" | "retentionFrom" | "seenBy" | "blockedAt";

export type PersonName = { [Part in "firstFull" | "firstCall" | "last"]: NonNullable<PersonRecord[Part]> };

type PersonFields = Omit<PersonRecord, keyof PersonName | "sourceSystemIdentifier"> & {
  name: PersonName | null;
  sourceSystemIdentifier?: string | null | undefined;
};

/** The first of `schools` is the home school; staff may be at none. */
export type NewPerson = PersonFields & { id?: PersonId | undefined; schools: readonly SchoolId[] };

export type PersonUpdate = { personId: PersonId } & {
  [Field in keyof PersonFields]?: PersonFields[Field] | undefined;
};

export async function createPerson(change: Change, person: NewPerson): Promise<PersonId> {
  const { tx, now } = change;
  const { id: chosen, schools: listed, name, sourceSystemIdentifier = null, ...rest } = person;
  const id = chosen ?? (makeUuid(now) as PersonId);
  const record = checkPerson({ ...rest, ...spreadName(name), sourceSystemIdentifier });
  const schools = [...new Set(listed)];
  const homeSchoolId = listed[0] ?? null;
  await change.touch({ people: [id], schools });
  const kept = { homeSchoolId, sortKey: makePersonSortKey(nameOf(record)), createdAt: now, updatedAt: now };
  await write(tx.prisma.person.create({ data: { id, ...record, ...kept } }));
  const affiliations = schools.map((schoolId) => ({ id: makeUuid(now), personId: id, schoolId }));
  await write(tx.prisma.affiliation.createMany({ data: affiliations }));
  await auditChange(change, { action: "person_created", personId: id, schoolId: homeSchoolId, detail: { schools } });
  return id;
}

export type NewMember = Omit<NewPerson, "schools"> & { groups: readonly GroupId[] };

/**
 * Uses a fixed number of statements and one audit line. Returns ids in the order of `people`. Errors: as
 * `createPerson`.
 */
export async function createPeople(
  change: Change,
  { schoolId, people }: { schoolId: SchoolId; people: readonly NewMember[] },
): Promise<PersonId[]> {
  const { tx, now } = change;
  await change.touchSchool(schoolId);
  const rows = people.map(({ id = makeUuid(now) as PersonId, groups, name, sourceSystemIdentifier = null, role }) => {
    const record = checkPerson({ role, ...spreadName(name), sourceSystemIdentifier });
    return { id, groups, record };
  });
  const times = { createdAt: now, updatedAt: now };
  await write(
    tx.prisma.person.createMany({
      data: rows.map(({ id, record }) => ({
        id,
        ...record,
        ...times,
        homeSchoolId: schoolId,
        sortKey: makePersonSortKey(nameOf(record)),
      })),
    }),
  );
  const atSchool = rows.map(({ id: personId }) => ({ id: makeUuid(now), personId, schoolId }));
  await write(tx.prisma.affiliation.createMany({ data: atSchool }));
  await addMembers(tx, schoolId, rows);
  await auditChange(change, { action: "people_created", schoolId, detail: { people: rows.length } });
  return rows.map(({ id }) => id);
}

type Member = { id: PersonId; groups: readonly GroupId[]; record: Pick<PersonRecord, "role"> };

async function addMembers({ prisma }: Transaction, schoolId: SchoolId, people: readonly Member[]): Promise<void> {
  const ids = [...new Set(people.flatMap(({ groups }) => groups))];
  const found = await prisma.group.count({ where: { id: { in: ids }, schoolId, status: "ACTIVE" } });
  if (found < ids.length) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  const data = people.flatMap(({ id: personId, groups, record: { role } }) =>
    groups.map((groupId) => ({ groupId, personId, schoolId, role })),
  );
  await write(prisma.membership.createMany({ data }));
}

export async function updatePerson(change: Change, update: PersonUpdate): Promise<(keyof PersonRecord)[]> {
  const { tx, now } = change;
  const { personId: id, name, ...rest } = update;
  await change.touch({ people: [id] });
  const { homeSchoolId, sourceIdIsShared, before } = await lockPerson(tx, id, "change");
  const after = checkPerson({ ...before, ...definedOf(rest), ...(name !== undefined && spreadName(name)) });
  const changed = listDifferent(before, after);
  if (changed.length === 0) return [];
  const keepsSourceId = after.sourceSystemIdentifier === before.sourceSystemIdentifier;
  const kept = { sortKey: makePersonSortKey(nameOf(after)), sourceIdIsShared: sourceIdIsShared && keepsSourceId };
  await write(tx.prisma.person.update({ where: { id }, data: { ...after, ...kept, updatedAt: now } }));
  // Members whose role in a group is the person's own keep following it.
  if (after.role !== before.role) {
    await tx.prisma.membership.updateMany({ where: { personId: id, role: before.role }, data: { role: after.role } });
  }
  await auditChange(change, { action: "person_updated", personId: id, schoolId: homeSchoolId, detail: { changed } });
  return changed;
}

const lockRow = makeRowLock("person", "id", "directory.lockPerson");

export type LockedPerson = { homeSchoolId: SchoolId | null; sourceIdIsShared: boolean } & {
  purgeAt: Date | null;
  leftAt: Date | null;
  before: PersonRecord;
};

const timesOfRecord = { softDeletedAt: true, seenBy: true, blockedAt: true, createdAt: true, updatedAt: true } as const;

export async function lockPerson(tx: Transaction, personId: PersonId, step: PersonStep): Promise<LockedPerson> {
  await lockRow(tx, personId);
  const person = await tx.prisma.person.findUnique({
    where: { id: personId },
    omit: { id: true, sortKey: true, retentionFrom: true, ...timesOfRecord },
  });
  if (person === null) throw new AppError("not_found", "person_not_found", "The person does not exist.");
  const { status, homeSchoolId, purgeAt, leftAt, sourceIdIsShared, ...before } = person;
  if (step !== "restore" || leftAt === null) checkPersonStep(status, step);
  return { homeSchoolId: homeSchoolId as SchoolId | null, purgeAt, leftAt, sourceIdIsShared, before };
}

function checkPerson({ role, firstFull, firstCall, last, sourceSystemIdentifier }: PersonRecord): PersonRecord {
  const check = (field: string, text: string | null) => (text === null ? null : checkText(field, text));
  return {
    role,
    firstFull: check("firstFull", firstFull),
    firstCall: check("firstCall", firstCall),
    last: check("last", last),
    sourceSystemIdentifier:
      sourceSystemIdentifier === null ? null : checkIdentifier("sourceSystemIdentifier", sourceSystemIdentifier),
  };
}

const spreadName = (name: PersonName | null): Pick<PersonRecord, keyof PersonName> => ({
  firstFull: name?.firstFull ?? null,
  firstCall: name?.firstCall ?? null,
  last: name?.last ?? null,
});

export function nameOf({ firstFull, firstCall, last }: Pick<PersonRecord, keyof PersonName>): PersonName | null {
  return firstFull === null || firstCall === null || last === null ? null : { firstFull, firstCall, last };
}
