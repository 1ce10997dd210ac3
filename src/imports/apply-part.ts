import { changeDirectory } from "../access/index.ts";
import { sourceIdAtNextHome, type Change, type PersonId, type SchoolId } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { Origin } from "../events/index.ts";
import type { Db, Queryable } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { changesNothing, countDifference, isHeld, type Counts } from "./counts.ts";
import { newId } from "./difference-people.ts";
import { findDifference, type Part } from "./difference.ts";
import { renewLease, type Lease } from "./lease.ts";

export type ApplyRules = {
  /** From 0 to 1: what share of a school's people or groups an import may remove without somebody agreeing. */
  holdShare: number;
  restoreWindowDays: number;
};

/** A school to be brought there once more: someone's home was not there yet, people moved away from it, or a guest's home has moved. */
export type Unsettled = { id: SchoolId; movedAway: number };

/**
 * Brings one school to what an import says, in one transaction, and tells the apps of it.
 *
 * Shape:  `movedAway` is how many of its people other parts of the import have taken home to their schools; they count as there before.
 * Errors: conflict when it would remove too much and nobody agreed to that, or somebody else applies the import now.
 */
export async function applyPart(
  db: Pick<Db, "pool">,
  part: Part & { movedAway: number; lease: Lease },
  rules: ApplyRules,
  origin: Origin,
): Promise<{ counts: Counts; unsettled: Unsettled[] }> {
  return changeDirectory(db, origin, async (change) => {
    const { tx } = change;
    await renewLease(tx, part.lease);
    await change.touchSchool(part.schoolId);
    await findDifference(tx, part);
    if (await touchOthers(change, part.schoolId)) await findDifference(tx, part);
    const counts = await countDifference(tx, part.schoolId);
    counts.before.people += part.movedAway;
    const agreed = await findAgreed(tx, part);
    if (isHeld(counts, rules.holdShare, agreed)) {
      throw new AppError(
        "conflict",
        "import_held",
        "The import would remove too many people or groups of a school. Look at its preview and confirm it.",
      );
    }
    const unsettled = await findUnsettled(tx, part.schoolId);
    if (!changesNothing(counts)) await write(tx, part, counts, rules);
    await tx.query(recordCarryOvers, [part.importId, part.schoolId, part.schoolYear, part.now]);
    if (part.schools.length > 1) await tx.query(shareSourceIds, [part.schoolId]);
    await recordApplied(tx, part, counts, origin);
    return { counts, unsettled };
  });
}

/** Apps know people of other schools already, who come here or are deleted by this school's files; answers whether there are such people. */
async function touchOthers(change: Change, schoolId: SchoolId): Promise<boolean> {
  const { rows } = await change.tx.query<{ id: PersonId }>(
    `SELECT i.id FROM import_person i WHERE i.id IS NOT NULL AND i.change IS DISTINCT FROM 'created'
       AND (i.joins OR i.left_home IS NOT NULL OR i.change IS NOT NULL AND NOT EXISTS (SELECT FROM affiliation a WHERE a.person_id = i.id AND a.school_id = $1))`,
    [schoolId],
  );
  if (rows.length > 0) await change.touch({ people: rows.map(({ id }) => id) });
  return rows.length > 0;
}

async function findAgreed(tx: Queryable, { importId, schoolId }: Part): Promise<{ people: number; groups: number }> {
  const { rows } = await tx.query<{ people: number; groups: number }>(
    "SELECT coalesce(confirmed_people, 0) AS people, coalesce(confirmed_groups, 0) AS groups FROM import_school WHERE import_id = $1 AND school_id = $2",
    [importId, schoolId],
  );
  return rows[0] ?? { people: 0, groups: 0 };
}

async function findUnsettled(tx: Queryable, schoolId: SchoolId): Promise<Unsettled[]> {
  const { rows } = await tx.query<Unsettled>(
    `SELECT left_home AS id, (count(*) FILTER (WHERE change = 'changed'))::int AS "movedAway" FROM import_person WHERE left_home IS NOT NULL GROUP BY left_home
     UNION ALL SELECT DISTINCT a.school_id, 0 FROM import_person i JOIN affiliation a ON a.person_id = i.id
       WHERE i.left_home IS NOT NULL AND a.school_id NOT IN ($1, i.left_home)
     UNION ALL SELECT $1::uuid, 0 WHERE EXISTS (SELECT FROM import_person WHERE joins AND id IS NULL)`,
    [schoolId],
  );
  return rows;
}

async function write(tx: Queryable, part: Part, counts: Counts, { restoreWindowDays }: ApplyRules): Promise<void> {
  const purgeAt = new Date(part.now.getTime() + restoreWindowDays * 86_400_000);
  const steps = [
    ...peopleSteps(part, counts.people, purgeAt),
    ...leavingSteps(part, counts.people),
    ...groupSteps(part, counts.groups),
    ...membershipSteps(part, counts.memberships),
  ];
  for (const [count, text, values] of steps) if (count > 0) await tx.query(text, values);
  // What follows is planned by what PostgreSQL knows of the tables, and of rows that are not committed yet it learns only like this.
  if (counts.people.created + counts.memberships.created > manyRows) await tx.query(countRows);
}

/** Also where there was no group to go on from: one that the same file made must not go on the next time. */
const recordCarryOvers = `
  INSERT INTO group_carry_over (school_id, school_year, previous_source_id, source_id, at)
  SELECT $2, $3, s.previous_source_id, s.source_id, $4 FROM staged_group s
  WHERE s.import_id = $1 AND s.school_id = $2 AND NOT s.is_deleted AND s.previous_source_id <> s.source_id ON CONFLICT DO NOTHING`;

/** Files of several schools gave these people their ids. Apps do not see this, so it is no change of a person. */
const shareSourceIds = `
  UPDATE person p SET source_id_is_shared = true FROM import_person i
  WHERE i.is_staged AND NOT i.is_gone AND i.id = p.id AND p.home_school_id = $1 AND p.source_system_identifier = i.source_id AND NOT p.source_id_is_shared`;

const manyRows = 10_000;
/** Lets PostgreSQL count the directory's rows, unless somebody else is at it. */
export const countRows = 'ANALYZE (SKIP_LOCKED) person, affiliation, "group", membership';

/** How many rows a statement is for; with none it is left out. */
type Step = [count: number, text: string, values: unknown[]];

const peopleSteps = (
  { schoolId, now }: Part,
  { created, changed, restored, removed, joined }: Counts["people"],
  purgeAt: Date,
): Step[] => [
  [
    created,
    `INSERT INTO person (id, home_school_id, role, first_full, first_call, last, sort_key, source_system_identifier, created_at, updated_at)
     SELECT id, $1, role, first_full, first_call, last, sort_key, source_id, $2, $2 FROM import_person WHERE change = 'created'`,
    [schoolId, now],
  ],
  [
    // Someone who changed or came back may come from another school.
    created + changed + restored + joined,
    `INSERT INTO affiliation (id, person_id, school_id) SELECT ${newId("$2")}, id, $1 FROM import_person WHERE joins AND id IS NOT NULL`,
    [schoolId, now],
  ],
  [
    changed + restored,
    `UPDATE person p SET home_school_id = $1, role = i.role, first_full = i.first_full, first_call = i.first_call, last = i.last,
       sort_key = i.sort_key, status = 'ACTIVE', soft_deleted_at = NULL, purge_at = NULL, updated_at = $2
     FROM import_person i WHERE i.id = p.id AND i.change IN ('changed', 'restored')`,
    [schoolId, now],
  ],
  [
    removed,
    `UPDATE person p SET status = 'SOFT_DELETED', soft_deleted_at = $1, purge_at = $2, updated_at = $1
     FROM import_person i WHERE i.id = p.id AND i.change = 'removed'`,
    [now, purgeAt],
  ],
];

const leavingSteps = ({ schoolId, schools, now }: Part, { left, leftHome }: Counts["people"]): Step[] => [
  [
    left,
    "DELETE FROM affiliation a USING import_person i WHERE i.leaves AND i.next_home IS NULL AND a.person_id = i.id AND a.school_id = $1",
    [schoolId],
  ],
  [
    leftHome,
    `UPDATE person p SET home_school_id = i.next_home, updated_at = $1, source_system_identifier = ${sourceIdAtNextHome("i.next_home")}
     FROM import_person i WHERE i.next_home IS NOT NULL AND i.id = p.id`,
    [now],
  ],
  [
    leftHome,
    "DELETE FROM affiliation a USING import_person i WHERE i.next_home IS NOT NULL AND a.person_id = i.id AND a.school_id = ANY ($1)",
    [schools],
  ],
];

const groupSteps = (
  { schoolId, now }: Part,
  { created, changed, restored, removed, carriedOver }: Counts["groups"],
): Step[] => [
  [
    // Ids that go from group to group are freed first; a group that lost its id to another one is none of the import's any more.
    carriedOver,
    `UPDATE "group" g SET source_system_identifier = NULL FROM import_group i
     WHERE g.school_id = $1 AND i.change = 'carried_over' AND (g.id = i.id OR g.source_system_identifier = i.source_id)`,
    [schoolId],
  ],
  [
    created,
    `INSERT INTO "group" (id, school_id, name, sort_key, type, source_system_identifier, created_at, updated_at)
     SELECT id, $1, name, sort_key, type, source_id, $2, $2 FROM import_group WHERE change = 'created'`,
    [schoolId, now],
  ],
  [
    changed + restored + carriedOver,
    `UPDATE "group" g SET name = i.name, sort_key = i.sort_key, type = i.type, source_system_identifier = i.source_id,
       status = 'ACTIVE', deleted_at = NULL, updated_at = $1
     FROM import_group i WHERE i.id = g.id AND i.change IN ('changed', 'restored', 'carried_over')`,
    [now],
  ],
  [
    removed,
    `UPDATE "group" g SET status = 'DELETED', deleted_at = $1, updated_at = $1 FROM import_group i WHERE i.id = g.id AND i.change = 'removed'`,
    [now],
  ],
];

const membershipSteps = ({ schoolId }: Part, { created, changed, removed }: Counts["memberships"]): Step[] => [
  [
    removed,
    `DELETE FROM membership m USING import_membership i WHERE i.change = 'removed' AND m.group_id = i.group_id AND m.person_id = i.person_id`,
    [],
  ],
  [
    changed,
    `UPDATE membership m SET role = i.role FROM import_membership i WHERE i.change = 'changed' AND m.group_id = i.group_id AND m.person_id = i.person_id`,
    [],
  ],
  [
    created,
    `INSERT INTO membership (group_id, person_id, school_id, role) SELECT group_id, person_id, $1, role FROM import_membership WHERE change = 'created'`,
    [schoolId],
  ],
];

async function recordApplied(
  tx: Queryable,
  { importId, schoolId }: Part,
  counts: Counts,
  origin: Origin,
): Promise<void> {
  await tx.query(
    "UPDATE import_school SET state = 'APPLIED', applied_at = $3, counts = CASE WHEN state = 'APPLIED' THEN counts ELSE $4::jsonb END WHERE import_id = $1 AND school_id = $2",
    [importId, schoolId, origin.at, JSON.stringify(counts)],
  );
  await recordAudit(tx, { ...origin, action: "import_applied", schoolId, detail: { importId, ...counts } });
}
