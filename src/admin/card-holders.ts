import { gradeOfNames, personNameOf } from "../directory/index.ts";
import type { GroupId, PersonId, PersonName, SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findCardPlaces, type CardPlace } from "../accounts/index.ts";
import { groupsInReach, listRolesOf, type Reach } from "../staff/index.ts";
import { readGroup } from "./group-record.ts";
import { personUnknown } from "./whose-person.ts";

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
export type AskedHolders = { personIds?: string[]; groupId?: string };

type Subject = { schoolId: SchoolId; reach: Reach; now: Date };

/**
 * Sorts people by class and name. Errors: invalid card_holders_invalid, too_many_cards; not_found group_not_found,
 * person_not_found, also if out of reach; a class teacher reaches only the students of their groups.
 */
export async function findCardHolders(db: RecordStore, subject: Subject, asked: AskedHolders): Promise<CardHolder[]> {
  const found = await findAskedPlaces(db, subject, asked);
  if (found.length > mostCards)
    throw new AppError("invalid", "too_many_cards", `Cards are made for ${mostCards} people at most.`);
  const personIds = found.map(({ personId }) => personId as PersonId);
  const staff = await listRolesOf(db, { personIds, now: subject.now });
  return found.map((place) => presentHolder(place, staff)).toSorted(byClass);
}

/** Lists people without guests; null asks for all whom the caller reaches. Errors: as `findCardHolders`. */
export async function listCardHolders(
  db: RecordStore,
  subject: Subject,
  asked: AskedHolders | null,
): Promise<PersonId[]> {
  const found = asked === null ? await findPlaces(db, subject, {}) : await findAskedPlaces(db, subject, asked);
  return found.filter((place) => !isGuest(place)).map(({ personId }) => personId as PersonId);
}

async function findAskedPlaces(db: RecordStore, subject: Subject, asked: AskedHolders): Promise<CardPlace[]> {
  const { schoolId, reach } = subject;
  const { personIds, groupId } = asked;
  if ((personIds === undefined) === (groupId === undefined))
    throw new AppError("invalid", "card_holders_invalid", "Name either personIds or groupId.");
  if (groupId !== undefined) {
    const group = await readGroup(db, reach, groupId as GroupId);
    if (group.schoolId !== schoolId || group.status !== "ACTIVE")
      throw new AppError("not_found", "group_not_found", "The group does not exist.");
  }
  const found = await findPlaces(db, subject, asked);
  if (personIds !== undefined && found.length < new Set(personIds).size) throw personUnknown();
  return found;
}

async function findPlaces(
  db: RecordStore,
  { schoolId, reach }: Subject,
  { personIds, groupId }: AskedHolders,
): Promise<CardPlace[]> {
  const groups = groupsInReach(reach, schoolId);
  if (groups.all) return findCardPlaces(db, { schoolId, personIds, groupId });
  const { taughtBy } = groups;
  return taughtBy === null ? [] : findCardPlaces(db, { schoolId, personIds, groupId, taughtBy });
}

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
    sortKey: `${classes[0]?.naturalKey ?? ""}\0${sortKey}\0${personId}`,
  };
}

const byClass = (left: SortedHolder, right: SortedHolder): number => (left.sortKey < right.sortKey ? -1 : 1);
