import { appendAppEvents } from "../../events/index.ts";
import { join, type Sql, type Value } from "../../platform/database/sql.ts";
import { recordDisclosures, type Writer } from "../disclosure/record.ts";
import { withErasures } from "../erasures.ts";
import { withAppIds } from "../pairwise.ts";
import { selectDiff } from "./diff.ts";

/** One statement that appends the events of a change and records who can be read from now on, from two snapshots. */
export function appendChange(
  { before, after, ctes }: { before: Sql; after: Sql; ctes: readonly Sql[] },
  { now, traceparent, by }: { now: Value; traceparent: Value; by: Writer },
): Sql {
  const events = withErasures(withAppIds(selectDiff(before, after)), now);
  const all = join([...ctes, recordDisclosures(before, after, { now, by }), events.ctes], ",\n");
  return appendAppEvents({ ctes: all, events: events.events }, now, traceparent);
}
