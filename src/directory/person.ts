import type { Prisma } from "../../generated/prisma/client.ts";
import type { PersonRole } from "../../generated/prisma/enums.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { makeRowLock } from "../platform/database/sql.ts";
import { definedOf, listDifferent, auditChange, write, type Change } from "./change.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { makePersonSortKey } from "./sort-key.ts";
import { checkTexts } from "./text.ts";
import { checkPersonStep, type PersonStep } from "./transitions.ts";

export type { PersonRole };

type PersonRecord = Omit<Prisma.PersonModel, KeptByDirectory>;
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
  const schools = [...new Set(person.schools)];
  const row = rowOf(person, schools[0] ?? null, now);
  const personId = row.id;
  await change.touch({ people: [personId], schools });
  await write(tx.prisma.person.create({ data: row }));
  const affiliations = schools.map((schoolId) => ({ id: makeUuid(now), personId, schoolId }));
  await write(tx.prisma.affiliation.createMany({ data: affiliations }));
  await auditChange(change, { action: "person_created", personId, schoolId: row.homeSchoolId, detail: { schools } });
  return personId;
}

function rowOf(
  { id, role, name, sourceSystemIdentifier = null }: Omit<NewPerson, "schools">,
  homeSchoolId: SchoolId | null,
  now: Date,
) {
  const record = checkPerson({ role, ...spreadName(name), sourceSystemIdentifier });
  const sortKey = makePersonSortKey(personNameOf(record));
  return { id: id ?? (makeUuid(now) as PersonId), ...record, homeSchoolId, sortKey, createdAt: now, updatedAt: now };
}

type NewMember = Omit<NewPerson, "schools"> & { groups: readonly GroupId[] };

/** Uses a fixed number of statements and one audit line; ids in the order of `people`. Errors: as `createPerson`. */
export async function createPeople(
  change: Change,
  { schoolId, people }: { schoolId: SchoolId; people: readonly NewMember[] },
): Promise<PersonId[]> {
  const { tx, now } = change;
  await change.touchSchool(schoolId);
  const rows = people.map((person) => rowOf(person, schoolId, now));
  await write(tx.prisma.person.createMany({ data: rows }));
  const atSchool = rows.map(({ id: personId }) => ({ id: makeUuid(now), personId, schoolId }));
  await write(tx.prisma.affiliation.createMany({ data: atSchool }));
  const members = rows.map(({ id, role }, index) => ({ id, role, groups: people[index]!.groups }));
  await addMembers(tx, schoolId, members);
  await auditChange(change, { action: "people_created", schoolId, detail: { people: rows.length } });
  return rows.map(({ id }) => id);
}

type Member = { id: PersonId; role: PersonRole; groups: readonly GroupId[] };

async function addMembers({ prisma }: Transaction, schoolId: SchoolId, people: readonly Member[]): Promise<void> {
  const ids = [...new Set(people.flatMap(({ groups }) => groups))];
  const active = await prisma.group.count({ where: { id: { in: ids }, schoolId, status: "ACTIVE" } });
  if (active < ids.length) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  const data = people.flatMap(({ id: personId, groups, role }) =>
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
  const derived = {
    sortKey: makePersonSortKey(personNameOf(after)),
    sourceIdIsShared: sourceIdIsShared && keepsSourceId,
  };
  await write(tx.prisma.person.update({ where: { id }, data: { ...after, ...derived, updatedAt: now } }));
  // Members whose role in a group is the person's own keep following it.
  if (after.role !== before.role)
    await tx.prisma.membership.updateMany({ where: { personId: id, role: before.role }, data: { role: after.role } });
  await auditChange(change, { action: "person_updated", personId: id, schoolId: homeSchoolId, detail: { changed } });
  return changed;
}

const lockRow = makeRowLock("person", "id", "directory.lockPerson");

type LockedPerson = { homeSchoolId: SchoolId | null; sourceIdIsShared: boolean } & {
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

const checkPerson = ({ role, firstFull, firstCall, last, sourceSystemIdentifier }: PersonRecord): PersonRecord => ({
  role,
  ...checkTexts({ firstFull, firstCall, last, sourceSystemIdentifier }),
});

const spreadName = (name: PersonName | null): Pick<PersonRecord, keyof PersonName> => ({
  firstFull: name?.firstFull ?? null,
  firstCall: name?.firstCall ?? null,
  last: name?.last ?? null,
});

export function personNameOf({ firstFull, firstCall, last }: Pick<PersonRecord, keyof PersonName>): PersonName | null {
  return firstFull === null || firstCall === null || last === null ? null : { firstFull, firstCall, last };
}
