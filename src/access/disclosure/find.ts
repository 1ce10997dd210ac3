import { makeSortKey, type PersonId } from "../../directory/index.ts";
import type { Queryable } from "../../platform/database/sql.ts";
import { listAppsOfPerson, type AppOfPerson, type PersonAttribute } from "../apps-of-person.ts";
import type { ClientId } from "../token.ts";
import { findRecorded, type Unread } from "./recorded.ts";
import { listPeriods, listSent, type DisclosedPeriod, type Reading, type Recorded } from "./segments.ts";

export type Disclosure = {
  clientId: ClientId;
  name: string;
  provider: string | null;
  /** When the app was deleted; null if it still exists. */
  deletedAt: Date | null;
  /** `since` of a period is this time if the app could read the person then already. */
  recordedSince: Date;
  periods: DisclosedPeriod[];
  signIn: { firstAt: Date; lastAt: Date; attributes: PersonAttribute[] } | null;
  lastReadAt: Date | null;
};

/** Which apps could read the person, and what they were sent at sign-ins, by the name of the app. */
export async function listDisclosures(
  db: Queryable,
  { personId, now }: { personId: PersonId; now: Date },
): Promise<(Disclosure & { place: string })[]> {
  const apps = await listAppsOfPerson(db, { personId, now });
  const present = new Map(apps.map((one) => [one.clientId, one]));
  const [seen, others] = [true, false].map((isSeen) =>
    apps.filter(({ isUser, isPerson }) => (isUser || isPerson) === isSeen).map(({ clientId }) => clientId),
  ) as [ClientId[], ClientId[]];
  const { began, byApp } = await findRecorded(db, { personId, seen, others });
  return [...byApp]
    .flatMap(([clientId, { readings, ...recorded }]) => {
      const app = present.get(clientId);
      return describeApp(clientId, app, { ...recorded, readings: readings.map((row) => completed(row, app)) });
    })
    .map((one) => ({ ...one, recordedSince: began, place: `${makeSortKey(one.name)}\0${one.clientId}` }))
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

const completed = (row: Unread, now: AppOfPerson | undefined): Reading => ({
  ...row,
  isUser: row.isUser ?? now?.isUser ?? false,
  isPerson: row.isPerson ?? now?.isPerson ?? false,
  seesSchool: row.seesSchool ?? (now?.schools.length ?? 0) > 0,
});

/** Empty if the app could learn nothing. */
function describeApp(
  clientId: ClientId,
  app: AppOfPerson | undefined,
  recorded: Recorded,
): Omit<Disclosure, "recordedSince">[] {
  const last = recorded.registered.at(-1);
  const periods = listPeriods(recorded);
  const signIn = signInOf(app, recorded);
  if (last === undefined || (periods.length === 0 && signIn === null)) return [];
  const reads = recorded.readings.flatMap(({ lastReadAt }) => lastReadAt ?? []).map(Number);
  const lastReadAt = reads.length === 0 || periods.length === 0 ? null : new Date(Math.max(...reads));
  return [{ clientId, name: last.name, provider: last.provider, deletedAt: last.until, periods, signIn, lastReadAt }];
}

function signInOf(app: AppOfPerson | undefined, recorded: Recorded): Disclosure["signIn"] {
  if (!app?.firstSignInAt || !app.lastSignInAt) return null;
  const [firstAt, lastAt] = [new Date(app.firstSignInAt), new Date(app.lastSignInAt)];
  return { firstAt, lastAt, attributes: listSent({ first: firstAt, last: lastAt }, recorded) };
}
