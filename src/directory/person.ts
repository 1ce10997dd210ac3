import type { Prisma } from "../../generated/prisma/client.ts";
import type { PersonRole } from "../../generated/prisma/enums.ts";
import { recordAudit } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import { findRows, sql, statement, table } from "../platform/database/sql.ts";
import { originOf, type Change } from "./change.ts";
import { given, listDifferent } from "./given.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makePersonSortKey } from "./sort-key.ts";
import { checkIdentifier, checkText } from "./text.ts";
import { checkPersonStep, type PersonStep } from "./transitions.ts";

export type { PersonRole };

/** What is written of a person: every column of the record but those that the directory keeps by itself. */
export type PersonRecord = Omit<Prisma.PersonModel, KeptByDirectory>;
type KeptByDirectory = "id" | "homeSchoolId" | "sortKey" | "sourceIdIsShared" | "createdAt" | "updatedAt" | Status;
type Status = "status" | "softDeletedAt" | "purgeAt" | "blockedAt";

export type PersonName = { [Part in "firstFull" | "firstCall" | "last"]: NonNullable<PersonRecord[Part]> };

/** What a person has besides their schools, with the name as one value: null where the school keeps none. */
type PersonFields = Omit<PersonRecord, keyof PersonName | "sourceSystemIdentifier"> & {
  name: PersonName | null;
  sourceSystemIdentifier?: string | null | undefined;
};

/** Shape: the first of `schools` is the home school; people of the staff may be at none. */
export type NewPerson = PersonFields & { id?: PersonId | undefined; schools: readonly SchoolId[] };

/** What changes of a person; what is left out or undefined stays. */
export type PersonUpdate = { personId: PersonId } & {
  [Field in keyof PersonFields]?: PersonFields[Field] | undefined;
};

/**
 * Registers a person at schools.
 *
 * Errors: invalid for a text that cannot be kept (text_empty, text_too_long, text_unprintable); not_found
 *         school_not_found; conflict id_taken, source_system_identifier_taken.
 */
export async function createPerson(change: Change, person: NewPerson): Promise<PersonId> {
  const { tx, now } = change;
  const { id: wanted, schools: given, name, sourceSystemIdentifier = null, ...rest } = person;
  const id = wanted ?? (makeUuid(now) as PersonId);
  const record = checkPerson({ ...rest, ...spreadName(name), sourceSystemIdentifier });
  const schools = [...new Set(given)];
  const homeSchoolId = given[0] ?? null;
  await change.touch({ people: [id], schools });
  const kept = { homeSchoolId, sortKey: makePersonSortKey(nameOf(record)), createdAt: now, updatedAt: now };
  await write(tx.prisma.person.create({ data: { id, ...record, ...kept } }));
  const affiliations = schools.map((schoolId) => ({ id: makeUuid(now), personId: id, schoolId }));
  await write(tx.prisma.affiliation.createMany({ data: affiliations }));
  const line = { action: "person_created", personId: id, schoolId: homeSchoolId, detail: { schools } };
  await recordAudit(tx, { ...originOf(change), ...line });
  return id;
}

/** One of many people who come to a school together. Shape: `groups` are groups of that school. */
export type NewMember = Omit<NewPerson, "schools"> & { groups: readonly GroupId[] };

/**
 * Registers many people at one school, in its groups, with a number of statements that does not depend on how many they
 * are.
 *
 * Shape:  answers their ids in the order given; one audit line says how many they are.
 * Errors: as `createPerson`; not_found group_not_found.
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
  await recordAudit(tx, { ...originOf(change), action: "people_created", schoolId, detail: { people: rows.length } });
  return rows.map(({ id }) => id);
}

type Member = { id: PersonId; groups: readonly GroupId[]; record: Pick<PersonRecord, "role"> };

/** Errors: not_found group_not_found. */
async function addMembers({ prisma }: Transaction, schoolId: SchoolId, people: readonly Member[]): Promise<void> {
  const wanted = [...new Set(people.flatMap(({ groups }) => groups))];
  const found = await prisma.group.count({ where: { id: { in: wanted }, schoolId, status: "ACTIVE" } });
  if (found < wanted.length) throw new AppError("not_found", "group_not_found", "The group does not exist.");
  const data = people.flatMap(({ id: personId, groups, record: { role } }) =>
    groups.map((groupId) => ({ groupId, personId, schoolId, role })),
  );
  await write(prisma.membership.createMany({ data }));
}

/**
 * Changes what is given of a person and leaves the rest.
 *
 * Shape:  answers the names of the fields that differ; with none, nothing was written.
 * Errors: not_found person_not_found; invalid as `createPerson`; conflict person_wrong_status,
 *         source_system_identifier_taken.
 */
export async function updatePerson(change: Change, update: PersonUpdate): Promise<(keyof PersonRecord)[]> {
  const { tx, now } = change;
  const { personId: id, name, ...rest } = update;
  await change.touch({ people: [id] });
  const { homeSchoolId, sourceIdIsShared, before } = await lockPerson(tx, id, "change");
  const after = checkPerson({ ...before, ...given(rest), ...(name !== undefined && spreadName(name)) });
  const changed = listDifferent(before, after);
  if (changed.length === 0) return [];
  const keepsSourceId = after.sourceSystemIdentifier === before.sourceSystemIdentifier;
  const kept = { sortKey: makePersonSortKey(nameOf(after)), sourceIdIsShared: sourceIdIsShared && keepsSourceId };
  await write(tx.prisma.person.update({ where: { id }, data: { ...after, ...kept, updatedAt: now } }));
  // A member without a role of their own in the group keeps having the person's.
  if (after.role !== before.role) {
    await tx.prisma.membership.updateMany({ where: { personId: id, role: before.role }, data: { role: after.role } });
  }
  const line = { action: "person_updated", personId: id, schoolId: homeSchoolId, detail: { changed } };
  await recordAudit(tx, { ...originOf(change), ...line });
  return changed;
}

const p = table("person", "p");

// FOR UPDATE would keep the person from signing in until the change ends.
const lockRow = statement<{ personId: PersonId }>(
  ({ personId }) => sql`SELECT FROM ${p} WHERE ${p.id} = ${personId} FOR NO KEY UPDATE`,
  "directory.lockPerson",
);

export type LockedPerson = { homeSchoolId: SchoolId | null; purgeAt: Date | null; sourceIdIsShared: boolean } & {
  before: PersonRecord;
};

/**
 * Reads a person, whose row is locked until the end of the change.
 *
 * Errors: not_found person_not_found; conflict person_wrong_status for a step that the person's status does not allow.
 */
export async function lockPerson(tx: Transaction, personId: PersonId, step: PersonStep): Promise<LockedPerson> {
  await findRows(tx, lockRow, { personId });
  const person = await tx.prisma.person.findUnique({
    where: { id: personId },
    omit: { id: true, sortKey: true, softDeletedAt: true, blockedAt: true, createdAt: true, updatedAt: true },
  });
  if (person === null) throw new AppError("not_found", "person_not_found", "The person does not exist.");
  const { status, homeSchoolId, purgeAt, sourceIdIsShared, ...before } = person;
  checkPersonStep(status, step);
  return { homeSchoolId: homeSchoolId as SchoolId | null, purgeAt, sourceIdIsShared, before };
}

/** The record with every field cleaned; a column of the schema that is missing here does not compile. */
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

/** The name of a record as one value. Shape: a name is whole or null. */
export function nameOf({ firstFull, firstCall, last }: Pick<PersonRecord, keyof PersonName>): PersonName | null {
  return firstFull === null || firstCall === null || last === null ? null : { firstFull, firstCall, last };
}
