import type { SchoolId } from "../../directory/index.ts";
import { attributesOf, type AppOfPerson, type PersonAttribute } from "../apps-of-person.ts";
import type { AppAttribute } from "../attributes.ts";
import type { WithheldItem } from "../withheld-sql.ts";

type Span = { since: Date; until: Date | null };

/** From when to when an app could read a person: as a user, as a synced person, or both. */
export type ReadingPeriod = Span & {
  isUser: boolean;
  isPerson: boolean;
  seesSchool: boolean;
  schoolIds: SchoolId[];
  lastReadAt: Date | null;
};

/** What the registration of an app was from when to when. */
export type Registered = Span &
  Pick<AppOfPerson, "name" | "type" | "scopes"> & { provider: string | null; attributes: AppAttribute[] };

export type WithheldSpan = Span & { schoolId: SchoolId; item: WithheldItem };

/** An agreement that a school had accepted; it began with `since`. */
export type Agreed = Span & { schoolId: SchoolId; agreementId: string; version: string };

/** All that is recorded of an app and the schools of a person. */
export type Recorded = {
  readings: readonly ReadingPeriod[];
  registered: readonly Registered[];
  withheld: readonly WithheldSpan[];
  agreed: readonly Agreed[];
};

export type DisclosedPeriod = Span & { attributes: PersonAttribute[]; schoolIds: SchoolId[]; agreed: Agreed[] };

const holdsAt = ({ since, until }: Span, at: Date): boolean => since <= at && (until === null || until > at);

/** The times between which nothing changes, oldest first; the last one has no end. */
function cut(spans: readonly Span[]): Span[] {
  const times = spans.flatMap(({ since, until }) => (until === null ? [since] : [since, until])).map(Number);
  const sorted = [...new Set(times)].sort((a, b) => a - b).map((time) => new Date(time));
  return sorted.map((since, index) => ({ since, until: sorted[index + 1] ?? null }));
}

/** Stands for schools and groups of which only the number matters. */
const some = [true];

type Way = Pick<AppOfPerson, "maySignIn" | "isUser" | "isPerson">;

/** What an app learned at a moment, in the way that `wayOf` chooses. */
function learnedAt(at: Date, { readings, registered, withheld }: Recorded, wayOf: (reading?: ReadingPeriod) => Way) {
  // A sign-in does not wait for a change that is about to end a row, so two may hold: the later one counts.
  const reading = readings.findLast((one) => holdsAt(one, at));
  const registration = registered.find((one) => holdsAt(one, at));
  if (registration === undefined) return { reading, attributes: [] };
  const schoolIds = reading?.schoolIds ?? [];
  const held = withheld.filter((one) => holdsAt(one, at) && schoolIds.includes(one.schoolId)).map(({ item }) => item);
  const isGiven = (item: WithheldItem): boolean => !held.includes(item);
  const way = wayOf(reading);
  const ofSchool = reading?.seesSchool === true ? some : [];
  const attributes = attributesOf({
    ...way,
    type: registration.type,
    scopes: registration.scopes.filter(isGiven),
    granted: registration.attributes.filter(isGiven),
    schools: ofSchool,
    groups: way.maySignIn ? some : ofSchool,
  });
  return { reading, attributes };
}

const isSame = (a: DisclosedPeriod, b: DisclosedPeriod): boolean => contentOf(a) === contentOf(b);
const contentOf = ({ attributes, schoolIds, agreed }: DisclosedPeriod): string =>
  JSON.stringify([attributes, schoolIds, agreed.map(({ schoolId, agreementId }) => [schoolId, agreementId])]);

function joinPeriods(periods: readonly DisclosedPeriod[]): DisclosedPeriod[] {
  const joined: DisclosedPeriod[] = [];
  for (const period of periods) {
    const last = joined.at(-1);
    if (last !== undefined && Number(last.until) === Number(period.since) && isSame(last, period))
      last.until = period.until;
    else joined.push({ ...period });
  }
  return joined;
}

const inApi = (reading?: ReadingPeriod): Way => ({
  maySignIn: false,
  isUser: reading?.isUser ?? false,
  isPerson: reading?.isPerson ?? false,
});

const spansOf = ({ readings, registered, withheld, agreed }: Recorded): Span[] =>
  cut([...readings, ...registered, ...withheld, ...agreed]);

/** What the app could read from when to when, oldest first. `readings` are in order. */
export function listPeriods(recorded: Recorded): DisclosedPeriod[] {
  const periods = spansOf(recorded).flatMap((span): DisclosedPeriod[] => {
    const { reading, attributes } = learnedAt(span.since, recorded, inApi);
    if (reading === undefined || attributes.length === 0) return [];
    const { schoolIds } = reading;
    const agreed = recorded.agreed.filter((one) => holdsAt(one, span.since) && schoolIds.includes(one.schoolId));
    return [{ ...span, attributes, schoolIds, agreed }];
  });
  return joinPeriods(periods);
}

const atSignIn = (): Way => ({ maySignIn: true, isUser: false, isPerson: false });

/** What sign-ins between these times could give the app. */
export function listSent({ first, last }: { first: Date; last: Date }, recorded: Recorded): PersonAttribute[] {
  const during = spansOf(recorded).filter(({ since, until }) => since <= last && (until === null || until > first));
  return [...new Set(during.flatMap(({ since }) => learnedAt(since, recorded, atSignIn).attributes))];
}
