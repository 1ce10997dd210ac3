import { gradeOfNames, personNameOf } from "../../directory/index.ts";
import type { GroupId, PersonId, PersonName, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { findCardPlaces, type CardPlace, type PlaceFilter } from "../../accounts/index.ts";
import { groupsInReach, listRolesOf, type Reach } from "../../staff/index.ts";
import { mapInSlices } from "../../platform/http/index.ts";
import { groupUnknown, readGroup } from "../groups/groups.ts";
import { personUnknown } from "../reached.ts";

const mostCards = 200;

export type CardSkipReason = "NO_LOGIN" | "NOT_ACTIVE" | "STAFF" | "GUEST";

/** A candidate for a card. `skip` is the reason why they get none. */
export type CardHolder = {
  personId: PersonId;
  name: PersonName | null;
  className: string | null;
  grade: number | null;
  username: string | null;
  skip: CardSkipReason | null;
};

/** Exactly one of both is given. */
type AskedHolders = { personIds?: string[]; groupId?: string };

type Subject = { schoolId: SchoolId; reach: Reach; now: Date };

/**
 * Sorts people by class and name. Errors: invalid card_holders_invalid, too_many_cards; not_found group_not_found,
 * person_not_found, also if out of reach; a class teacher reaches only the students of their groups.
 */
export async function findCardHolders(db: RecordStore, subject: Subject, holders: AskedHolders): Promise<CardHolder[]> {
  const places = await findAskedPlaces(db, subject, holders);
  if (places.length > mostCards)
    throw new AppError("invalid", "too_many_cards", `Cards are made for ${mostCards} people at most.`);
  return presentHolders(db, places, subject.now);
}

/** As `findCardHolders`, for any number of people. Errors: not_found group_not_found. */
export async function findManyHolders(db: RecordStore, subject: Subject, filter: PlaceFilter): Promise<CardHolder[]> {
  for (const groupId of filter.groupIds ?? []) await refuseOtherGroup(db, subject, groupId as GroupId);
  return presentHolders(db, await findPlaces(db, subject, filter), subject.now);
}

async function presentHolders(db: RecordStore, places: readonly CardPlace[], now: Date): Promise<CardHolder[]> {
  const staff = await listRolesOf(db, { personIds: places.map(({ personId }) => personId as PersonId), now });
  return (await mapInSlices(places, (place) => presentHolder(place, staff))).toSorted(byClass);
}

async function refuseOtherGroup(db: RecordStore, { schoolId, reach }: Subject, groupId: GroupId): Promise<void> {
  const group = await readGroup(db, reach, groupId);
  if (group.schoolId !== schoolId || group.status !== "ACTIVE") throw groupUnknown();
}

/** Lists people without guests; null asks for all whom the caller reaches. Errors: as `findCardHolders`. */
export async function listCardHolders(db: RecordStore, subject: Subject, holders: AskedHolders | null) {
  const places = holders === null ? await findPlaces(db, subject, {}) : await findAskedPlaces(db, subject, holders);
  return places.filter((place) => !isGuest(place)).map(({ personId }) => personId as PersonId);
}

async function findAskedPlaces(db: RecordStore, subject: Subject, holders: AskedHolders): Promise<CardPlace[]> {
  const { personIds, groupId } = holders;
  if ((personIds === undefined) === (groupId === undefined))
    throw new AppError("invalid", "card_holders_invalid", "Name either personIds or groupId.");
  if (groupId !== undefined) await refuseOtherGroup(db, subject, groupId as GroupId);
  const places = await findPlaces(db, subject, { personIds, ...(groupId !== undefined && { groupIds: [groupId] }) });
  if (personIds !== undefined && places.length < new Set(personIds).size) throw personUnknown();
  return places;
}

async function findPlaces(db: RecordStore, { schoolId, reach }: Subject, filter: PlaceFilter): Promise<CardPlace[]> {
  const groups = groupsInReach(reach, schoolId);
  if (groups.all) return findCardPlaces(db, { ...filter, schoolId });
  const { taughtBy } = groups;
  return taughtBy === null ? [] : findCardPlaces(db, { ...filter, schoolId, taughtBy });
}

/** Sorts after every class. */
const last = "\uffff";

type SortedHolder = CardHolder & { sortKey: string };

const isGuest = ({ person, schoolId }: CardPlace): boolean => person.homeSchoolId !== schoolId;

function presentHolder(place: CardPlace, staff: ReadonlyMap<PersonId, unknown>): SortedHolder {
  const { person, memberships } = place;
  const classes = memberships.map(({ group }) => group).toSorted((a, b) => (a.naturalKey < b.naturalKey ? -1 : 1));
  const names = classes.map(({ name }) => name);
  const { credential, sortKey } = person;
  const personId = person.id as PersonId;
  const isActive = person.status === "ACTIVE" && person.blockedAt === null;
  const lacks: CardSkipReason | null = credential === null ? "NO_LOGIN" : null;
  return {
    personId,
    name: personNameOf(person),
    className: names.length === 0 ? null : names.join(", "),
    grade: gradeOfNames(names),
    username: credential?.username ?? null,
    skip: isGuest(place) ? "GUEST" : !isActive ? "NOT_ACTIVE" : staff.has(personId) ? "STAFF" : lacks,
    sortKey: `${classes[0]?.naturalKey ?? last}\0${sortKey}\0${personId}`,
  };
}

const byClass = (left: SortedHolder, right: SortedHolder): number => (left.sortKey < right.sortKey ? -1 : 1);
