import { recordAudit } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { makeUuid } from "../platform/ids.ts";
import { originOf, type Change } from "./change.ts";
import type { PersonId, SchoolId } from "./ids.ts";
import { write } from "./refusals.ts";
import { makePersonSortKey } from "./sort-key.ts";
import { checkIdentifier, checkText } from "./text.ts";
import { checkPersonStep, type PersonStatus, type PersonStep } from "./transitions.ts";

export type PersonRole = "STUDENT" | "TEACHER" | "OTHER";
export type PersonName = { firstFull: string; firstCall: string; last: string };

export type NewPerson = {
  id?: PersonId | undefined;
  /** The first one is the home school. */
  schools: readonly [SchoolId, ...SchoolId[]];
  role: PersonRole;
  /** Null where the school keeps none. */
  name: PersonName | null;
  sourceSystemIdentifier?: string | null | undefined;
};

export type PersonUpdate = {
  personId: PersonId;
  role?: PersonRole | undefined;
  name?: PersonName | null | undefined;
  sourceSystemIdentifier?: string | null | undefined;
};

const insertPerson = `
  INSERT INTO person (id, home_school_id, role, first_full, first_call, last, sort_key, source_system_identifier,
    created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`;

export async function createPerson(change: Change, person: NewPerson): Promise<PersonId> {
  const id = person.id ?? (makeUuid(change.now) as PersonId);
  const row = checkPerson(person);
  const schools = [...new Set(person.schools)];
  await change.touch({ people: [id], schools });
  await write(change.tx, insertPerson, [id, person.schools[0], ...valuesOf(row), change.now]);
  for (const schoolId of schools) await write(change.tx, insertAffiliation, [makeUuid(change.now), id, schoolId]);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "person_created",
    personId: id,
    schoolId: person.schools[0],
    detail: { schools },
  });
  return id;
}

export const insertAffiliation = "INSERT INTO affiliation (id, person_id, school_id) VALUES ($1, $2, $3)";

const updateColumns = `
  UPDATE person SET role = $2, first_full = $3, first_call = $4, last = $5, sort_key = $6, source_system_identifier = $7,
    source_id_is_shared = source_id_is_shared AND source_system_identifier IS NOT DISTINCT FROM $7, updated_at = $8
  WHERE id = $1`;

// A member without a role of their own in the group keeps having the person's.
const followRole = "UPDATE membership SET role = $3 WHERE person_id = $1 AND role = $2";

/** Changes what is given and leaves the rest. Answers the names of what differs now; none: nothing was written. */
export async function updatePerson(change: Change, update: PersonUpdate): Promise<string[]> {
  const { personId } = update;
  await change.touch({ people: [personId] });
  const before = await lockPerson(change.tx, personId, "change");
  const after = checkPerson({
    role: update.role ?? before.role,
    name: update.name === undefined ? nameOf(before) : update.name,
    sourceSystemIdentifier:
      update.sourceSystemIdentifier === undefined ? before.sourceSystemIdentifier : update.sourceSystemIdentifier,
  });
  const changed = (Object.keys(after) as (keyof PersonRow)[]).filter((column) => after[column] !== before[column]);
  if (changed.length === 0) return [];
  await write(change.tx, updateColumns, [personId, ...valuesOf(after), change.now]);
  if (after.role !== before.role) await change.tx.query(followRole, [personId, before.role, after.role]);
  await recordAudit(change.tx, {
    ...originOf(change),
    action: "person_updated",
    personId,
    schoolId: before.homeSchoolId,
    detail: { changed },
  });
  return changed;
}

type PersonRow = {
  role: PersonRole;
  firstFull: string | null;
  firstCall: string | null;
  last: string | null;
  sourceSystemIdentifier: string | null;
};

export type StoredPerson = PersonRow & { homeSchoolId: SchoolId; status: PersonStatus; purgeAt: Date | null };

const selectPerson = `
  SELECT role::text, first_full AS "firstFull", first_call AS "firstCall", last, source_system_identifier AS "sourceSystemIdentifier",
    home_school_id AS "homeSchoolId", status::text, purge_at AS "purgeAt"
  FROM person WHERE id = $1 FOR NO KEY UPDATE`;

/** The person as they are, held until the end of the change; refuses a step that their state does not allow. */
export async function lockPerson(tx: Queryable, personId: PersonId, step: PersonStep): Promise<StoredPerson> {
  const { rows } = await tx.query<StoredPerson>(selectPerson, [personId]);
  const person = rows[0];
  if (person === undefined) throw new AppError("not_found", "person_not_found", "The person does not exist.");
  checkPersonStep(person.status, step);
  return person;
}

function checkPerson({
  role,
  name,
  sourceSystemIdentifier,
}: Pick<NewPerson, "role" | "name" | "sourceSystemIdentifier">): PersonRow {
  const source = sourceSystemIdentifier ?? null;
  return {
    role,
    firstFull: name && checkText("firstFull", name.firstFull),
    firstCall: name && checkText("firstCall", name.firstCall),
    last: name && checkText("last", name.last),
    sourceSystemIdentifier: source === null ? null : checkIdentifier("sourceSystemIdentifier", source),
  };
}

function nameOf({ firstFull, firstCall, last }: PersonRow): PersonName | null {
  return firstFull === null || firstCall === null || last === null ? null : { firstFull, firstCall, last };
}

const valuesOf = (row: PersonRow): unknown[] => [
  ...[row.role, row.firstFull, row.firstCall, row.last],
  ...[makePersonSortKey(nameOf(row)), row.sourceSystemIdentifier],
];
