import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

/** The schools of the directory, as files name them: by official id. */
export type Schools = {
  /** The school of the first of these names that is an official id, or an id of ours. */
  find(...names: readonly string[]): SchoolId | undefined;
  /** The one school that the import is for, where the caller named one. */
  readonly only: SchoolId | undefined;
};

export async function loadSchools(db: Queryable, only: SchoolId | undefined): Promise<Schools> {
  const { rows } = await db.query<{ id: SchoolId; official_id: string }>("SELECT id, official_id FROM school");
  const byName = new Map(rows.map((row) => [row.official_id, row.id]));
  for (const { id } of rows) byName.set(id, id);
  return {
    find(...names) {
      for (const name of names) {
        const school = byName.get(name);
        if (school !== undefined) return school;
      }
      return undefined;
    },
    only,
  };
}
