import type { PersonId } from "../../directory/index.ts";
import { findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";
import { searchFiles, type FileKind } from "./files.ts";
import { makeMatcher } from "./matcher.ts";

const event = table("appEvent", "event");

// During a move an app has two ids of a person.
const selectAppIds = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT known.id FROM ${event}
  CROSS JOIN LATERAL unnest(ARRAY[${event.appSubjectId}, ${event.nextSubjectId}]) AS known (id)
  WHERE ${event.subjectId} = ${personId} AND known.id IS NOT NULL`,
);

type Places = { personId: PersonId; dumps: readonly { path: string; kind: FileKind }[]; tell: (line: string) => void };

/**
 * The ids by which apps with ids of their own knew the person, as far as they are still stored: in the change feed, and
 * in dumps from before the deletion.
 */
export async function findAppIds(db: Queryable, { personId, dumps, tell }: Places): Promise<string[]> {
  const rows = await findRows<{ id: string }, { personId: PersonId }>(db, selectAppIds, { personId });
  const ids = new Set(rows.map(({ id }) => id));
  const matcher = makeMatcher({ ids: [personId], firstNames: [], lastNames: [], userNames: [], others: [] }, []);
  await searchFiles(dumps, {
    matcher,
    tell,
    onRow({ section, read }) {
      const isOf = (column: string) => read(column)?.toLowerCase() === personId.toLowerCase();
      if (section?.table === "pairwise_id" && isOf("person_id")) ids.add(read("id")!);
      if (section?.table !== "app_event" || !isOf("subject_id")) return;
      for (const column of ["app_subject_id", "next_subject_id"]) {
        const appId = read(column);
        if (appId !== null) ids.add(appId);
      }
    },
  });
  return [...ids];
}
