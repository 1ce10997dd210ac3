import { exists, identifier, join, literal, sql, type Sql, table, type Value } from "../../platform/database/sql.ts";
import { schoolIsShown } from "../visibility.ts";
import { allProperties, comparedProperties } from "./snapshot.ts";
import { appendAppEvents } from "../../events/index.ts";
import { recordDisclosures, type Writer } from "../disclosure/record.ts";
import { withErasures } from "../erasures.ts";
import { withAppIds } from "../pairwise.ts";

const isChanged = (property: string): Sql => {
  if (property === "status") return sql`is_new_status`;
  const [before, after] = [identifier(`b_${property}`), identifier(`a_${property}`)];
  return sql`(is_staying AND ${before} IS DISTINCT FROM ${after})`;
};

const isAnyChanged = join(comparedProperties.map(isChanged), " OR ");
const changedNames = join(
  allProperties.map((property) => sql`CASE WHEN ${isChanged(property)} THEN ${literal(property)} END`),
  ", ",
);
const bothValues = join(
  comparedProperties.map((property) => {
    const [after, before] = [identifier(`a.${property}`), identifier(`b.${property}`)];
    return sql`${after} AS ${identifier(`a_${property}`)}, ${before} AS ${identifier(`b_${property}`)}`;
  }),
  ", ",
);

const person = table("person", "v");
const group = table("group", "v");
const school = table("school", "v");

const isThere = sql`CASE type
  WHEN 'person' THEN ${exists(sql`${person} WHERE ${person.id} = classified.subject_id`)}
  WHEN 'group' THEN ${exists(sql`${group} WHERE ${group.id} = classified.subject_id`)}
  ELSE ${exists(sql`${school} WHERE ${school.id} = classified.subject_id`)} END`;

// An app hears of a school before its people, and of its end after theirs.
const rank = sql`CASE WHEN action = 'delete' THEN 4 ELSE 0 END
  + CASE type WHEN 'person' THEN 2 WHEN 'group' THEN CASE action WHEN 'delete' THEN 3 ELSE 1 END
      ELSE CASE action WHEN 'delete' THEN 4 ELSE 0 END END`;

const classify = (before: Sql, after: Sql): Sql => sql`
  SELECT *,
    CASE WHEN NOT was_known THEN CASE WHEN a_active THEN '{create}' ELSE '{create,delete}' END
      WHEN NOT is_known THEN '{delete}'
      WHEN is_new_status THEN CASE WHEN a_active THEN '{restore}' ELSE '{delete}' END
      WHEN ${isAnyChanged} THEN '{update}' END::text[] AS actions
  FROM (
    SELECT client_id, type, subject_id,
      CASE WHEN a.is_active IS NULL THEN b.school_id ELSE a.school_id END AS school_id,
      b.is_active IS NOT NULL AS was_known, a.is_active IS NOT NULL AS is_known,
      num_nulls(a.is_active, b.is_active) = 0 AS is_staying,
      coalesce(a.is_active <> b.is_active, false) AS is_new_status, a.is_active AS a_active, b.is_synced AS b_synced,
      ${bothValues}
    FROM ${before} AS b FULL JOIN ${after} AS a USING (client_id, type, subject_id)
  ) AS compared`;

/**
 * Selects the events of a change for `appendAppEvents`, one per app and subject; two (create, then delete) for a
 * subject that becomes visible while deleted.
 */
export const selectDiff = (before: Sql, after: Sql): Sql => sql`
  SELECT client_id, type, subject_id, school_id, action, updated_properties, reason,
    CASE reason WHEN 'soft_deleted' THEN (
      SELECT ${person.purgeAt} FROM ${person} WHERE ${person.id} = emitted.subject_id) END AS reason_until,
    ${rank} AS rank
  FROM (
    SELECT client_id, type, subject_id, school_id, action,
      CASE WHEN action = 'create' THEN '{}'
        WHEN action = 'delete' THEN CASE WHEN is_known THEN '{status}' ELSE '{}' END::text[]
        ELSE array_remove(ARRAY[${changedNames}], NULL) END AS updated_properties,
      CASE WHEN action <> 'delete' THEN NULL
        WHEN is_known THEN CASE type WHEN 'person' THEN 'soft_deleted' ELSE 'deleted' END
        WHEN NOT ${isThere} THEN 'deleted'
        WHEN b_synced AND ${schoolIsShown(sql`classified.client_id`, sql`classified.school_id`)} THEN 'no_longer_synced'
        ELSE 'access_withdrawn' END AS reason
    FROM (${classify(before, after)}) AS classified CROSS JOIN LATERAL unnest(actions) AS action
  ) AS emitted`;

/** One statement that appends the events of a change and records who can be read from now on, from two snapshots. */
export function appendChange(
  { before, after, ctes }: { before: Sql; after: Sql; ctes: readonly Sql[] },
  { now, traceparent, by }: { now: Value; traceparent: Value; by: Writer },
): Sql {
  const events = withErasures(withAppIds(selectDiff(before, after)), now);
  const all = join([...ctes, recordDisclosures(before, after, { now, by }), events.ctes], ",\n");
  return appendAppEvents({ ctes: all, events: events.events }, now, traceparent);
}
