import { findPerson, type Change, type Person, type PersonId, type SchoolId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import type { RecordStore } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { listLoginHolders } from "../sign-on/index.ts";
import { isReached, refuseHigherHolder, type Reach } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { changeRecord } from "./change.ts";
import type { AdminDeps, AdminRequest } from "./handler.ts";
import { refuseStale, tagOf } from "./stale.ts";

export type AdminPerson = components["schemas"]["AdminPerson"];

export const personUnknown = () => new AppError("not_found", "person_not_found", "The person does not exist.");

/** Shape: schools that the caller does not reach are left out with their groups. */
export function presentPerson(person: Person, reach: Reach, hasLogin: boolean): AdminPerson {
  const { id, role, status, name, sourceSystemIdentifier, softDeletedAt, purgeAt, blockedAt, homeSchoolId } = person;
  const isSeen = (schoolId: SchoolId) => isReached(reach, { schools: [schoolId] });
  return present<AdminPerson>({
    id,
    role,
    status,
    name,
    sourceSystemIdentifier,
    hasLogin,
    homeSchoolId,
    softDeletedAt: softDeletedAt?.toISOString() ?? null,
    purgeAt: purgeAt?.toISOString() ?? null,
    blockedAt: blockedAt?.toISOString() ?? null,
    schools: person.schools.filter((school) => isSeen(school.id)),
    groups: person.groups.filter(({ schoolId }) => isSeen(schoolId)),
  });
}

async function findRecord(db: RecordStore, reach: Reach, personId: PersonId): Promise<AdminPerson | null> {
  const person = await findPerson(db, personId);
  if (person === null) return null;
  return presentPerson(person, reach, (await listLoginHolders(db, [personId])).has(personId));
}

const isSeen = (record: AdminPerson | null): record is AdminPerson => record !== null && record.schools.length > 0;

/** Errors: not_found person_not_found for a person who does not exist, or whom the caller does not reach. */
export async function readPerson(db: RecordStore, reach: Reach, personId: PersonId): Promise<AdminPerson> {
  const record = await findRecord(db, reach, personId);
  if (!isSeen(record)) throw personUnknown();
  return record;
}

type Request = Pick<AdminRequest<"getPerson">, "path" | "reach" | "origin" | "caller"> & {
  query: { "dry-run"?: boolean };
  headers: object;
};

/**
 * Changes a person whom the caller reaches.
 *
 * Shape:  `schools` are those that the person comes to or leaves; `forgets` as in `changeRecord`.
 * Errors: not_found person_not_found; forbidden role_forbids for a person of the staff above the caller; StaleRecord;
 *         those of `work`.
 */
export async function changePerson(
  deps: AdminDeps,
  request: Request,
  work: (change: Change, before: AdminPerson) => Promise<unknown>,
  { schools = [], forgets = false }: { schools?: readonly SchoolId[]; forgets?: boolean } = {},
): ReturnType<typeof changeRecord> {
  const { path, reach, headers, caller } = request;
  const personId = path.personId as PersonId;
  await readPerson(deps.db, reach, personId);
  return changeRecord(deps, request, {
    touch: (change) => change.touch({ people: [personId], schools }),
    record: (tx) => findRecord(tx, reach, personId),
    work: async (change, record) => {
      const before = record as AdminPerson | null;
      if (!isSeen(before)) throw personUnknown();
      refuseStale(headers, before);
      await refuseHigherHolder(change.tx, { personId, mine: caller.roles, now: change.now });
      await work(change, before);
    },
    tag: tagOf,
    forgets,
  });
}
