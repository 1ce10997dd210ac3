import type { AdapterPayload } from "oidc-provider";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import type { Db, RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { fields, makeFind, makeRun, sql, table, type Sql } from "../../platform/database/sql.ts";
import { isCurrent, recordAtHome, sessionRuleOf, type SessionRule } from "../../accounts/index.ts";
import { forgetSchool } from "./consent.ts";
import { deleteNotified } from "./logout/end-session.ts";
import { endOfSession } from "./session.ts";
import { artifactsOf, deleteGrant } from "./storage/artifact.ts";

/** A session of a browser, or what one sign-on gave one app and outlives the session. */
export type PersonSession = {
  id: string;
  kind: "BROWSER" | "APP";
  apps: { clientId: ClientId; name: string }[];
  since: Date;
  lastUsedAt: Date | null;
  endsAt: Date;
};

type SessionQuery = { personId: PersonId; now: Date };
type BrowserRow = PersonSession & { payload: AdapterPayload; rule: SessionRule | null };

const artifact = table("oidcArtifact", "artifact");
const app = table("app");
// A hash, because the key itself is in tokens and cookies.
const idOf = (key: Sql): Sql => sql`md5(${key})::uuid`;
const issuedAt = sql`(${artifact.payload}->>'iat')::bigint`;
// A session of the release before has only the time of its sign-in.
const startedAt = sql`(coalesce(${artifact.payload}->>'startedAt', ${artifact.payload}->>'loginTs'))::bigint`;
const named = sql`json_build_object('clientId', ${app.clientId}, 'name', ${app.name})`;

const findBrowsers = makeFind<BrowserRow, SessionQuery>("sign-on.listBrowsers")`
    SELECT ${fields<BrowserRow>({
      payload: artifact.payload,
      rule: sessionRuleOf(artifact.personId),
      id: idOf(artifact.sessionUid),
      kind: sql`'BROWSER'`,
      apps: sql`(
        SELECT coalesce(json_agg(${named} ORDER BY ${app.name}, ${app.clientId}), '[]') FROM ${app}
        WHERE ${artifact.payload}->'authorizations' ? ${app.clientId})`,
      since: sql`to_timestamp(coalesce(${startedAt}, ${issuedAt}))`,
      lastUsedAt: sql`NULL::timestamptz`,
      endsAt: artifact.expiresAt,
    })}
    FROM ${({ personId }) => artifactsOf(personId, "artifact")}
    WHERE ${artifact.kind} = 'Session' AND ${artifact.sessionUid} IS NOT NULL
      AND ${artifact.expiresAt} > ${"now"} AND ${isCurrent(artifact)}`;

// Issuing a token uses the code or refresh token that it was issued from.
const findApps = makeFind<PersonSession, SessionQuery>("sign-on.listAppTokens")`
    SELECT ${fields<PersonSession>({
      id: idOf(sql`held.grant_id`),
      kind: sql`'APP'`,
      apps: sql`json_build_array(${named})`,
      since: sql`held.since`,
      lastUsedAt: sql`held.last_used_at`,
      endsAt: sql`held.ends_at`,
    })}
    FROM (
      SELECT ${artifact.grantId} AS grant_id, ${artifact.clientId} AS client_id,
        to_timestamp(min(${issuedAt})) AS since, to_timestamp(max(${issuedAt})) AS last_used_at,
        max(${artifact.expiresAt}) FILTER (WHERE ${artifact.consumedAt} IS NULL
          AND ${artifact.expiresAt} > ${"now"}) AS ends_at
      FROM ${({ personId }) => artifactsOf(personId, "artifact")}
      WHERE ${artifact.kind} IN ('AccessToken', 'RefreshToken')
        AND ${artifact.grantId} IS NOT NULL AND ${isCurrent(artifact)}
      GROUP BY ${artifact.grantId}, ${artifact.clientId}) AS held
    JOIN ${app} ON ${app.clientId} = held.client_id
    WHERE held.ends_at IS NOT NULL`;

export async function listSessions(
  { db: { pool }, sessionSeconds }: { db: Db; sessionSeconds: number },
  query: SessionQuery,
): Promise<PersonSession[]> {
  const browsers = (await findBrowsers(pool, query)).map(({ payload, rule, ...browser }) => {
    const end = endOfSession(payload, { rule, sessionSeconds }) * 1000;
    return end < browser.endsAt.getTime() ? { ...browser, endsAt: new Date(end) } : browser;
  });
  const apps = await findApps(pool, query);
  const text = ({ since, id }: PersonSession) => `${since.toISOString()} ${id}`;
  return [...browsers.filter(({ endsAt }) => endsAt > query.now), ...apps].sort((a, b) => (text(a) < text(b) ? 1 : -1));
}

type Held = { uid: string | null; grantId: string | null; clientId: ClientId | null };

const findHeld = makeFind<Held, { personId: PersonId; id: string }>("sign-on.findSessionOfPerson")`
    SELECT ${fields<Held>({
      uid: sql`CASE ${artifact.kind} WHEN 'Session' THEN ${artifact.sessionUid} END`,
      grantId: artifact.grantId,
      clientId: artifact.clientId,
    })}
    FROM ${artifact}
    WHERE ${artifact.personId} = ${"personId"} AND ${isCurrent(artifact)} AND (
      (${artifact.kind} = 'Session' AND ${idOf(artifact.sessionUid)} = ${"id"}::uuid)
      OR (${artifact.kind} IN ('AccessToken', 'RefreshToken') AND ${idOf(artifact.grantId)} = ${"id"}::uuid))
    LIMIT 1`;

/** Ends one session of a person and notifies the apps of a browser. Errors: not_found session_not_found. */
export async function endSessionIn(
  tx: Transaction,
  { personId, id }: { personId: PersonId; id: string },
  origin: Origin,
): Promise<void> {
  const [held] = await findHeld(tx, { personId, id });
  if (held === undefined) throw new AppError("not_found", "session_not_found", "There is no such session.");
  const { uid, grantId, clientId } = held;
  if (uid !== null) await deleteNotified(tx, { uid, at: origin.at });
  else if (grantId !== null) await deleteGrant(tx, grantId);
  const detail = { session: uid === null ? "app" : "browser" };
  await recordAtHome(tx, { ...origin, action: "session_ended", personId, clientId: clientId ?? undefined, detail });
}

export type ConsentOfPerson = { clientId: ClientId; appName: string; scopes: string[]; grantedAt: Date };

export async function listConsents({ prisma }: RecordStore, personId: PersonId): Promise<ConsentOfPerson[]> {
  const consents = await prisma.consent.findMany({
    where: { personId },
    select: { clientId: true, scopes: true, grantedAt: true, app: { select: { name: true } } },
    orderBy: [{ app: { name: "asc" } }, { clientId: "asc" }],
  });
  return consents.map(({ clientId, app: { name }, ...rest }) => ({
    clientId: clientId as ClientId,
    appName: name,
    ...rest,
  }));
}

const deleteTokens = makeRun<{ personId: PersonId; clientId: ClientId }>("sign-on.deleteTokensOfPair")`
    DELETE FROM ${artifact} WHERE ${artifact.personId} = ${"personId"} AND ${artifact.clientId} = ${"clientId"}
      AND ${artifact.kind} IN ('AuthorizationCode', 'AccessToken', 'RefreshToken')`;

/** Withdraws a consent, the chosen school, and the app's codes and tokens. Errors: not_found consent_not_found. */
export async function withdrawConsentIn(
  tx: Transaction,
  { personId, clientId }: { personId: PersonId; clientId: ClientId },
  origin: Origin,
): Promise<void> {
  const { count } = await tx.prisma.consent.deleteMany({ where: { personId, clientId } });
  if (count === 0) throw new AppError("not_found", "consent_not_found", "The person has not agreed to anything.");
  // A refresh locks its token's row: the first DELETE waits for it, the next one sees the tokens that it issued.
  while ((await deleteTokens(tx, { personId, clientId })) > 0);
  await forgetSchool(tx, { personId, clientId });
  await recordAtHome(tx, { ...origin, action: "consent_withdrawn", personId, clientId });
}

export async function listChosenSchools({ prisma }: RecordStore, personId: PersonId): Promise<Map<string, string>> {
  const choices = await prisma.schoolChoice.findMany({
    where: { personId },
    select: { clientId: true, schoolId: true },
  });
  return new Map(choices.map(({ clientId, schoolId }) => [clientId, schoolId]));
}

export async function forgetSchoolIn(
  tx: Transaction,
  { personId, clientId }: { personId: PersonId; clientId: ClientId },
  origin: Origin,
): Promise<void> {
  if (await forgetSchool(tx, { personId, clientId }))
    await recordAtHome(tx, { ...origin, action: "school_choice_withdrawn", personId, clientId });
}
