import type { SchoolId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";

/** The schools of the directory, as files name them: by official id. */
export type Schools = {
  /** The school that a file's key or official id stands for; where the caller named one school, that is it. */
  find(...names: readonly string[]): SchoolId | undefined;
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
