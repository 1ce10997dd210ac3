import { isCurrent, sessionRuleOf } from "../../../accounts/index.ts";
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
import { arrayOf, fields, jsonRows, makeFind, pick, sql, table } from "../../../platform/database/sql.ts";
import type { Queryable, Sql } from "../../../platform/database/sql.ts";
import { type Decisions, decisionsOf } from "../consent.ts";
import { answerEach, foundColumns, rowTypes, surplusSessionsOf, toRow } from "./artifact.ts";
import type { Artifact, FoundArtifact, Key } from "./artifact.ts";
import type { FoundToken } from "./request.ts";
import type { AdapterPayload } from "oidc-provider";

/** An artifact with what the request needs next about its person and app. */
export type Lookup = Omit<FoundArtifact, "personId"> & {
  clientId: ClientId;
  personId: PersonId | null;
  right: SignOnRight;
  decisions: Decisions;
};
export type SessionLookup = Lookup & { app: App | null };

/** A token and the app that presents it, which may not be the token's app. */
export type Presented = { token: (Lookup & { subject: Subject | null }) | null; app: App | null };
export type TokenKey = Key & { clientId: string | null };
export type SessionKey = { idHash: Buffer; clientId: string };

type Row = Omit<Lookup, "right"> & { place: number; facts: SignOnFacts; app: AppValue | null };
type TokenRow = Row & { isThere: boolean; subject: Subject | null };

const artifact = table("oidcArtifact", "artifact");

// OFFSET 0 forces index look-ups: after a quiet night the statistics know of no sessions, and all would be read.
const artifactOf = (kind: Sql, idHash: Sql): Sql => sql`
  LATERAL (SELECT * FROM ${artifact}
    WHERE ${artifact.kind} = ${kind} AND ${artifact.idHash} = ${idHash} AND ${isCurrent(artifact)} OFFSET 0)`;

const session = table("oidcArtifact", "session");
const askedClient = sql`asked.client_id`;

const findSessionRows = makeFind<Row, { idHashes: Buffer[]; clientIds: string[]; now: Date }>(
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
  sessions: readonly SessionKey[],
  now: Date,
): Promise<(SessionLookup | null)[]> {
  const rows = await findSessionRows(db, {
    idHashes: sessions.map(({ idHash }) => idHash),
    clientIds: sessions.map(({ clientId }) => clientId),
    now,
  });
  return answerEach(sessions, rows, ({ facts, app, ...row }) => ({
    ...row,
    app: app && readApp(app),
    right: decideSignOnRight(facts),
  }));
}

/** `sessionPersonId`: the person of the session that it began with, null if that has ended. */
export type InteractionLookup = FoundArtifact & {
  app: App | null;
  logoPath: string | null;
  sessionPersonId: string | null;
};

type InteractionRow = FoundArtifact &
  Pick<InteractionLookup, "sessionPersonId"> & { place: number; app: AppValue | null; logo: LogoName | null };

const interaction = table("oidcArtifact", "interaction");
const begun = table("oidcArtifact", "begun");
const interactionClient = sql`(${interaction.payload} #>> '{params,client_id}')`;

const findInteractionRows = makeFind<InteractionRow, { idHashes: Buffer[] }>("sign-on.findInteractions")`
    SELECT ${fields<InteractionRow>({
      ...foundColumns(interaction),
      rule: sql`NULL`, // findAnswers reads it, once the person is known
      place: sql`asked.place::int`,
      app: appOf(interactionClient),
      logo: logoOf(interactionClient),
      sessionPersonId: sql`(SELECT ${begun.personId} FROM ${begun}
        WHERE ${begun.kind} = 'Session' AND ${begun.sessionUid} = ${interaction.payload} #>> '{session,uid}'
          AND ${isCurrent(begun)} LIMIT 1)`,
    })}
    FROM unnest(${({ idHashes }) => arrayOf(idHashes, "bytea")}) WITH ORDINALITY AS asked (id_hash, place)
    CROSS JOIN ${artifactOf(sql`'Interaction'`, sql`asked.id_hash`)} interaction`;

export async function findInteractions(db: Queryable, idHashes: Buffer[]): Promise<(InteractionLookup | null)[]> {
  return answerEach(idHashes, await findInteractionRows(db, { idHashes }), ({ app, logo, ...row }) => ({
    ...row,
    app: app && readApp(app),
    logoPath: logo && logoPathOf(logo),
  }));
}

/** An interaction with the reply of its person. `surplusSessions`: the uids to end once the person has signed in. */
export type AnsweredInteraction = SessionLookup & { idHash: Buffer; surplusSessions: string[] };

type Standings = Pick<FoundArtifact, "generation" | "cardId" | "upstreamSessionId">;
type AnsweredRow = Pick<Row, "place" | "facts" | "decisions" | "app" | "rule"> &
  Standings & { surplusSessions: string[] };

const stored = table("oidcArtifact", "stored");

const findAnswerRows = makeFind<AnsweredRow, { answers: string; now: Date }>(({ answers, now }) => {
  const { from, columns: reply } = jsonRows(answers, "asked", { place: "int", signingIn: "uuid", ...rowTypes });
  // A reply that is no sign-in keeps what the interaction is based on.
  const keeps = sql`${reply.generation} IS NULL AND ${stored.personId} = ${reply.personId}`;
  const keep = (name: keyof Standings) => sql`CASE WHEN ${keeps} THEN ${stored[name]} ELSE ${reply[name]} END`;
  const standing = pick(table("oidcArtifact", "standing"), "generation", "cardId", "upstreamSessionId");
  return sql`
    SELECT ${fields<AnsweredRow>({
      ...standing,
      place: reply.place,
      app: appOf(reply.clientId),
      facts: signOnFactsOf(reply.clientId, reply.personId, now),
      decisions: decisionsOf(reply.clientId, reply.personId),
      surplusSessions: surplusSessionsOf(reply.signingIn),
      rule: sessionRuleOf(reply.personId),
    })}
    FROM ${from} CROSS JOIN LATERAL (
      SELECT ${keep("generation")} AS generation, ${keep("cardId")} AS card_id,
        ${keep("upstreamSessionId")} AS upstream_session_id
      FROM ${stored} WHERE ${stored.kind} = 'Interaction' AND ${stored.idHash} = decode(${reply.idHash}, 'hex')
      OFFSET 0) AS standing
    WHERE ${isCurrent({ personId: reply.personId, ...standing })}`;
}, "sign-on.findAnswers");

/** Reads what the library needs to go on with a reply; null if the interaction, or what the reply stands on, ended. */
export async function findAnswers(
  db: Queryable,
  answers: readonly Artifact[],
  now: Date,
): Promise<(AnsweredInteraction | null)[]> {
  const interactions = answers.map((answer, index) => ({
    ...toRow(answer),
    place: index + 1,
    clientId: clientOfInteraction(answer.payload),
    signingIn: hasLogin(answer.payload) ? answer.personId : null,
    payload: undefined,
  }));
  const rows = await findAnswerRows(db, { answers: JSON.stringify(interactions), now });
  return answerEach(answers, rows, ({ facts, app, place, ...row }) => ({
    ...answers[place - 1]!,
    ...row,
    personId: answers[place - 1]!.personId as PersonId | null,
    clientId: clientOfInteraction(answers[place - 1]!.payload) as ClientId,
    consumedAt: null,
    replay: null,
    app: app && readApp(app),
    right: decideSignOnRight(facts),
  }));
}

const clientOfInteraction = ({ params }: AdapterPayload): string => String(params?.["client_id"]);
const hasLogin = ({ result }: AdapterPayload): boolean => result?.["login"] !== undefined;

const token = table("oidcArtifact", "token");

const findTokenRows = makeFind<
  TokenRow,
  { kinds: string[]; idHashes: Buffer[]; clientIds: (string | null)[]; now: Date }
>(
  ({ kinds, idHashes, clientIds, now }) => sql`
    SELECT ${fields<TokenRow>({
      ...foundColumns(token),
      rule: sql`NULL`, // of sessions only
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

export async function findTokens(db: Queryable, tokens: readonly TokenKey[], now: Date): Promise<(Presented | null)[]> {
  const rows = await findTokenRows(db, {
    kinds: tokens.map(({ kind }) => kind),
    idHashes: tokens.map(({ idHash }) => idHash),
    clientIds: tokens.map(({ clientId }) => clientId),
    now,
  });
  return answerEach(tokens, rows, ({ isThere, app, facts, ...row }) => ({
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
const findRowOfGrant = makeFind<TokenOfGrant, { grantId: string }>("sign-on.findTokenOfGrant")`
    SELECT ${fields<TokenOfGrant>({
      kind: token.kind,
      idHash: token.idHash,
      payload: token.payload,
      personId: token.personId,
    })}
    FROM ${token}
    WHERE ${token.grantId} = ${"grantId"} AND ${token.kind} IN ('AuthorizationCode', 'RefreshToken', 'AccessToken')
      AND ${isCurrent(token)}
    ORDER BY ${token.kind} = 'AccessToken', ${token.expiresAt} DESC LIMIT 1`;

export async function findTokenOfGrant(db: Queryable, grantId: string): Promise<FoundToken | null> {
  const [token] = await findRowOfGrant(db, { grantId });
  return token ? toFoundToken(token, token) : null;
}
