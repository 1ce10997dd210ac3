import { findPeriods, groupStatusAfter, personStatusAfter } from "../../directory/index.ts";
import type { Change, PersonId, SchoolId } from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import { findRows, insert, literal, run, sql, statement, table, update, newId } from "../../platform/database/sql.ts";
import type { Sql, Statement } from "../../platform/database/sql.ts";
import { analyzeFilled } from "../../platform/database/statistics.ts";
import { longWork } from "../difference/difference.ts";
import { sendSchoolEvent } from "../state/states.ts";
import { a, g, isAmong, m, p } from "../difference/tables.ts";
import { classNames, countUndo, isUndone, planUndo, statusBefore, u, v } from "./plan.ts";
import type { UndoCounts, UndoPart } from "./plan.ts";

export type UndoSchool = UndoPart & { now: Date; appliedAt: Date };

const before = (name: string): Sql => sql`(${u.before} ->> ${literal(name)})`;
const wasThere = sql`${isUndone(u)} AND ${u.before} IS NOT NULL`;
const wasMade = sql`${isUndone(u)} AND ${u.before} IS NULL`;
const person = sql`${u.id} = ${p.id} AND ${u.isPerson}`;
const group = sql`${u.id} = ${g.id} AND NOT ${u.isPerson}`;
const nothing = sql`NULL`;
const old = table("membership");

const ofSchools = sql`jsonb_each_text(${u.before} -> 'schools' -> 'at') AS place (school_id, id)`;
const ofGroups = sql`jsonb_each_text(${u.before} -> 'groups') AS member (group_id, role)`;
const members = sql`FROM ${u} CROSS JOIN LATERAL ${ofGroups} JOIN ${g} ON ${g.id} = member.group_id::uuid
  WHERE ${u.isPerson} AND ${wasThere}`;

const writes: readonly Statement<UndoSchool & { purgeAt: Date }>[] = [
  statement(({ now, importId, schoolId }) =>
    insert(
      "personImport",
      {
        id: newId(now),
        at: now,
        personId: u.id,
        schoolId,
        importId,
        change: sql`'UNDONE'`,
        classesBefore: classNames(u.now, false),
        classesAfter: classNames(sql`coalesce(${u.before}, ${u.now})`, true),
      },
      sql`FROM ${u} WHERE ${u.isPerson} AND ${isUndone(u)}`,
    ),
  ),
  // Frees the ids that other groups get back.
  statement(
    ({ schoolId }) => sql`
    ${update("group", "g", { sourceSystemIdentifier: nothing })} FROM ${u}
    WHERE ${g.schoolId} = ${schoolId} AND NOT ${u.isPerson} AND ${wasThere}
      AND ${u.before} -> 'source_id' <> ${u.now} -> 'source_id'
      AND (${g.id} = ${u.id} OR ${g.sourceSystemIdentifier} = ${before("source_id")})`,
  ),
  statement(
    ({ now }) => sql`
    ${update("group", "g", {
      name: before("name"),
      sortKey: before("sort_key"),
      type: sql`${before("type")}::group_type`,
      sourceSystemIdentifier: before("source_id"),
      status: sql`${before("status")}::group_status`,
      deletedAt: sql`CASE WHEN ${before("status")} <> 'ACTIVE' THEN coalesce(${g.deletedAt}, ${now}) END`,
      updatedAt: now,
    })} FROM ${u} WHERE ${group} AND ${wasThere}`,
  ),
  statement(
    ({ now }) => sql`
    ${update("group", "g", { status: groupStatusAfter("delete"), deletedAt: now, updatedAt: now })} FROM ${u}
    WHERE ${group} AND ${wasMade} AND ${g.status} = 'ACTIVE'`,
  ),
  statement()`
    ${insert(
      "affiliation",
      { id: sql`place.id::uuid`, personId: u.id, schoolId: sql`place.school_id::uuid` },
      sql`FROM ${u} CROSS JOIN LATERAL ${ofSchools} WHERE ${u.isPerson} AND ${wasThere}`,
    )} ON CONFLICT DO NOTHING`,
  statement(
    ({ now, purgeAt }) => sql`
    ${update("person", "p", {
      homeSchoolId: sql`(${u.before} -> 'schools' ->> 'home')::uuid`,
      role: sql`${before("role")}::person_role`,
      firstFull: sql`${u.before} -> 'name' ->> 0`,
      firstCall: sql`${u.before} -> 'name' ->> 1`,
      last: sql`${u.before} -> 'name' ->> 2`,
      sortKey: before("sort_key"),
      sourceSystemIdentifier: before("source_id"),
      status: sql`${statusBefore}::person_status`,
      softDeletedAt: sql`CASE WHEN ${statusBefore} <> 'ACTIVE' THEN coalesce(${p.softDeletedAt}, ${now}) END`,
      purgeAt: sql`CASE WHEN ${statusBefore} <> 'ACTIVE' THEN coalesce(${p.purgeAt}, ${purgeAt}) END`,
      leftAt: sql`(${u.before} -> 'left' ->> 'at')::timestamptz`,
      retentionFrom: now,
      updatedAt: now,
    })} FROM ${u} WHERE ${person} AND ${wasThere}`,
  ),
  statement(
    ({ now, purgeAt }) => sql`
    ${update("person", "p", { status: personStatusAfter("softDelete"), softDeletedAt: now, purgeAt, updatedAt: now })}
    FROM ${u} WHERE ${person} AND ${wasMade} AND ${p.status} = 'ACTIVE'`,
  ),
  // People created by the import are soft-deleted, and soft-deleted people keep their classes.
  statement()`
    DELETE FROM ${m} USING ${u} WHERE ${m.personId} = ${u.id} AND ${wasThere}
      AND ${u.now} -> 'groups' ? ${m.groupId}::text AND NOT ${u.before} -> 'groups' ? ${m.groupId}::text
      AND NOT EXISTS (SELECT FROM ${v} WHERE ${v.id} = ${m.groupId} AND ${v.before} ->> 'status' = 'DELETED')`,
  // People whose changes are kept do not return to a restored class.
  statement()`
    DELETE FROM ${m} USING ${u}, ${v} WHERE ${m.personId} = ${u.id} AND ${m.groupId} = ${v.id} AND NOT ${isUndone(u)}
      AND ${isUndone(v)} AND ${v.before} ->> 'status' = 'ACTIVE' AND ${v.now} ->> 'status' <> 'ACTIVE'`,
  statement()`
    ${insert(
      "membership",
      { groupId: g.id, personId: u.id, schoolId: g.schoolId, role: sql`member.role::person_role` },
      members,
    )} ON CONFLICT (group_id, person_id) DO UPDATE SET role = excluded.role WHERE ${old.role} <> excluded.role`,
  statement(
    ({ schools }) => sql`
    DELETE FROM ${a} USING ${u} WHERE ${a.personId} = ${u.id} AND ${isAmong(a.schoolId, schools)}
      AND ${wasThere} AND NOT ${u.before} -> 'schools' -> 'at' ? ${a.schoolId}::text`,
  ),
];

const o = table("groupCarryOver", "o");
const c = table("importChange", "c");
const forget: readonly Statement<UndoSchool>[] = [
  // The same file can then carry the groups over again.
  statement(
    ({ schoolId, appliedAt }) => sql`DELETE FROM ${o} WHERE ${o.schoolId} = ${schoolId} AND ${o.at} = ${appliedAt}`,
  ),
  statement(
    ({ importId, schoolId }) => sql`DELETE FROM ${c} WHERE ${c.importId} = ${importId} AND ${c.schoolId} = ${schoolId}`,
  ),
];

const there = table("affiliation", "there");
const findOthers = statement<UndoPart>()`
  SELECT ${c.personId} AS id, ARRAY(SELECT jsonb_object_keys(${c.before} -> 'schools' -> 'at')) AS schools FROM ${c}
  WHERE ${c.importId} = ${"importId"} AND ${c.schoolId} = ${"schoolId"} AND ${c.personId} IS NOT NULL AND (
    EXISTS (SELECT FROM ${a} WHERE ${a.personId} = ${c.personId} AND ${a.schoolId} <> ${"schoolId"})
    OR NOT EXISTS (SELECT FROM ${there} WHERE ${there.personId} = ${c.personId}
      AND ${there.schoolId} = ${"schoolId"}))`;

/** Locks the school and touches people whom apps know through other schools. */
async function touchAll(change: Change, part: UndoPart): Promise<void> {
  await change.touchSchool(part.schoolId);
  const others = await findRows<{ id: PersonId; schools: SchoolId[] | null }, UndoPart>(change.tx, findOthers, part);
  const schools = [...new Set(others.flatMap((person) => person.schools ?? []))];
  if (others.length > 0) await change.touch({ people: others.map(({ id }) => id), schools });
}

/** Undoes an import at one school, as far as nothing has changed since. */
export async function undoPart(
  change: Change,
  part: UndoSchool,
  rules: { restoreWindowDays: number },
  origin: Origin,
): Promise<UndoCounts> {
  const { tx } = change;
  const { importId, schoolId } = part;
  await tx.query(longWork);
  await touchAll(change, part);
  await planUndo(tx, part);
  const counts = await countUndo(tx, {});
  const values = { ...part, purgeAt: addDays(part.now, (await findPeriods(tx, schoolId, rules)).restoreDays) };
  for (const write of writes) {
    await run(tx, write, values);
    await analyzeFilled(tx);
  }
  for (const write of forget) await run(tx, write, part);
  await sendSchoolEvent(tx, part, "undo", { undoUntil: null });
  const { recorded: _, ...detail } = counts;
  await recordAudit(tx, { ...origin, action: "import_undone", schoolId, detail: { importId, ...detail } });
  return counts;
}
