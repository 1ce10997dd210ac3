import {
  columnNames,
  insert,
  run,
  sql,
  statement,
  table,
  update,
  type Queryable,
} from "../../platform/database/sql.ts";
import type { ClientId } from "../token.ts";

const app = table("app", "v_app");
const profile = table("appProfile", "v_profile");
const open = table("registrationPeriod", "v_open");
const excluded = table("registrationPeriod", "excluded");

const registered = table("registrationPeriod", "present");
const isSame = sql`(${open.name}, ${open.provider}, ${open.type}, ${open.scopes}, ${open.attributes})
  IS NOT DISTINCT FROM (${registered.name}, ${registered.provider}, ${registered.type}, ${registered.scopes}, ${registered.attributes})`;

const record = statement<{ clientId: ClientId; at: Date }>(
  ({ clientId, at }) => sql`
  WITH present AS (
    SELECT ${app.clientId}, ${app.name}, ${profile.provider}, ${app.type}, ${app.scopes}, ${app.attributes}
    FROM ${app} LEFT JOIN ${profile} ON ${profile.clientId} = ${app.clientId} WHERE ${app.clientId} = ${clientId}),
  ended AS (
    ${update("registrationPeriod", "v_open", { until: sql`greatest(${open.since}, ${at})` })}
    WHERE ${open.clientId} = ${clientId} AND ${open.until} IS NULL
      AND NOT EXISTS (SELECT FROM present WHERE ${isSame} OR ${open.since} = ${at}))
  ${insert(
    "registrationPeriod",
    {
      clientId: registered.clientId,
      since: at,
      name: registered.name,
      provider: registered.provider,
      type: registered.type,
      scopes: registered.scopes,
      attributes: registered.attributes,
    },
    sql`FROM present WHERE NOT EXISTS (
      SELECT FROM ${open} WHERE ${open.clientId} = ${clientId} AND ${open.until} IS NULL AND ${isSame})`,
  )}
  ON CONFLICT (${columnNames("registrationPeriod", "clientId", "since")})
  DO UPDATE SET (${columnNames("registrationPeriod", "until", "name", "provider", "type", "scopes", "attributes")})
    = (NULL, ${excluded.name}, ${excluded.provider}, ${excluded.type}, ${excluded.scopes}, ${excluded.attributes})`,
  "access.recordRegistration",
);

/** Records what the app may read from now on; call it after each write and after the deletion of an app. */
export async function recordRegistration(tx: Queryable, clientId: ClientId, at: Date): Promise<void> {
  await run(tx, record, { clientId, at });
}
