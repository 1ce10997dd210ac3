import type { PersonId, SchoolId } from "../../directory/index.ts";
import { fields, findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";
import { sinceUnrecorded } from "./record.ts";
import type { Agreed, Reading, Registered, WithheldSpan } from "./segments.ts";

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
  })} FROM reading ORDER BY reading.since`,
  "access.findReadings",
);

/** Null of what is not recorded and is as it is now. */
export type Unread = Omit<Reading, keyof Ways> & { [Way in keyof Ways]: boolean | null };
type Ways = Pick<Reading, "isUser" | "isPerson" | "seesSchool">;

/**
 * In the order of their ends, because clocks of processes differ: of an app that was not deleted, the last one is in
 * force, even if it begins before others.
 */
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
  ORDER BY 1, 3`,
  "access.findRegistrations",
);

type OfSchools = { clientIds: readonly ClientId[]; schoolIds: readonly SchoolId[] };

const withheld = table("withheldPeriod", "w");
const selectWithheld = statement<OfSchools>(
  ({ clientIds, schoolIds }) => sql`
  SELECT ${fields<ByClient<WithheldSpan>>({
    clientId: withheld.clientId,
    schoolId: withheld.schoolId,
    item: withheld.item,
    since: withheld.since,
    until: withheld.until,
  })}
  FROM ${withheld} WHERE ${withheld.clientId} = ANY (${clientIds}) AND ${withheld.schoolId} = ANY (${schoolIds}::uuid[])`,
  "access.findWithheldPeriods",
);

const acceptance = table("agreementAcceptance", "a");
const agreement = table("agreement", "agreement");
const selectAgreed = statement<OfSchools>(
  ({ clientIds, schoolIds }) => sql`
  SELECT ${fields<ByClient<Agreed>>({
    clientId: acceptance.clientId,
    schoolId: acceptance.schoolId,
    agreementId: acceptance.agreementId,
    version: agreement.version,
    since: acceptance.acceptedAt,
    until: sql`coalesce(${acceptance.replacedAt}, ${acceptance.withdrawnAt})`,
  })}
  FROM ${acceptance} JOIN ${agreement} ON ${agreement.id} = ${acceptance.agreementId}
  WHERE ${acceptance.clientId} = ANY (${clientIds}) AND ${acceptance.schoolId} = ANY (${schoolIds}::uuid[])
  ORDER BY ${acceptance.acceptedAt}, ${acceptance.schoolId}`,
  "access.findAgreedPeriods",
);

const selectBegin = statement(
  () => sql`SELECT ${fields<{ began: Date }>({ began: feed.historyBeganAt })} FROM ${feed}`,
  "access.findHistoryBegin",
);

type Found = { readings: Unread[]; registered: Registered[]; withheld: WithheldSpan[]; agreed: Agreed[] };

/** What is recorded of the person and each app; also of `seen`, the apps that can read them now. */
export async function findRecorded(
  db: Queryable,
  { personId, seen, others }: { personId: PersonId; seen: readonly ClientId[]; others: readonly ClientId[] },
): Promise<{ began: Date; byApp: ReadonlyMap<ClientId, Found> }> {
  const readings = await findRows<ByClient<Unread>, Query>(db, selectReadings, { personId, clientIds: seen });
  const clientIds = [...new Set([...readings.map(({ clientId }) => clientId), ...seen, ...others])];
  const ofSchools = { clientIds, schoolIds: [...new Set(readings.flatMap(({ schoolIds }) => schoolIds))] };
  const registered = await findRows<ByClient<Registered>, { clientIds: readonly ClientId[] }>(db, selectRegistrations, {
    clientIds,
  });
  const held = await findRows<ByClient<WithheldSpan>, OfSchools>(db, selectWithheld, ofSchools);
  const agreed = await findRows<ByClient<Agreed>, OfSchools>(db, selectAgreed, ofSchools);
  const [{ began }] = (await findRows<{ began: Date }>(db, selectBegin, {})) as [{ began: Date }];
  const of = <Row extends { clientId: ClientId }>(rows: readonly Row[], clientId: ClientId): Row[] =>
    rows.filter((row) => row.clientId === clientId);
  const byApp = clientIds.map((id): [ClientId, Found] => [
    id,
    { readings: of(readings, id), registered: of(registered, id), withheld: of(held, id), agreed: of(agreed, id) },
  ]);
  return { began, byApp: new Map(byApp) };
}
