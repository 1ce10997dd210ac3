import type { SchoolId } from "../../directory/index.ts";
import { claimedAttributes, readAttributes, type PersonAttribute } from "../apps-of-person.ts";
import type { AppAttribute } from "../attributes.ts";
import type { ScopeName } from "../token.ts";

type Span = { since: Date; until: Date | null };

/** From when to when an app could read a person, as a user, as a synced person, or both. */
export type Reading = Span & { isUser: boolean; isPerson: boolean; schoolIds: SchoolId[]; lastReadAt: Date | null };

/** What the registration of an app was from when to when. */
export type Registered = Span & {
  name: string;
  provider: string | null;
  scopes: ScopeName[];
  attributes: AppAttribute[];
};

export type DisclosedPeriod = Span & { attributes: PersonAttribute[]; schoolIds: SchoolId[] };

const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a);

/** The time that both have in common; null if none. */
function overlap(a: Span, b: Span): Span | null {
  const since = a.since > b.since ? a.since : b.since;
  const until = earlier(a.until, b.until);
  return until !== null && until <= since ? null : { since, until };
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join();

/** Joins periods that follow one another with the same content. */
function joinPeriods(periods: readonly DisclosedPeriod[]): DisclosedPeriod[] {
  const joined: DisclosedPeriod[] = [];
  for (const period of periods) {
    const last = joined.at(-1);
    if (
      last?.until &&
      last.until >= period.since &&
      isSame(last.attributes, period.attributes) &&
      isSame(last.schoolIds, period.schoolIds)
    )
      last.until = period.until;
    else joined.push({ ...period });
  }
  return joined;
}

/** Ends each period where the next one begins: a sign-in does not wait for a change that is about to end one. */
function inOrder(readings: readonly Reading[]): Reading[] {
  const sorted = readings.toSorted((a, b) => Number(a.since) - Number(b.since));
  return sorted.map((one, index) => ({ ...one, until: earlier(one.until, sorted[index + 1]?.since ?? null) }));
}

/** What the app could read from when to when, oldest first. */
export function listPeriods(readings: readonly Reading[], registered: readonly Registered[]): DisclosedPeriod[] {
  const found = inOrder(readings).flatMap(({ isUser, isPerson, schoolIds, ...reading }) =>
    registered.flatMap((registration): DisclosedPeriod[] => {
      const span = overlap(reading, registration);
      const attributes = readAttributes({ ...registration, isUser, isPerson });
      return span === null || attributes.length === 0 ? [] : [{ ...span, attributes, schoolIds }];
    }),
  );
  return joinPeriods(found.sort((a, b) => Number(a.since) - Number(b.since)));
}

/** What sign-ins between these times could send to the app. */
export function listSent(
  { first, last }: { first: Date; last: Date },
  registered: readonly Registered[],
): PersonAttribute[] {
  const scopes = registered.filter(({ since, until }) => since <= last && (until === null || until > first));
  return [...new Set(scopes.flatMap(claimedAttributes))];
}
