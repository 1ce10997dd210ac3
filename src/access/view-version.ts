import { versionText } from "../platform/http/index.ts";
import { empty, sql, table, type Part, type Sql, type Value } from "../platform/database/sql.ts";
import { schoolsOfPerson } from "./visibility.ts";
import type { RecordStore } from "../platform/database/db.ts";
import type { GrantKey } from "./grants/grant.ts";

const version = table("viewVersion", "v_version");
const app = table("app", "v_app");

const totalsOf = (subject: Sql): Sql => sql`(
    SELECT sum(${version.version}) AS version, max(${version.changedAt}) AS changed_at,
      max(${version.sourceReadAt}) AS source_read_at
    FROM ${version} WHERE ${version.subject} = ${subject})`;

/** The version of the people and groups of a school, for no app in particular. */
export const versionOfSchool = (schoolId: Part): Sql => sql`(
  SELECT coalesce(sum(${version.version}), 0) FROM ${version} WHERE ${version.subject} = 'school:' || ${schoolId})`;

const totalsOfSchools = (schools: Sql): Sql => sql`(
    SELECT sum(hash_record_extended(ROW(v_listed.id, v_one.version), 0)) AS version,
      max(v_one.changed_at) AS changed_at, max(v_one.source_read_at) AS source_read_at
    FROM (${schools}) AS v_listed (id) CROSS JOIN LATERAL ${totalsOf(sql`'school:' || v_listed.id`)} AS v_one)`;

/**
 * Changes whenever what the app sees changes; null for an unknown app. `schools` selects the schools of a response; a
 * person's version is in all of theirs. Null: the list of schools itself, or all that the app sees.
 *
 * Triggers keep versions and times (migrations 0007, 0069).
 */
export const viewVersion = (client: Value, schools: Sql | null): Sql => {
  const ofApp = {
    version: sql`v_given.version`,
    changedAt: sql`v_given.changed_at`,
    sourceReadAt: sql`v_given.source_read_at`,
  };
  if (schools === null) return selectVersion(client, ofApp);
  const withSchools = {
    version: sql`v_given.version || '.' || coalesce(v_schools.version, 0)`,
    changedAt: sql`greatest(v_given.changed_at, v_schools.changed_at)`,
    sourceReadAt: sql`v_schools.source_read_at`,
  };
  return selectVersion(client, withSchools, sql`CROSS JOIN LATERAL ${totalsOfSchools(schools)} AS v_schools`);
};

const selectVersion = (client: Value, version: Parameters<typeof versionText>[0], joined: Sql = empty): Sql => sql`(
  SELECT ${versionText(version)}
  FROM ${app} CROSS JOIN LATERAL ${totalsOf(sql`'app:' || ${app.clientId}`)} AS v_given ${joined}
  WHERE ${app.clientId} = ${client})`;

/** The version of what an app sees of a person. */
export const viewVersionOfPerson = (client: Value, personId: Value): Sql =>
  viewVersion(client, schoolsOfPerson(client, personId));

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
