import { makeSortKey, type PersonId, type SchoolId } from "../../directory/index.ts";
import { fields, makeFind, makeFindOne, pick, sql, table, type Queryable } from "../../platform/database/sql.ts";
import { listAppsOfPerson, type AppOfPerson, type PersonAttribute } from "../apps-of-person.ts";
import type { ClientId } from "../token.ts";
import { sinceUnrecorded } from "./record.ts";
import { listPeriods, listSent } from "./segments.ts";
import type { Agreed, DisclosedPeriod, ReadingPeriod, Recorded, Registered, WithheldSpan } from "./segments.ts";

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

const completed = (row: Unread, now: AppOfPerson | undefined): ReadingPeriod => ({
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

type ByClient<Row> = { clientId: ClientId } & Row;

const period = table("disclosurePeriod", "p");
const reading = table("disclosurePeriod", "reading");
const registration = table("registrationPeriod", "r");
const app = table("app", "app");
const profile = table("appProfile", "profile");
const feed = table("eventFeed", "feed");
const at = table("affiliation", "at");
const call = table("lastCall", "call");

const listReadings = makeFind<ByClient<Unread>, { personId: PersonId; clientIds: readonly ClientId[] }>(
  "access.findReadings",
)`
  WITH reading AS (
    SELECT ${period.clientId}, ${period.since}, ${period.until}, ${period.isUser}, ${period.isPerson}, ${period.seesSchool},
      ${period.schoolIds}, ${period.lastReadAt}
    FROM ${period} WHERE ${period.personId} = ${"personId"}
    UNION ALL
    SELECT seen.client_id, ${({ personId }) => sinceUnrecorded(sql`seen.client_id`, personId)},
      NULL, NULL, NULL, NULL, ARRAY(
      SELECT ${at.schoolId} FROM ${at} WHERE ${at.personId} = ${"personId"} ORDER BY 1), NULL
    FROM unnest(${"clientIds"}::text[]) AS seen (client_id)
    WHERE NOT EXISTS (
      SELECT FROM ${period} WHERE ${period.personId} = ${"personId"} AND ${period.clientId} = seen.client_id
        AND ${period.until} IS NULL))
  SELECT ${fields<ByClient<Unread>>({
    ...pick(reading, "clientId", "since", "until", "isUser", "isPerson", "seesSchool", "schoolIds"),
    lastReadAt: sql`greatest(reading.last_read_at, (
      SELECT max(${call.at}) FROM ${call}
      WHERE ${call.clientId} = reading.client_id AND ${call.schoolId} = ANY (reading.school_ids)
        AND ${call.at} >= reading.since AND (reading.until IS NULL OR ${call.at} < reading.until)))`,
  })} FROM reading ORDER BY reading.since`;

/** Null for a value that was not recorded because it has not changed since. */
type Unread = Omit<ReadingPeriod, keyof Ways> & { [Way in keyof Ways]: boolean | null };
type Ways = Pick<ReadingPeriod, "isUser" | "isPerson" | "seesSchool">;

/** Ordered by their ends, because clocks of processes differ: the last one of an existing app is in force. */
const listRegistrations = makeFind<ByClient<Registered>, { clientIds: readonly ClientId[] }>(
  "access.findRegistrations",
)`
  SELECT ${fields<ByClient<Registered>>({
    ...pick(registration, "clientId", "since", "until", "name", "provider", "type", "scopes"),
    attributes: sql`${registration.attributes}::text[]`,
  })}
  FROM ${registration} WHERE ${registration.clientId} = ANY (${"clientIds"})
  UNION ALL
  SELECT ${app.clientId}, (SELECT ${feed.historyBeganAt}
    FROM ${feed}), NULL, ${app.name}, ${profile.provider}, ${app.type},
    ${app.scopes}, ${app.attributes}::text[]
  FROM ${app} LEFT JOIN ${profile} ON ${profile.clientId} = ${app.clientId}
  WHERE ${app.clientId} = ANY (${"clientIds"})
    AND NOT EXISTS (SELECT FROM ${registration} WHERE ${registration.clientId} = ${app.clientId})
  ORDER BY 1, 3`;

type OfSchools = { clientIds: readonly ClientId[]; schoolIds: readonly SchoolId[] };

const held = table("withheldPeriod", "w");
const listWithheldSpans = makeFind<ByClient<WithheldSpan>, OfSchools>("access.findWithheldPeriods")`
  SELECT ${fields<ByClient<WithheldSpan>>(pick(held, "clientId", "schoolId", "item", "since", "until"))}
  FROM ${held} WHERE ${held.clientId} = ANY (${"clientIds"}) AND ${held.schoolId} = ANY (${"schoolIds"}::uuid[])`;

const acceptance = table("agreementAcceptance", "a");
const agreement = table("agreement", "agreement");
const listAgreed = makeFind<ByClient<Agreed>, OfSchools>("access.findAgreedPeriods")`
  SELECT ${fields<ByClient<Agreed>>({
    ...pick(acceptance, "clientId", "schoolId", "agreementId"),
    version: agreement.version,
    since: acceptance.acceptedAt,
    until: sql`coalesce(${acceptance.replacedAt}, ${acceptance.withdrawnAt})`,
  })}
  FROM ${acceptance} JOIN ${agreement} ON ${agreement.id} = ${acceptance.agreementId}
  WHERE ${acceptance.clientId} = ANY (${"clientIds"}) AND ${acceptance.schoolId} = ANY (${"schoolIds"}::uuid[])
  ORDER BY ${acceptance.acceptedAt}, ${acceptance.schoolId}`;

const findBegin = makeFindOne<{ began: Date }>("access.findHistoryBegin")`
  SELECT ${feed.historyBeganAt} AS began FROM ${feed}`;

type RecordedOfApp = { readings: Unread[]; registered: Registered[]; withheld: WithheldSpan[]; agreed: Agreed[] };

/** What is recorded of the person and each app; also of `seen`, the apps that can read them now. */
async function findRecorded(
  db: Queryable,
  { personId, seen, others }: { personId: PersonId; seen: readonly ClientId[]; others: readonly ClientId[] },
): Promise<{ began: Date; byApp: ReadonlyMap<ClientId, RecordedOfApp> }> {
  const readings = await listReadings(db, { personId, clientIds: seen });
  const clientIds = [...new Set([...readings.map(({ clientId }) => clientId), ...seen, ...others])];
  const ofSchools = { clientIds, schoolIds: [...new Set(readings.flatMap(({ schoolIds }) => schoolIds))] };
  const registered = await listRegistrations(db, { clientIds });
  const withheld = await listWithheldSpans(db, ofSchools);
  const agreed = await listAgreed(db, ofSchools);
  const { began } = await findBegin(db, {});
  const of = <Row extends { clientId: ClientId }>(rows: readonly Row[], clientId: ClientId): Row[] =>
    rows.filter((row) => row.clientId === clientId);
  const byApp = clientIds.map((id): [ClientId, RecordedOfApp] => [
    id,
    { readings: of(readings, id), registered: of(registered, id), withheld: of(withheld, id), agreed: of(agreed, id) },
  ]);
  return { began, byApp: new Map(byApp) };
}
