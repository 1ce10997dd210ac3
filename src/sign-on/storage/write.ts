import { hash } from "node:crypto";
import type { AdapterPayload } from "oidc-provider";
import { arrayParameter, type Queryable } from "../../platform/db.ts";
import type { Artifact } from "./artifact.ts";

/** Uses a code or refresh token up, unless somebody was faster. */
export type Consumption = { kind: string; idHash: Buffer; at: Date; replay: Buffer | null };

/**
 * Changes a session that exists.
 *
 * Shape: found by its uid, so that a change of its id meets a change of its content; the apps it was used for are
 *        added to those that other requests have stored meanwhile.
 */
export type SessionChange = { uid: string; idHash: Buffer; payload: AdapterPayload; personId: string | null; expiresAt: Date };

/** A statement that is written together with others; it changes other tables than theirs. */
export type Statement = { text: string; values: unknown[] };

export type Write = {
  puts: readonly Artifact[];
  removals?: readonly { kind: string; idHash: Buffer }[];
  /** The uid of a session that ends, with what ends with it. */
  endedSession?: string | null;
  condition?: Consumption | SessionChange | null;
  facts?: readonly Statement[];
};

/**
 * Writes all of it in one statement, or nothing.
 *
 * Shape: false when the condition did not hold: the token was used already, the session has ended.
 */
export async function writeArtifacts(db: Queryable, write: Write): Promise<boolean> {
  const parts = [...listParts(write)];
  if (parts.length === 0) return true;
  try {
    await db.query(compose(parts));
    return true;
  } catch (error) {
    if (isConditionMissed(error)) return false;
    throw error;
  }
}

type Part = Statement & { name: string };

function* listParts({ puts, removals = [], endedSession, condition, facts = [] }: Write): Generator<Part> {
  if (condition) yield { name: "condition", ...("uid" in condition ? makeSessionChange(condition) : makeConsumption(condition)) };
  if (puts.length > 0) yield { name: "put", text: insertArtifacts, values: [JSON.stringify(puts.map(toRow))] };
  if (removals.length > 0) yield { name: "removal", text: deleteArtifacts, values: [removals.map(({ kind }) => kind), removals.map(({ idHash }) => idHash)] };
  if (endedSession) yield { name: "ending", text: "DELETE FROM oidc_artifact WHERE session_uid = $1", values: [endedSession] };
  for (const [index, fact] of facts.entries()) yield { name: `fact${index}`, ...fact };
}

const insertArtifacts = `
  INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, grant_id, session_uid, expires_at)
  SELECT kind, decode(id_hash, 'hex'), payload, client_id, person_id, grant_id, session_uid, expires_at
  FROM jsonb_to_recordset($1::jsonb) AS put (kind text, id_hash text, payload jsonb, client_id text, person_id uuid,
    grant_id text, session_uid text, expires_at timestamptz)
  ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`;

const toRow = (put: Artifact): Record<string, unknown> => ({
  kind: put.kind,
  id_hash: put.idHash.toString("hex"),
  payload: put.payload,
  client_id: put.clientId,
  person_id: put.personId,
  grant_id: put.grantId,
  session_uid: put.sessionUid,
  expires_at: put.expiresAt,
});

const deleteArtifacts = `
  DELETE FROM oidc_artifact WHERE (kind, id_hash) IN (SELECT * FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "bytea")}))`;

const makeConsumption = ({ kind, idHash, at, replay }: Consumption): Statement => ({
  text: `UPDATE oidc_artifact SET consumed_at = $3, replay = $4 WHERE kind = $1 AND id_hash = $2 AND consumed_at IS NULL RETURNING 1`,
  values: [kind, idHash, at, replay],
});

const makeSessionChange = ({ uid, idHash, payload, personId, expiresAt }: SessionChange): Statement => ({
  text: `
    UPDATE oidc_artifact SET id_hash = $2, person_id = coalesce($4::uuid, person_id), expires_at = $5,
      payload = payload || $3::jsonb || jsonb_build_object('authorizations',
        coalesce(payload->'authorizations', '{}') || coalesce($3::jsonb->'authorizations', '{}'))
    WHERE kind = 'Session' AND session_uid = $1 RETURNING 1`,
  values: [uid, idHash, JSON.stringify(payload), personId, expiresAt],
});

// Dividing by the rows that the condition found rolls the whole statement back when there is none.
const checkCondition = "SELECT 1 / (SELECT count(*)::int FROM condition)";
const isConditionMissed = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "22012";

function compose(parts: readonly Part[]): Statement & { name: string } {
  let offset = 0;
  const expressions = parts.map(({ name, text, values }) => {
    const renumbered = text.replace(/\$(\d+)/g, (_all, number: string) => `$${Number(number) + offset}`);
    offset += values.length;
    return `${name} AS (${renumbered})`;
  });
  const text = `WITH ${expressions.join(", ")} ${parts[0]?.name === "condition" ? checkCondition : "SELECT 1"}`;
  return { name: nameOf(text), text, values: parts.flatMap(({ values }) => values) };
}

const names = new Map<string, string>();

// There are as many statements as kinds of requests: a handful.
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `sign-on.write.${hash("sha256", text, "hex").slice(0, 16)}`));
  return name;
}
