import { hash } from "node:crypto";
import type { AdapterPayload } from "oidc-provider";
import { arrayParameter, type Queryable } from "../../platform/db.ts";

export type Artifact = {
  kind: string;
  idHash: Buffer;
  payload: AdapterPayload;
  clientId: string | null;
  personId: string | null;
  /** Of what belongs to a person: the generation of the credential that they signed in with; null where it is not known here. */
  generation: number | null;
  grantId: string | null;
  sessionUid: string | null;
  expiresAt: Date;
};

export type FoundArtifact = {
  payload: AdapterPayload;
  personId: string | null;
  generation: number | null;
  consumedAt: Date | null;
  replay: Buffer | null;
  expiresAt: Date;
};

/** The library's id of an artifact is the token itself; only its hash is stored. */
export const hashId = (id: string): Buffer => hash("sha256", id, "buffer");

/**
 * The artifact is of no person, or of one whose sign-ins have not been ended since. Everything that finds artifacts asks for it, so
 * that what a request still writes after the end of the sign-in that it stands on is void.
 */
export const isCurrent = (artifact: string): string => `(${artifact}.person_id IS NULL OR EXISTS (
  SELECT FROM credential v_credential WHERE v_credential.person_id = ${artifact}.person_id AND v_credential.generation = ${artifact}.generation))`;

/** The columns of `toRow` in a `jsonb_to_recordset`, but for the generation. */
export const artifactRow =
  "kind text, id_hash text, payload jsonb, client_id text, person_id uuid, grant_id text, session_uid text, expires_at timestamptz";

/** SQL that stores the rows of a relation with the columns of `artifactRow` and `generation`. An artifact that is there keeps its generation where none is given. */
export const insertArtifactsFrom = (relation: string): string => `
  INSERT INTO oidc_artifact AS present (kind, id_hash, payload, client_id, person_id, generation, grant_id, session_uid, expires_at)
  SELECT kind, decode(id_hash, 'hex'), payload, client_id, person_id, generation, grant_id, session_uid, expires_at
  FROM ${relation}
  ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at, person_id = excluded.person_id,
    generation = CASE WHEN excluded.generation IS NULL AND present.person_id = excluded.person_id THEN present.generation ELSE excluded.generation END`;

export const toRow = (artifact: Artifact): Record<string, unknown> => ({
  kind: artifact.kind,
  id_hash: artifact.idHash.toString("hex"),
  payload: artifact.payload,
  client_id: artifact.clientId,
  person_id: artifact.personId,
  generation: artifact.generation,
  grant_id: artifact.grantId,
  session_uid: artifact.sessionUid,
  expires_at: artifact.expiresAt,
});

export type Key = { kind: string; idHash: Buffer };

/** The columns of a `FoundArtifact`. */
export const foundColumns = (artifact: string): string =>
  `${artifact}.payload, ${artifact}.person_id AS "personId", ${artifact}.generation, ${artifact}.consumed_at AS "consumedAt", ${artifact}.replay,
    ${artifact}.expires_at AS "expiresAt"`;

/** Brings rows into the order of what was asked; null where nothing was found. */
export function answerEach<Row extends { place: number }, Answer>(
  asked: readonly unknown[],
  rows: readonly Row[],
  read: (row: Row) => Answer,
): (Answer | null)[] {
  const answers = asked.map((): Answer | null => null);
  for (const row of rows) answers[row.place - 1] = read(row);
  return answers;
}

export async function findArtifacts(db: Queryable, keys: readonly Key[]): Promise<(FoundArtifact | null)[]> {
  const { rows } = await db.query<FoundArtifact & { place: number }>({
    name: "sign-on.findArtifacts",
    text: `
      SELECT asked.place::int, ${foundColumns("artifact")}
      FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "bytea")}) WITH ORDINALITY AS asked (kind, id_hash, place)
      JOIN oidc_artifact artifact USING (kind, id_hash)
      WHERE ${isCurrent("artifact")}`,
    values: [keys.map(({ kind }) => kind), keys.map(({ idHash }) => idHash)],
  });
  return answerEach(keys, rows, (row) => row);
}

export async function findArtifact(db: Queryable, key: Key): Promise<FoundArtifact | null> {
  return (await findArtifacts(db, [key]))[0] ?? null;
}

export async function findSessionByUid(db: Queryable, uid: string): Promise<AdapterPayload | null> {
  const { rows } = await db.query<{ payload: AdapterPayload }>({
    name: "sign-on.findSessionByUid",
    text: `SELECT payload FROM oidc_artifact session WHERE kind = 'Session' AND session_uid = $1 AND ${isCurrent("session")}`,
    values: [uid],
  });
  return rows[0]?.payload ?? null;
}

export async function deleteArtifact(db: Queryable, kind: string, idHash: Buffer): Promise<void> {
  await db.query({
    name: "sign-on.deleteArtifact",
    text: "DELETE FROM oidc_artifact WHERE kind = $1 AND id_hash = $2",
    values: [kind, idHash],
  });
}

/**
 * Deletes everything issued from one authorization.
 *
 * A refresh that runs at the same time holds the row of the token it uses: the first DELETE waits for it, and only
 * the next one sees what it inserted.
 */
export async function deleteGrant(db: Queryable, grantId: string): Promise<void> {
  for (let deleted: number | null = 1; deleted;) {
    ({ rowCount: deleted } = await db.query({
      name: "sign-on.deleteGrant",
      text: "DELETE FROM oidc_artifact WHERE grant_id = $1",
      values: [grantId],
    }));
  }
}

/** Ends a session and whatever ends with it; what was issued for offline access does not carry its uid. */
export async function deleteSession(db: Queryable, uid: string): Promise<void> {
  await db.query({
    name: "sign-on.deleteSession",
    text: "DELETE FROM oidc_artifact WHERE session_uid = $1",
    values: [uid],
  });
}
