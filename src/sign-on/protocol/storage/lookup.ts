import { isCurrent } from "../../../accounts/index.ts";
import {
  appOf,
  decideSignOnRight,
  logoOf,
  logoPathOf,
  readApp,
  signOnFactsOf,
  subjectOf,
} from "../../../access/index.ts";
import type { App, AppValue, ClientId, LogoName, SignOnFacts, SignOnRight, Subject } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { fields, findRows, sql, statement, table, arrayOf } from "../../../platform/database/sql.ts";
import type { Queryable, Sql } from "../../../platform/database/sql.ts";
import { type Decisions, decisionsOf } from "../consent.ts";
import { answerEach, type FoundArtifact, foundColumns, type Key, surplusSessionsOf } from "./artifact.ts";
import type { FoundToken } from "./request.ts";

/** An artifact with what the request needs next about its person and app. */
export type Lookup = Omit<FoundArtifact, "personId"> & {
  clientId: ClientId;
  personId: PersonId | null;
  right: SignOnRight;
  decisions: Decisions;
};
export type SessionLookup = Lookup & { app: App | null };
type TokenLookup = Lookup & { subject: Subject | null };

/** A token and the app that presents it, which may not be the token's app. */
export type Presented = { token: TokenLookup | null; app: App | null };
export type AskedToken = Key & { clientId: string | null };
export type AskedSession = { idHash: Buffer; clientId: string };

type Row = Omit<Lookup, "right"> & { place: number; facts: SignOnFacts; app: AppValue | null };
type TokenRow = Row & { isThere: boolean; subject: Subject | null };

const artifact = table("oidcArtifact", "artifact");

// OFFSET 0 forces index look-ups: after a quiet night the statistics know of no sessions, and all would be read.
const artifactOf = (kind: Sql, idHash: Sql): Sql => sql`
  LATERAL (SELECT * FROM ${artifact}
    WHERE ${artifact.kind} = ${kind} AND ${artifact.idHash} = ${idHash} AND ${isCurrent(artifact)} OFFSET 0)`;

const session = table("oidcArtifact", "session");
const askedClient = sql`asked.client_id`;

const sessionsByHash = statement<{ idHashes: Buffer[]; clientIds: string[]; now: Date }>(
  ({ idHashes, clientIds, now }) => sql`
    SELECT ${fields<Row>({
      ...foundColumns(session),
      place: sql`asked.place::int`,
      clientId: askedClient,
      app: appOf(askedClient),
      facts: signOnFactsOf(askedClient, session.personId, now),
      decisions: decisionsOf(askedClient, session.personId),
    })}
    FROM unnest(${arrayOf(idHashes, "bytea")}, ${arrayOf(clientIds, "text")})
      WITH ORDINALITY AS asked (id_hash, client_id, place)
    CROSS JOIN ${artifactOf(sql`'Session'`, sql`asked.id_hash`)} session`,
  "sign-on.findSessions",
);

export async function findSessions(
  db: Queryable,
  asked: readonly AskedSession[],
  now: Date,
): Promise<(SessionLookup | null)[]> {
  const rows = await findRows<Row>(db, sessionsByHash, {
    idHashes: asked.map(({ idHash }) => idHash),
    clientIds: asked.map(({ clientId }) => clientId),
    now,
  });
  return answerEach(asked, rows, ({ facts, app, ...row }) => ({
    ...row,
    app: app && readApp(app),
    right: decideSignOnRight(facts),
  }));
}

/**
 * `sessionPersonId`: the person of the session that it began with, null if that has ended. `surplusSessions`: the uids
 * to end once the person has signed in.
 */
export type InteractionLookup = Lookup & {
  app: App | null;
  logoPath: string | null;
  sessionPersonId: string | null;
  surplusSessions: string[];
};

type InteractionRow = Row & Pick<InteractionLookup, "sessionPersonId" | "surplusSessions"> & { logo: LogoName | null };

const interaction = table("oidcArtifact", "interaction");
const begun = table("oidcArtifact", "begun");
const interactionClient = sql`(${interaction.payload} #>> '{params,client_id}')`;

const interactionsByHash = statement<{ idHashes: Buffer[]; now: Date }>(
  ({ idHashes, now }) => sql`
    SELECT ${fields<InteractionRow>({
      ...foundColumns(interaction),
      place: sql`asked.place::int`,
      clientId: interactionClient,
      app: appOf(interactionClient),
      logo: logoOf(interactionClient),
      facts: signOnFactsOf(interactionClient, interaction.personId, now),
      decisions: decisionsOf(interactionClient, interaction.personId),
      sessionPersonId: sql`(SELECT ${begun.personId} FROM ${begun}
        WHERE ${begun.kind} = 'Session' AND ${begun.sessionUid} = ${interaction.payload} #>> '{session,uid}'
          AND ${isCurrent(begun)} LIMIT 1)`,
      surplusSessions: sql`CASE WHEN ${interaction.payload} #> '{result,login}' IS NULL THEN '[]'
        ELSE ${surplusSessionsOf(interaction.personId)} END`,
    })}
    FROM unnest(${arrayOf(idHashes, "bytea")}) WITH ORDINALITY AS asked (id_hash, place)
    CROSS JOIN ${artifactOf(sql`'Interaction'`, sql`asked.id_hash`)} interaction`,
  "sign-on.findInteractions",
);

export async function findInteractions(
  db: Queryable,
  idHashes: Buffer[],
  now: Date,
): Promise<(InteractionLookup | null)[]> {
  const rows = await findRows<InteractionRow>(db, interactionsByHash, { idHashes, now });
  return answerEach(idHashes, rows, ({ facts, app, logo, ...row }) => ({
    ...row,
    app: app && readApp(app),
    logoPath: logo && logoPathOf(logo),
    right: decideSignOnRight(facts),
  }));
}

const token = table("oidcArtifact", "token");

const tokensByHash = statement<{ kinds: string[]; idHashes: Buffer[]; clientIds: (string | null)[]; now: Date }>(
  ({ kinds, idHashes, clientIds, now }) => sql`
    SELECT ${fields<TokenRow>({
      ...foundColumns(token),
      place: sql`asked.place::int`,
      isThere: sql`${token.kind} IS NOT NULL`,
      app: appOf(askedClient),
      clientId: token.clientId,
      subject: subjectOf(token.clientId, token.personId),
      facts: signOnFactsOf(token.clientId, token.personId, now),
      decisions: decisionsOf(token.clientId, token.personId),
    })}
    FROM unnest(${arrayOf(kinds, "text")}, ${arrayOf(idHashes, "bytea")}, ${arrayOf(clientIds, "text")})
      WITH ORDINALITY AS asked (kind, id_hash, client_id, place)
    LEFT JOIN ${artifactOf(sql`asked.kind`, sql`asked.id_hash`)} token ON true`,
  "sign-on.findTokensWithSubject",
);

export async function findTokens(
  db: Queryable,
  asked: readonly AskedToken[],
  now: Date,
): Promise<(Presented | null)[]> {
  const rows = await findRows<TokenRow>(db, tokensByHash, {
    kinds: asked.map(({ kind }) => kind),
    idHashes: asked.map(({ idHash }) => idHash),
    clientIds: asked.map(({ clientId }) => clientId),
    now,
  });
  return answerEach(asked, rows, ({ isThere, app, facts, ...row }) => ({
    app: app && readApp(app),
    token: isThere ? { ...row, right: decideSignOnRight(facts) } : null,
  }));
}

export function toFoundToken(
  { kind, idHash }: Key,
  { payload, personId }: Pick<FoundArtifact, "payload" | "personId">,
): FoundToken {
  return {
    kind,
    idHash,
    clientId: payload.clientId ?? "",
    personId,
    grantId: payload.grantId ?? null,
    scope: payload.scope,
    idTokenClaims: Object.keys(payload.claims?.id_token ?? {}),
  };
}

type TokenOfGrant = Key & Pick<FoundArtifact, "payload" | "personId">;

// An access token may have fewer scopes than the grant; codes and refresh tokens have all.
const tokenByGrant = statement<{ grantId: string }>(
  ({ grantId }) => sql`
    SELECT ${fields<TokenOfGrant>({
      kind: token.kind,
      idHash: token.idHash,
      payload: token.payload,
      personId: token.personId,
    })}
    FROM ${token}
    WHERE ${token.grantId} = ${grantId} AND ${token.kind} IN ('AuthorizationCode', 'RefreshToken', 'AccessToken')
      AND ${isCurrent(token)}
    ORDER BY ${token.kind} = 'AccessToken', ${token.expiresAt} DESC LIMIT 1`,
  "sign-on.findTokenOfGrant",
);

export async function findTokenOfGrant(db: Queryable, grantId: string): Promise<FoundToken | null> {
  const [found] = await findRows<TokenOfGrant>(db, tokenByGrant, { grantId });
  return found ? toFoundToken(found, found) : null;
}
