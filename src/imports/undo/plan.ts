import type { Transaction } from "../../platform/database/db.ts";
import {
  fields,
  join,
  literal,
  makeFind,
  makeFindOne,
  render,
  run,
  sql,
  statement,
  table,
  temporaryTable,
} from "../../platform/database/sql.ts";
import type { Part, Sql } from "../../platform/database/sql.ts";
import { imageOfGroup, imageOfPerson } from "../apply/change-record.ts";
import type { SchoolPart } from "../state/record.ts";
import { g, m, p } from "../difference/tables.ts";

/*
 * What undoing an import does at one school, in a temporary table: a row for each person and group that the import
 * changed, as it was, as the import left it, and as it is now. `reasons` says why it is not undone; empty if it is.
 */
const undoSubject = temporaryTable(
  "undo_subject",
  {
    id: "uuid",
    isPerson: "bool NOT NULL",
    before: "jsonb",
    after: "jsonb",
    now: "jsonb NOT NULL",
    reasons: "text[] NOT NULL DEFAULT '{}'",
  },
  ["id"],
);

export const u = undoSubject.as("u");
export const v = undoSubject.as("v");
const c = table("importChange", "c");
const r = table("staffRole", "r");
const other = table("person", "other");
const otherGroup = table("group", "other");

const createTable = `${render(sql`DROP TABLE IF EXISTS ${undoSubject.as()}`).text}; ${render(undoSubject.create).text}`;

export type UndoPart = Pick<SchoolPart, "importId" | "schoolId" | "schools">;

export const isUndone = (subject: typeof u): Sql => sql`(${subject.reasons} = '{}')`;

/** SQL: what differs between two images, as the names of reasons. */
const differences = (one: Sql, another: Sql) => sql`ARRAY(
  SELECT upper(key) FROM jsonb_each(${one}) AS field (key, value)
  WHERE key NOT IN ('sort_key', 'left') AND value IS DISTINCT FROM ${another} -> key ORDER BY key)`;

const insertPeople = statement<UndoPart>(({ importId, schoolId, schools }) =>
  undoSubject.insert(
    { id: p.id, isPerson: sql`true`, before: c.before, after: c.after, now: imageOfPerson(schools) },
    sql`FROM ${c} JOIN ${p} ON ${p.id} = ${c.personId}
      WHERE ${c.importId} = ${importId} AND ${c.schoolId} = ${schoolId}`,
  ),
);
const insertGroups = statement<UndoPart>(({ importId, schoolId }) =>
  undoSubject.insert(
    { id: g.id, isPerson: sql`false`, before: c.before, after: c.after, now: imageOfGroup },
    sql`FROM ${c} JOIN ${g} ON ${g.id} = ${c.subjectId}
      WHERE ${c.importId} = ${importId} AND ${c.schoolId} = ${schoolId} AND ${c.personId} IS NULL`,
  ),
);

const setReasons = (reason: Sql, where: Sql) => sql`UPDATE ${u} SET reasons = ${u.reasons} || ${reason} WHERE ${where}`;

const keepChanged = statement(() => setReasons(differences(u.after, u.now), sql`true`));
/** SQL: the status that a person or group of the row had, for the column. */
export const statusBefore = sql`coalesce(${u.before} -> 'left' ->> 'status', ${u.before} ->> 'status')`;
const endsPerson = sql`${u.isPerson} AND (${u.before} IS NULL OR ${statusBefore} = 'SOFT_DELETED')`;
const keepStaff = statement(() =>
  setReasons(
    sql`ARRAY['STAFF_ROLE']`,
    sql`${endsPerson} AND ${u.now} ->> 'status' = 'ACTIVE' AND EXISTS (SELECT FROM ${r} WHERE ${r.personId} = ${u.id})`,
  ),
);

/** SQL: the import made this membership of a person whom another school's part undoes. */
const isUndoneElsewhere = ({ importId, schoolId }: { importId: Part; schoolId: Part }) => sql`EXISTS (
  SELECT FROM ${c} WHERE ${c.importId} = ${importId} AND ${c.subjectId} = ${m.personId} AND ${c.schoolId} <> ${schoolId}
    AND NOT coalesce(${c.before} -> 'groups' ? ${u.id}::text, false))`;
const keepGroupsWithMembers = statement<Pick<UndoPart, "importId" | "schoolId">>((part) =>
  setReasons(
    sql`ARRAY['HAS_MEMBERS']`,
    sql`NOT ${u.isPerson} AND ${u.before} IS NULL AND ${u.now} ->> 'status' = 'ACTIVE' AND EXISTS (
      SELECT FROM ${m} JOIN ${p} ON ${p.id} = ${m.personId} AND ${p.status} = 'ACTIVE'
      WHERE ${m.groupId} = ${u.id} AND NOT ${isUndoneElsewhere(part)}
        AND NOT EXISTS (SELECT FROM ${v} WHERE ${v.id} = ${m.personId} AND ${isUndone(v)}))`,
  ),
);

const wantsId = sql`${isUndone(u)} AND ${u.before} ->> 'source_id' IS NOT NULL
  AND ${u.before} -> 'source_id' IS DISTINCT FROM ${u.now} -> 'source_id'`;
const keepTakenPersonIds = statement(() =>
  setReasons(
    sql`ARRAY['ID_TAKEN']`,
    sql`${u.isPerson} AND ${wantsId} AND EXISTS (
      SELECT FROM ${other} WHERE ${other.homeSchoolId} = (${u.before} -> 'schools' ->> 'home')::uuid
        AND ${other.sourceSystemIdentifier} = ${u.before} ->> 'source_id' AND ${other.id} <> ${u.id})`,
  ),
);
// The ids of groups that are undone become free.
const keepTakenGroupIds = statement<Pick<UndoPart, "schoolId">>(({ schoolId }) =>
  setReasons(
    sql`ARRAY['ID_TAKEN']`,
    sql`NOT ${u.isPerson} AND ${wantsId} AND EXISTS (
      SELECT FROM ${otherGroup} WHERE ${otherGroup.schoolId} = ${schoolId} AND ${otherGroup.id} <> ${u.id}
        AND ${otherGroup.sourceSystemIdentifier} = ${u.before} ->> 'source_id'
        AND NOT EXISTS (SELECT FROM ${v} WHERE ${v.id} = ${otherGroup.id} AND ${isUndone(v)}))`,
  ),
);

/** Fills the temporary table; the school should be locked. */
export async function planUndo(tx: Transaction, part: UndoPart): Promise<void> {
  await tx.query(createTable);
  await run(tx, insertPeople, part);
  await run(tx, insertGroups, part);
  await tx.query("ANALYZE undo_subject");
  await run(tx, keepChanged, {});
  await run(tx, keepStaff, {});
  await run(tx, keepTakenPersonIds, {});
  await run(tx, keepGroupsWithMembers, part);
  // A group that stays keeps its id, so another one may have to stay too.
  while ((await run(tx, keepTakenGroupIds, part)) > 0);
}

type UndoStep = "RESTORED" | "REMOVED" | "CHANGED";

const [isOver, wasActive] = [sql`${u.now} ->> 'status' <> 'ACTIVE'`, sql`${u.before} ->> 'status' = 'ACTIVE'`];

const step = sql`CASE WHEN ${isOver} AND ${wasActive} THEN 'RESTORED'
  WHEN NOT (${isOver}) AND ${wasActive} IS NOT TRUE THEN 'REMOVED' ELSE 'CHANGED' END`;

export type UndoCounts = {
  people: Record<Lowercase<UndoStep>, number>;
  groups: Record<Lowercase<UndoStep>, number>;
  memberships: Record<"restored" | "removed", number>;
  kept: Record<"people" | "groups", number>;
  /** How many of the import's recorded rows remain; those of permanently deleted people are gone. */
  recorded: number;
};

const countWhere = (where: Sql) => sql`count(*) FILTER (WHERE ${where})`;
const countSteps = (kind: Sql) => {
  const count = (name: UndoStep) => countWhere(sql`${isUndone(u)} AND ${kind} AND ${step} = ${literal(name)}`);
  return sql`json_build_object('restored', ${count("RESTORED")}, 'removed', ${count("REMOVED")},
    'changed', ${count("CHANGED")})`;
};
/** SQL: how many keys of `groups` one image has that the other lacks. */
const countMissing = (image: Sql, otherImage: Sql) => sql`(
  SELECT count(*) FROM ${v} CROSS JOIN LATERAL jsonb_object_keys(${image} -> 'groups') AS member (group_id)
  WHERE ${v.isPerson} AND ${isUndone(v)} AND ${v.before} IS NOT NULL AND NOT ${otherImage} -> 'groups' ? group_id)`;

export const countUndo = makeFindOne<UndoCounts>()`SELECT ${fields<UndoCounts>({
  people: countSteps(u.isPerson),
  groups: countSteps(sql`NOT ${u.isPerson}`),
  memberships: sql`json_build_object('restored', ${countMissing(v.before, v.now)},
      'removed', ${countMissing(v.now, v.before)})`,
  kept: sql`json_build_object('people', ${countWhere(sql`${u.isPerson} AND NOT ${isUndone(u)}`)},
      'groups', ${countWhere(sql`NOT ${u.isPerson} AND NOT ${isUndone(u)}`)})`,
  recorded: sql`count(*)::int`,
})} FROM ${u}`;

type UndoReason =
  | ("NAME" | "ROLE" | "STATUS" | "SCHOOLS" | "GROUPS" | "TYPE" | "SOURCE_ID")
  | ("ID_TAKEN" | "STAFF_ROLE" | "HAS_MEMBERS");

/** A person or group that an import changed: what undoing does to it, or why it stays as it is. */
export type UndoEntry = {
  id: string;
  isPerson: boolean;
  name: [firstFull: string | null, firstCall: string | null, last: string | null] | string;
  step: UndoStep;
  reasons: UndoReason[];
  changedAt: Date | null;
  classes: { now: string[]; then: string[] };
  sortKey: string;
};

type Page = {
  isKept: boolean;
  appliedAt: Date;
  after?: string | undefined;
  sortKey?: string | undefined;
  limit: number;
};

const audit = table("audit", "a");
const byHand = sql`(${join(
  [
    ...["person_updated", "person_soft_deleted", "person_restored", "membership_added", "membership_removed"],
    ...["membership_role_changed", "affiliation_added", "affiliation_removed", "home_school_changed"],
  ].map(literal),
)})`;

/** SQL: the names of the classes of an image; `afterwards` as they are called when the import is undone. */
export const classNames = (image: Sql, afterwards: boolean) => {
  const undone = sql`${isUndone(v)} AND ${v.before} IS NOT NULL`;
  const value = (name: string, present: Sql) =>
    afterwards
      ? sql`CASE WHEN ${undone} THEN ${v.before} ->> ${literal(name)} ELSE ${present}::text END`
      : sql`${present}::text`;
  return sql`ARRAY(
    SELECT ${value("name", g.name)} FROM jsonb_object_keys(${image} -> 'groups') AS member (group_id)
    JOIN ${g} ON ${g.id} = group_id::uuid LEFT JOIN ${v} ON ${v.id} = ${g.id}
    WHERE ${g.type} = 'KLASSE' AND ${value("status", g.status)} = 'ACTIVE' ORDER BY 1)`;
};

const position = sql`(CASE WHEN ${u.isPerson} THEN 'b' ELSE 'a' END || (${u.now} ->> 'sort_key')) COLLATE "C"`;

export const listUndoEntries = makeFind<UndoEntry, Page>(
  ({ isKept, appliedAt, after, sortKey, limit }) => sql`
  SELECT ${fields<UndoEntry>({
    id: u.id,
    isPerson: u.isPerson,
    name: sql`${u.now} -> 'name'`,
    step,
    reasons: u.reasons,
    changedAt: sql`CASE WHEN NOT ${isUndone(u)} THEN CASE WHEN ${u.isPerson} THEN (
      SELECT max(${audit.at}) FROM ${audit} WHERE ${audit.personId} = ${u.id} AND ${audit.at} >= ${appliedAt}
        AND ${audit.action} IN ${byHand})
      ELSE (SELECT ${g.updatedAt} FROM ${g} WHERE ${g.id} = ${u.id} AND ${g.updatedAt} > ${appliedAt}) END END`,
    classes: sql`json_build_object('now', ${classNames(u.now, false)},
      'then', ${classNames(sql`coalesce(${u.before}, ${u.now})`, true)})`,
    sortKey: position,
  })}
  FROM ${u} WHERE ${isUndone(u)} <> ${isKept}
    AND (${after}::uuid IS NULL OR (${position}, ${u.id}) > (${sortKey}::text COLLATE "C", ${after}::uuid))
  ORDER BY ${position}, ${u.id} LIMIT ${limit}`,
);
