import { findApp, type ClientId } from "../access/index.ts";
import { findPerson, findSchool, type PersonId, type SchoolId } from "../directory/index.ts";
import { storeOf, type PrismaDb, type Store } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { isReached, type Reach } from "../staff/index.ts";
import { refuseOtherSchool, schoolUnknown } from "./schools.ts";

/** What a list is narrowed to. */
type Chosen = { school?: string | undefined; person?: string | undefined; app?: string | undefined };

export type ChosenIds = {
  schoolId?: SchoolId | undefined;
  personId?: PersonId | undefined;
  clientId?: ClientId | undefined;
};

const personUnknown = () => new AppError("not_found", "person_not_found", "The person does not exist.");
const appUnknown = () => new AppError("not_found", "app_not_found", "There is no such app.");

/** Errors: not_found school_not_found. */
export async function refuseUnknownSchool(db: Store, reach: Reach, schoolId: SchoolId): Promise<void> {
  refuseOtherSchool(reach, schoolId);
  if (reach.all && (await findSchool(db, schoolId)) === null) throw schoolUnknown();
}

/** Errors: not_found person_not_found for somebody who is at no school that the caller reaches. */
export async function refuseOtherPerson(db: Store, reach: Reach, personId: PersonId): Promise<void> {
  const person = await findPerson(db, personId);
  if (person === null || !isReached(reach, { schools: person.schools.map(({ id }) => id) })) throw personUnknown();
}

/**
 * Shape:  schools choose among all apps, partners among their own.
 * Errors: not_found app_not_found.
 */
export async function refuseOtherApp(db: Store, reach: Reach, clientId: ClientId): Promise<void> {
  const isShown = reach.schoolIds.size > 0 || isReached(reach, { clientId });
  if (!isShown || (await findApp(db, clientId)) === null) throw appUnknown();
}

/** Reads what a list is narrowed to. Errors: not_found for what does not exist or is not reached. */
export async function readChosen(db: PrismaDb, reach: Reach, { school, person, app }: Chosen): Promise<ChosenIds> {
  const store = storeOf(db);
  const [schoolId, personId, clientId] = [school as SchoolId, person as PersonId, app as ClientId];
  if (school !== undefined) await refuseUnknownSchool(store, reach, schoolId);
  if (person !== undefined) await refuseOtherPerson(store, reach, personId);
  if (app !== undefined) await refuseOtherApp(store, reach, clientId);
  return { schoolId, personId, clientId };
}
