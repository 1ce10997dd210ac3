import {
  type App,
  appOf,
  type AppValue,
  type ClientId,
  decideSignOnRight,
  readApp,
  type SignOnFacts,
  signOnFactsOf,
  type SignOnRight,
  type Subject,
  subjectOf,
} from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { arrayParameter, type Queryable } from "../../platform/db.ts";
import { identifier, render } from "../../platform/sql.ts";
import { type Decisions, decisionsOf } from "../consent.ts";
import { answerEach, type FoundArtifact, foundColumns, isCurrent, type Key } from "./artifact.ts";

/**
 * What a request asks next about the person and the app of what it brought: read in the same statement.
 *
 * Shape: of no person there are no answers.
 */
export type Lookup = Omit<FoundArtifact, "personId"> & {
  clientId: ClientId;
  personId: PersonId | null;
  right: SignOnRight;
  decisions: Decisions;
};
export type SessionLookup = Lookup & { app: App | null };
export type TokenLookup = Lookup & { subject: Subject | null };

/** A token and the app that presents it, which may be another than the one it was given to. */
export type Presented = { token: TokenLookup | null; app: App | null };
export type AskedToken = Key & { clientId: string | null };

type Row = Omit<Lookup, "right"> & { place: number; facts: SignOnFacts };

const factsAndDecisions = (client: string, personId: string): string => `
  ${render(signOnFactsOf(identifier(client), identifier(personId))).text} AS facts, ${decisionsOf(client, personId)} AS decisions`;

// One by one whatever the statistics say: after a quiet night they know of no sessions, and all of a kind would be read.
const artifactOf = (kind: string, idHash: string): string => `
  LATERAL (SELECT * FROM oidc_artifact artifact WHERE kind = ${kind} AND id_hash = ${idHash} AND ${isCurrent("artifact")} OFFSET 0)`;

const selectSessions = `
  SELECT asked.place::int, ${foundColumns("session")}, asked.client_id AS "clientId",
    ${appOf("asked.client_id")} AS app, ${factsAndDecisions("asked.client_id", "session.person_id")}
  FROM unnest(${arrayParameter("$1", "bytea")}, ${arrayParameter("$2", "text")}) WITH ORDINALITY AS asked (id_hash, client_id, place)
  CROSS JOIN ${artifactOf("'Session'", "asked.id_hash")} session`;

/** Finds sessions, each with what the app that asks for it wants to know. */
export async function findSessions(
  db: Queryable,
  asked: readonly { idHash: Buffer; clientId: string }[],
): Promise<(SessionLookup | null)[]> {
  const { rows } = await db.query<Row & { app: AppValue | null }>({
    name: "sign-on.findSessions",
    text: selectSessions,
    values: [asked.map(({ idHash }) => idHash), asked.map(({ clientId }) => clientId)],
  });
  return answerEach(asked, rows, ({ facts, app, ...row }) => ({
    ...row,
    app: app && readApp(app),
    right: decideSignOnRight(facts),
  }));
}

const subject = render(subjectOf(identifier("token.client_id"), identifier("token.person_id"))).text;

const selectTokens = `
  SELECT asked.place::int, token.kind IS NOT NULL AS "isThere", ${appOf("asked.client_id")} AS app,
    ${foundColumns("token")}, token.client_id AS "clientId",
    ${subject} AS subject, ${factsAndDecisions("token.client_id", "token.person_id")}
  FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "bytea")}, ${arrayParameter("$3", "text")})
    WITH ORDINALITY AS asked (kind, id_hash, client_id, place)
  LEFT JOIN ${artifactOf("asked.kind", "asked.id_hash")} token ON true`;

type TokenRow = Row & { isThere: boolean; app: AppValue | null; subject: Subject | null };

/** Finds tokens, each with the app that presents it and what the app that it was given to may know of its person. */
export async function findTokens(db: Queryable, asked: readonly AskedToken[]): Promise<(Presented | null)[]> {
  const { rows } = await db.query<TokenRow>({
    name: "sign-on.findTokensWithSubject",
    text: selectTokens,
    values: [asked.map(({ kind }) => kind), asked.map(({ idHash }) => idHash), asked.map(({ clientId }) => clientId)],
  });
  return answerEach(asked, rows, ({ isThere, app, facts, ...row }) => ({
    app: app && readApp(app),
    token: isThere ? { ...row, right: decideSignOnRight(facts) } : null,
  }));
}
