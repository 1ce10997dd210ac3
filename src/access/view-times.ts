import type { RecordStore } from "../platform/database/db.ts";
import type { GrantKey } from "./grant.ts";

/** Null: never. */
export type ViewTimes = { changedAt: Date | null; sourceReadAt: Date | null };

/** When what each app sees of the school last changed and its source was last read, as in the headers of reads. */
export async function findViewTimes({ prisma }: RecordStore, grants: readonly GrantKey[]): Promise<ViewTimes[]> {
  const subjects = grants.flatMap(({ clientId, schoolId }) => [`app:${clientId}`, `school:${schoolId}`]);
  const rows = await prisma.viewVersion.groupBy({
    by: ["subject"],
    where: { subject: { in: [...new Set(subjects)] } },
    _max: { changedAt: true, sourceReadAt: true },
  });
  const times = new Map(rows.map(({ subject, _max }) => [subject, _max]));
  return grants.map(({ clientId, schoolId }) => {
    const [app, school] = [times.get(`app:${clientId}`), times.get(`school:${schoolId}`)];
    const changes = [app?.changedAt, school?.changedAt].filter((time) => time instanceof Date);
    const changedAt = changes.length === 0 ? null : new Date(Math.max(...changes.map(Number)));
    return { changedAt, sourceReadAt: school?.sourceReadAt ?? null };
  });
}
