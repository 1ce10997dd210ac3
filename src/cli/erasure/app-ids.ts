import type { PersonId } from "../../directory/index.ts";
import { findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";
import { searchFiles, type FileKind } from "./files.ts";
import { makeMatcher } from "./matcher.ts";

const event = table("appEvent", "event");

const selectAppIds = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT ${event.appSubjectId} AS id FROM ${event}
  WHERE ${event.subjectId} = ${personId} AND ${event.appSubjectId} IS NOT NULL`,
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
      const appId = section?.table === "app_event" && isOf("subject_id") ? read("app_subject_id") : null;
      if (appId !== null) ids.add(appId);
    },
  });
  return [...ids];
}
