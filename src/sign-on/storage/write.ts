import type { Queryable } from "../../platform/db.ts";
import type { Artifact } from "./artifact.ts";

/** Uses a code or refresh token up, unless somebody was faster. */
export type Consumption = { kind: string; idHash: Buffer; at: Date; replay: Buffer | null };

/**
 * Changes a session that exists.
 *
 * Shape: found by its uid, so that a change of its id meets a change of its content; the apps it was used for are
 *        added to those that other requests have stored meanwhile.
 */
export type SessionChange = { uid: string; idHash: Buffer; payload: string; personId: string | null; expiresAt: Date };

type Write = { puts: readonly Artifact[]; condition: Consumption | SessionChange | null };

const consume = `
  UPDATE oidc_artifact SET consumed_at = $3, replay = $4
  WHERE kind = $1 AND id_hash = $2 AND consumed_at IS NULL RETURNING 1`;

const changeSession = `
  UPDATE oidc_artifact SET id_hash = $2, person_id = coalesce($4::uuid, person_id), expires_at = $5,
    payload = payload || $3::jsonb || jsonb_build_object('authorizations',
      coalesce(payload->'authorizations', '{}') || coalesce($3::jsonb->'authorizations', '{}'))
  WHERE kind = 'Session' AND session_uid = $1 RETURNING 1`;

const columns = ["text", "bytea", "jsonb", "text", "uuid", "text", "text", "timestamptz"];

/**
 * Writes artifacts in one statement, all or none.
 *
 * Shape: false when the condition did not hold (the token was used already, the session has ended); nothing is written then.
 */
export async function writeArtifacts(db: Queryable, { puts, condition }: Write): Promise<boolean> {
  const kind = condition === null ? "none" : "uid" in condition ? "session" : "consume";
  const { rows } = await db.query<{ held: boolean }>({
    name: `sign-on.write.${kind}.${puts.length}`,
    text: makeStatement(kind, puts.length),
    values: [...conditionValues(condition), ...puts.flatMap(putValues)],
  });
  return rows[0]?.held ?? true;
}

function conditionValues(condition: Write["condition"]): unknown[] {
  if (condition === null) return [];
  if ("uid" in condition) return [condition.uid, condition.idHash, condition.payload, condition.personId, condition.expiresAt];
  return [condition.kind, condition.idHash, condition.at, condition.replay];
}

const putValues = (put: Artifact): unknown[] => [
  put.kind,
  put.idHash,
  JSON.stringify(put.payload),
  put.clientId,
  put.personId,
  put.grantId,
  put.sessionUid,
  put.expiresAt,
];

const statements = new Map<string, string>();

function makeStatement(kind: "none" | "consume" | "session", count: number): string {
  const key = `${kind}.${count}`;
  let text = statements.get(key);
  if (text === undefined) statements.set(key, (text = composeStatement(kind, count)));
  return text;
}

function composeStatement(kind: "none" | "consume" | "session", count: number): string {
  const offset = { none: 0, consume: 4, session: 5 }[kind];
  const rows = Array.from({ length: count }, (_, row) =>
    `(${columns.map((type, column) => `$${offset + row * columns.length + column + 1}::${type}`).join(", ")})`,
  ).join(", ");
  const insert = `
    INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, grant_id, session_uid, expires_at)
    SELECT * FROM (VALUES ${rows}) AS put ${kind === "none" ? "" : "WHERE EXISTS (SELECT FROM condition)"}
    ON CONFLICT (kind, id_hash) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`;
  if (kind === "none") return insert;
  const condition = kind === "consume" ? consume : changeSession;
  return `
    WITH condition AS (${condition})${count > 0 ? `, written AS (${insert})` : ""}
    SELECT EXISTS (SELECT FROM condition) AS held`;
}
