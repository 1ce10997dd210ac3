import { schoolIsShown } from "./visibility.ts";
import type { Sql } from "./visibility.ts";

const properties = ["name", "address", "role", "status", "groups", "schooling_level", "official_id"];
// Without the status, which is an action of its own; what has no name in an event is a reason for one all the same.
const compared = [...properties.filter((property) => property !== "status"), "rest"];
const isChanged = (property: string): Sql =>
  property === "status" ? "is_new_status" : `(is_staying AND b_${property} IS DISTINCT FROM a_${property})`;

const exists = `CASE type
  WHEN 'person' THEN EXISTS (SELECT FROM person v WHERE v.id = judged.subject_id)
  WHEN 'group' THEN EXISTS (SELECT FROM "group" v WHERE v.id = judged.subject_id)
  ELSE EXISTS (SELECT FROM school v WHERE v.id = judged.subject_id) END`;

/**
 * Selects what apps have to be told: how what they see of the subjects differs from what they saw.
 *
 * Shape: rows as `appendAppEvents` of events takes them, at most one for each app and subject, but two for what comes into view
 *        while it is deleted: that it entered, and that it is deleted. So whatever leaves or returns has been created before.
 */
export const selectDifference = (before: Sql, after: Sql): Sql => `
  SELECT client_id, type, subject_id, school_id, action, updated_properties, reason,
    CASE reason WHEN 'soft_deleted' THEN (SELECT v.purge_at FROM person v WHERE v.id = told.subject_id) END AS reason_until,
    -- An app hears of a school before it hears of its people, and of its end after theirs.
    CASE WHEN action = 'delete' THEN 4 ELSE 0 END + CASE type WHEN 'person' THEN 2 WHEN 'group' THEN CASE action WHEN 'delete' THEN 3 ELSE 1 END
      ELSE CASE action WHEN 'delete' THEN 4 ELSE 0 END END AS rank
  FROM (
    SELECT client_id, type, subject_id, school_id, action,
      CASE WHEN action = 'create' THEN '{}' WHEN action = 'delete' THEN CASE WHEN is_known THEN '{status}' ELSE '{}' END::text[]
        ELSE array_remove(ARRAY[${properties.map((property) => `CASE WHEN ${isChanged(property)} THEN '${property}' END`).join(", ")}], NULL)
      END AS updated_properties,
      CASE WHEN action <> 'delete' THEN NULL
        WHEN is_known THEN CASE type WHEN 'person' THEN 'soft_deleted' ELSE 'deleted' END
        WHEN NOT ${exists} THEN 'deleted'
        WHEN b_synced AND ${schoolIsShown("judged.client_id", "judged.school_id")} THEN 'no_longer_synced'
        ELSE 'access_withdrawn' END AS reason
    FROM (
      SELECT *,
        CASE WHEN NOT was_known THEN CASE WHEN a_active THEN '{create}' ELSE '{create,delete}' END
          WHEN NOT is_known THEN '{delete}'
          WHEN is_new_status THEN CASE WHEN a_active THEN '{restore}' ELSE '{delete}' END
          WHEN ${compared.map(isChanged).join(" OR ")} THEN '{update}' END::text[] AS actions
      FROM (
        SELECT client_id, type, subject_id, CASE WHEN a.is_active IS NULL THEN b.school_id ELSE a.school_id END AS school_id,
          b.is_active IS NOT NULL AS was_known, a.is_active IS NOT NULL AS is_known, num_nulls(a.is_active, b.is_active) = 0 AS is_staying,
          coalesce(a.is_active <> b.is_active, false) AS is_new_status, a.is_active AS a_active, b.is_synced AS b_synced,
          ${compared.map((property) => `a.${property} AS a_${property}, b.${property} AS b_${property}`).join(", ")}
        FROM ${before} AS b FULL JOIN ${after} AS a USING (client_id, type, subject_id)
      ) AS compared
    ) AS judged CROSS JOIN LATERAL unnest(actions) AS action
  ) AS told`;
