import type { SchoolId } from "../../directory/index.ts";
import { attributesOf, type AppOfPerson, type PersonAttribute } from "../apps-of-person.ts";
import type { AppAttribute } from "../attributes.ts";

type Span = { since: Date; until: Date | null };

/** From when to when an app could read a person: as a user, as a synced person, or both. */
export type Reading = Span & {
  isUser: boolean;
  isPerson: boolean;
  seesSchool: boolean;
  schoolIds: SchoolId[];
  lastReadAt: Date | null;
};

/** What the registration of an app was from when to when. */
export type Registered = Span &
  Pick<AppOfPerson, "name" | "type" | "scopes"> & { provider: string | null; attributes: AppAttribute[] };

export type DisclosedPeriod = Span & { attributes: PersonAttribute[]; schoolIds: SchoolId[] };

const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a);

/** The time that both have in common; null if none. */
function overlap(a: Span, b: Span): Span | null {
  const since = a.since > b.since ? a.since : b.since;
  const until = earlier(a.until, b.until);
  return until !== null && until <= since ? null : { since, until };
}

/** Ends each period where the next one begins: a sign-in does not wait for a change that is about to end one. */
function inOrder(readings: readonly Reading[]): Reading[] {
  const sorted = readings.toSorted((a, b) => Number(a.since) - Number(b.since));
  return sorted.map((one, index) => ({ ...one, until: earlier(one.until, sorted[index + 1]?.since ?? null) }));
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();

const continues = (last: DisclosedPeriod, next: DisclosedPeriod): boolean =>
  Number(last.until) === Number(next.since) &&
  isSame(last.attributes, next.attributes) &&
  isSame(last.schoolIds, next.schoolIds);

function joinPeriods(periods: readonly DisclosedPeriod[]): DisclosedPeriod[] {
  const joined: DisclosedPeriod[] = [];
  for (const period of periods) {
    const last = joined.at(-1);
    if (last !== undefined && continues(last, period)) last.until = period.until;
    else joined.push({ ...period });
  }
  return joined;
}

/** Stands for schools and groups of which only the number matters. */
const some = [true];

/** What the app could read from when to when, oldest first. */
export function listPeriods(readings: readonly Reading[], registered: readonly Registered[]): DisclosedPeriod[] {
  const found = inOrder(readings).flatMap(({ schoolIds, seesSchool, ...reading }) =>
    registered.flatMap(({ attributes: granted, ...registration }): DisclosedPeriod[] => {
      const span = overlap(reading, registration);
      const shown = seesSchool ? some : [];
      const seen = { ...reading, ...registration, granted, maySignIn: false, schools: shown, groups: shown };
      const attributes = attributesOf(seen);
      return span === null || attributes.length === 0 ? [] : [{ ...span, attributes, schoolIds }];
    }),
  );
  return joinPeriods(found.sort((a, b) => Number(a.since) - Number(b.since)));
}

/** What sign-ins between these times could give the app. */
export function listSent(
  { first, last, seesSchool }: { first: Date; last: Date; seesSchool: boolean },
  registered: readonly Registered[],
): PersonAttribute[] {
  const during = registered.filter(({ since, until }) => since <= last && (until === null || until > first));
  const shown = seesSchool ? some : [];
  const sent = during.map(({ attributes: granted, ...registration }) => ({ ...registration, granted }));
  const signIn = { maySignIn: true, isUser: false, isPerson: false, schools: shown, groups: some };
  return [...new Set(sent.flatMap((registration) => attributesOf({ ...registration, ...signIn })))];
}
