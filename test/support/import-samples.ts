import type { SchoolId } from "../../src/directory/index.ts";
import { findDifference } from "../../src/imports/difference/difference.ts";
import { getImport, type ImportId } from "../../src/imports/index.ts";
import { makePart } from "../../src/imports/state/record.ts";
import { withPrismaTransaction, type PrismaDb } from "../../src/platform/database/db.ts";

type Sample = {
  kind: "person" | "group";
  change: string;
  sourceId: string;
  name: string | null;
  previousSourceId: string | null;
};

const selectChanges = `
  SELECT kind, change, source_id AS "sourceId", name, previous_source_id AS "previousSourceId" FROM (
    SELECT 'person' AS kind, change, source_id, first_full || ' ' || last AS name, NULL AS previous_source_id, sort_key
    FROM import_person
    UNION ALL
    SELECT 'group', change, source_id, name, previous_source_id, sort_key FROM import_group) AS changes
  WHERE change IS NOT NULL ORDER BY kind DESC, change, sort_key, source_id`;

/** What a waiting import would change at each of its schools. */
export async function sampleImport(db: PrismaDb, id: ImportId, now: Date): Promise<Map<SchoolId, Sample[]>> {
  const record = await getImport(db, id);
  const samples = new Map<SchoolId, Sample[]>();
  for (const { id: schoolId } of record.schools)
    await withPrismaTransaction(db, async (tx) => {
      await findDifference(tx, makePart(record, schoolId, now));
      samples.set(schoolId, (await tx.query<Sample>(selectChanges)).rows);
    });
  return samples;
}
