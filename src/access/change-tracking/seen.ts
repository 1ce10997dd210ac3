import { sql, table, update, type Sql, lookUp } from "../../platform/database/sql.ts";
import { seenKey } from "../visibility.ts";

const p = table("person", "v_gone");

/**
 * Notes on each soft-deleted person of the subjects what apps saw of them before the change, so that no later change of
 * groups takes them away. `subject` and `before` are relations as in the snapshot.
 */
export const keepSeen = ({ subject, before }: { subject: Sql; before: Sql }): Sql => sql`
  WITH gone AS MATERIALIZED (
    SELECT ${p.id}, ${p.seenBy} FROM (SELECT DISTINCT t.id FROM ${subject} AS t (type, id) WHERE t.type = 'person') AS t
    ${lookUp("person", "v_gone", sql`${p.id} = t.id`)} WHERE ${p.status} = 'SOFT_DELETED'),
  seen AS (
    SELECT gone.id, jsonb_object_agg(v_key.key, true) AS keys
    FROM ${before} AS b JOIN gone ON gone.id = b.subject_id
    CROSS JOIN LATERAL (
      SELECT ${seenKey("person", sql`b.client_id`, sql`at.school_id`)} FROM unnest(b.person_at) AS at (school_id)
      UNION ALL SELECT ${seenKey("user", sql`b.client_id`, sql`at.school_id`)} FROM unnest(b.user_at) AS at (school_id)
    ) AS v_key (key)
    WHERE b.type = 'person' AND NOT coalesce(gone.seen_by ? v_key.key, false)
    GROUP BY gone.id)
  ${update("person", "v_gone", { seenBy: sql`coalesce(${p.seenBy}, '{}') || seen.keys` })}
  FROM seen WHERE ${p.id} = seen.id`;
