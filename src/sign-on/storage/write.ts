import { hash } from "node:crypto";
import { arrayParameter, type Queryable } from "../../platform/db.ts";
import { type Artifact, artifactRow, insertArtifactsFrom, toRow } from "./artifact.ts";

/**
 * Changes a session that exists.
 *
 * Shape: found by its uid, so that a change of its id meets a change of its content; the apps it was used for are
 *        added to those that other requests have stored meanwhile.
 */
export type SessionChange = Pick<Artifact, "idHash" | "payload" | "personId" | "generation" | "expiresAt"> & {
  uid: string;
};

/** A statement that is written together with others; it changes other tables than theirs. */
export type Statement = { text: string; values: unknown[] };

export type Write = {
  puts: readonly Artifact[];
  removals?: readonly { kind: string; idHash: Buffer }[];
  /** The uid of a session that ends, with what ends with it. */
  endedSession?: string | null;
  sessionChange?: SessionChange | null;
  facts?: readonly Statement[];
};

/**
 * Writes all of it in one statement, or nothing.
 *
 * Shape: false when the session that was to change has ended.
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

function* listParts({ puts, removals = [], endedSession, sessionChange, facts = [] }: Write): Generator<Part> {
  if (sessionChange) yield { name: "condition", ...makeSessionChange(sessionChange) };
  if (puts.length > 0) yield { name: "put", text: insertArtifacts, values: [JSON.stringify(puts.map(toRow))] };
  if (removals.length > 0)
    yield {
      name: "removal",
      text: deleteArtifacts,
      values: [removals.map(({ kind }) => kind), removals.map(({ idHash }) => idHash)],
    };
  if (endedSession)
    yield { name: "ending", text: "DELETE FROM oidc_artifact WHERE session_uid = $1", values: [endedSession] };
  for (const [index, fact] of facts.entries()) yield { name: `fact${index}`, ...fact };
}

const insertArtifacts = insertArtifactsFrom(`jsonb_to_recordset($1::jsonb) AS put (${artifactRow}, generation int)`);

const deleteArtifacts = `
  DELETE FROM oidc_artifact WHERE (kind, id_hash) IN (SELECT * FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "bytea")}))`;

const makeSessionChange = ({ uid, idHash, payload, personId, generation, expiresAt }: SessionChange): Statement => ({
  text: `
    UPDATE oidc_artifact SET id_hash = $2, person_id = coalesce($4::uuid, person_id), expires_at = $5,
      generation = CASE WHEN $4::uuid IS NULL THEN generation ELSE $6::int END,
      payload = payload || $3::jsonb || jsonb_build_object('authorizations',
        coalesce(payload->'authorizations', '{}') || coalesce($3::jsonb->'authorizations', '{}'))
    WHERE kind = 'Session' AND session_uid = $1 RETURNING 1`,
  values: [uid, idHash, JSON.stringify(payload), personId, expiresAt, generation],
});

// Dividing by the rows that the condition found rolls the whole statement back when there is none.
const checkCondition = "SELECT 1 / (SELECT count(*)::int FROM condition)";
const isConditionMissed = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "22012";

type Composed = { name: string; text: string };
type Shape = { next: Map<string, Shape>; composed?: Composed };

const shapes: Shape = { next: new Map() };

function compose(parts: readonly Part[]): Statement & { name: string } {
  let shape = shapes;
  for (const { text } of parts) {
    let next = shape.next.get(text);
    if (!next) shape.next.set(text, (next = { next: new Map() }));
    shape = next;
  }
  return { ...(shape.composed ??= composeText(parts)), values: parts.flatMap(({ values }) => values) };
}

// There are as many statements as kinds of requests: a handful.
function composeText(parts: readonly Part[]): Composed {
  let offset = 0;
  const expressions = parts.map(({ name, text, values }) => {
    const renumbered = text.replace(/\$(\d+)/g, (_all, number: string) => `$${Number(number) + offset}`);
    offset += values.length;
    return `${name} AS (${renumbered})`;
  });
  const text = `WITH ${expressions.join(", ")} ${parts[0]?.name === "condition" ? checkCondition : "SELECT 1"}`;
  return { name: `sign-on.write.${hash("sha256", text, "hex").slice(0, 16)}`, text };
}
