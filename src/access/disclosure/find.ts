import { makeSortKey, type PersonId } from "../../directory/index.ts";
import { fields, findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";
import { listAppsOfPerson, type AppOfPerson, type PersonAttribute } from "../apps-of-person.ts";
import type { ClientId } from "../token.ts";
import { sinceUnrecorded } from "./record.ts";
import { listPeriods, listSent, type DisclosedPeriod, type Reading, type Registered } from "./segments.ts";

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

type Query = { personId: PersonId; clientIds: readonly ClientId[] };
type ByClient<Row> = { clientId: ClientId } & Row;

const period = table("disclosurePeriod", "p");
const registration = table("registrationPeriod", "r");
const app = table("app", "app");
const profile = table("appProfile", "profile");
const feed = table("eventFeed", "feed");
const at = table("affiliation", "at");
const call = table("lastCall", "call");

const selectReadings = statement<Query>(
  ({ personId, clientIds }) => sql`
  WITH reading AS (
    SELECT ${period.clientId}, ${period.since}, ${period.until}, ${period.isUser}, ${period.isPerson}, ${period.seesSchool},
      ${period.schoolIds}, ${period.lastReadAt}
    FROM ${period} WHERE ${period.personId} = ${personId}
    UNION ALL
    SELECT seen.client_id, ${sinceUnrecorded(sql`seen.client_id`, personId)}, NULL, NULL, NULL, NULL, ARRAY(
      SELECT ${at.schoolId} FROM ${at} WHERE ${at.personId} = ${personId} ORDER BY 1), NULL
    FROM unnest(${clientIds}::text[]) AS seen (client_id)
    WHERE NOT EXISTS (
      SELECT FROM ${period} WHERE ${period.personId} = ${personId} AND ${period.clientId} = seen.client_id
        AND ${period.until} IS NULL))
  SELECT ${fields<ByClient<Unread>>({
    clientId: sql`reading.client_id`,
    since: sql`reading.since`,
    until: sql`reading.until`,
    isUser: sql`reading.is_user`,
    isPerson: sql`reading.is_person`,
    seesSchool: sql`reading.sees_school`,
    schoolIds: sql`reading.school_ids`,
    lastReadAt: sql`greatest(reading.last_read_at, (
      SELECT max(${call.at}) FROM ${call}
      WHERE ${call.clientId} = reading.client_id AND ${call.schoolId} = ANY (reading.school_ids)
        AND ${call.at} >= reading.since AND (reading.until IS NULL OR ${call.at} < reading.until)))`,
  })} FROM reading`,
  "access.findReadings",
);

/** Null of what is not recorded and is as it is now. */
type Unread = Omit<Reading, keyof Ways> & { [Way in keyof Ways]: boolean | null };
type Ways = Pick<Reading, "isUser" | "isPerson" | "seesSchool">;

const selectRegistrations = statement<{ clientIds: readonly ClientId[] }>(
  ({ clientIds }) => sql`
  SELECT ${fields<ByClient<Registered>>({
    clientId: registration.clientId,
    since: registration.since,
    until: registration.until,
    name: registration.name,
    provider: registration.provider,
    type: registration.type,
    scopes: registration.scopes,
    attributes: sql`${registration.attributes}::text[]`,
  })}
  FROM ${registration} WHERE ${registration.clientId} = ANY (${clientIds})
  UNION ALL
  SELECT ${app.clientId}, (SELECT ${feed.historyBeganAt} FROM ${feed}), NULL, ${app.name}, ${profile.provider}, ${app.type},
    ${app.scopes}, ${app.attributes}::text[]
  FROM ${app} LEFT JOIN ${profile} ON ${profile.clientId} = ${app.clientId}
  WHERE ${app.clientId} = ANY (${clientIds})
    AND NOT EXISTS (SELECT FROM ${registration} WHERE ${registration.clientId} = ${app.clientId})
  ORDER BY 1, 2`,
  "access.findRegistrations",
);

const selectBegin = statement(
  () => sql`SELECT ${fields<{ began: Date }>({ began: feed.historyBeganAt })} FROM ${feed}`,
  "access.findHistoryBegin",
);

/** Which apps could read the person, and what they were sent at sign-ins, by the name of the app. */
export async function listDisclosures(
  db: Queryable,
  { personId, now }: { personId: PersonId; now: Date },
): Promise<(Disclosure & { place: string })[]> {
  const apps = await listAppsOfPerson(db, { personId, now });
  const present = new Map(apps.map((one) => [one.clientId, one]));
  const seen = apps.filter(({ isUser, isPerson }) => isUser || isPerson).map(({ clientId }) => clientId);
  const rows = await findRows<ByClient<Unread>, Query>(db, selectReadings, { personId, clientIds: seen });
  const readings = Map.groupBy(rows, ({ clientId }) => clientId);
  const clientIds = [...new Set([...readings.keys(), ...present.keys()])];
  const registered = Map.groupBy(
    await findRows<ByClient<Registered>, Pick<Query, "clientIds">>(db, selectRegistrations, { clientIds }),
    ({ clientId }) => clientId,
  );
  const [{ began: recordedSince }] = (await findRows<{ began: Date }>(db, selectBegin, {})) as [{ began: Date }];
  return clientIds
    .flatMap((clientId) => {
      const registrations = registered.get(clientId) ?? [];
      const last = registrations.at(-1);
      if (last === undefined) return [];
      const own = (readings.get(clientId) ?? []).map((row) => completed(row, present.get(clientId)));
      const periods = listPeriods(own, registrations);
      const signIn = signInOf(present.get(clientId), registrations);
      if (periods.length === 0 && signIn === null) return [];
      const { name, provider, until: deletedAt } = last;
      const reads = own.flatMap(({ lastReadAt }) => lastReadAt ?? []).map(Number);
      const lastReadAt = reads.length === 0 || periods.length === 0 ? null : new Date(Math.max(...reads));
      const place = `${makeSortKey(name)}\0${clientId}`;
      return [{ clientId, name, provider, deletedAt, recordedSince, periods, signIn, lastReadAt, place }];
    })
    .sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
}

const completed = (row: Unread, now: AppOfPerson | undefined): Reading => ({
  ...row,
  isUser: row.isUser ?? now?.isUser ?? false,
  isPerson: row.isPerson ?? now?.isPerson ?? false,
  seesSchool: row.seesSchool ?? (now?.schools.length ?? 0) > 0,
});

function signInOf(app: AppOfPerson | undefined, registered: readonly Registered[]): Disclosure["signIn"] {
  if (!app?.firstSignInAt || !app.lastSignInAt) return null;
  const [firstAt, lastAt] = [new Date(app.firstSignInAt), new Date(app.lastSignInAt)];
  const sent = { first: firstAt, last: lastAt, seesSchool: app.schools.length > 0 };
  return { firstAt, lastAt, attributes: listSent(sent, registered) };
}
