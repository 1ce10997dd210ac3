import type { PersonId, SchoolId } from "../../directory/index.ts";
import { makeSweep } from "../../platform/jobs/batches.ts";
import { addDays, type Clock } from "../../platform/clock.ts";
import type { Db, RecordStore } from "../../platform/database/db.ts";
import { insert, makeRun, sql, statement, table, newId } from "../../platform/database/sql.ts";
import type { ImportId, SchoolPart } from "../state/record.ts";
import { g, planned, importMembership, m, p, plannedGroup, plannedMembership } from "../difference/tables.ts";

/** What an import did to a person at a school. `classes` is null if they did not change, and for a new person. */
export type PersonImport = {
  id: string;
  at: Date;
  schoolId: SchoolId;
  importId: ImportId;
  change: "CREATED" | "CHANGED" | "CLASSES" | "JOINED" | "LEFT" | "REMOVED" | "RESTORED" | "UNDONE";
  classes: { before: string[]; after: string[] } | null;
};

const ended = importMembership.as("ended");

const isClassAfter = sql`CASE WHEN ${plannedGroup.id} IS NULL THEN ${g.status} = 'ACTIVE' AND ${g.type} = 'KLASSE'
  ELSE NOT ${plannedGroup.isGone} AND ${plannedGroup.type} = 'KLASSE' END`;
const namesOf = (name: "before" | "after") => {
  const column = name === "before" ? sql`before` : sql`after`;
  return sql`coalesce(array_agg(${column} ORDER BY ${column}) FILTER (WHERE ${column} IS NOT NULL), '{}')`;
};

/** Records changes of existing people, with their classes before and after; renamed classes count. */
export const recordPersonImports = statement<Pick<SchoolPart, "importId" | "schoolId" | "now">>(
  ({ importId, schoolId, now }) => sql`
  WITH classes AS (
    SELECT person_id, ${namesOf("before")} AS before, ${namesOf("after")} AS after FROM (
      SELECT ${m.personId}, CASE WHEN ${g.status} = 'ACTIVE' AND ${g.type} = 'KLASSE' THEN ${g.name} END AS before,
        CASE WHEN ${ended.change} IS NULL AND ${isClassAfter} THEN coalesce(${plannedGroup.name},
          ${g.name}) END AS after
      FROM ${g} JOIN ${m} ON ${m.groupId} = ${g.id} LEFT JOIN ${plannedGroup} ON ${plannedGroup.id} = ${g.id}
      LEFT JOIN ${ended} ON ${ended.groupId} = ${m.groupId} AND ${ended.personId} = ${m.personId}
        AND ${ended.change} = 'removed'
      WHERE ${g.schoolId} = ${schoolId}
      UNION ALL
      SELECT ${plannedMembership.personId}, NULL, ${plannedGroup.name} FROM ${plannedMembership} JOIN ${plannedGroup}
        ON ${plannedGroup.id} = ${plannedMembership.groupId}
      JOIN ${planned} ON ${planned.id} = ${plannedMembership.personId} AND ${planned.change} IS DISTINCT FROM 'created'
      WHERE ${plannedMembership.change} = 'created' AND ${plannedGroup.type} = 'KLASSE') AS each_class
    GROUP BY person_id HAVING ${namesOf("before")} <> ${namesOf("after")}),
  changes AS (
    SELECT id, change FROM (
      SELECT ${planned.id}, CASE WHEN ${planned.change} IN ('removed', 'restored') THEN upper(${planned.change})
        WHEN ${planned.leaves} THEN 'LEFT' WHEN ${planned.joins} THEN 'JOINED'
        WHEN ${planned.change} = 'changed' THEN 'CHANGED' END AS change
      FROM ${planned} WHERE ${planned.id} IS NOT NULL AND ${planned.change} IS DISTINCT FROM 'created') AS each_person
    WHERE change IS NOT NULL)
  ${insert(
    "personImport",
    {
      id: newId(now),
      at: now,
      personId: p.id,
      schoolId,
      importId,
      change: sql`coalesce(changes.change, 'CLASSES')`,
      classesBefore: sql`coalesce(classes.before, '{}')`,
      // People who leave keep their classes until they are deleted.
      classesAfter: sql`coalesce(
        CASE WHEN changes.change IN ('LEFT', 'REMOVED') THEN classes.before ELSE classes.after END, '{}')`,
    },
    sql`FROM changes FULL JOIN classes ON classes.person_id = changes.id
      JOIN ${p} ON ${p.id} = coalesce(changes.id, classes.person_id)
      WHERE changes.change IS NOT NULL OR ${p.status} = 'ACTIVE'`,
  )}`,
);

type PageRequest = {
  personId: PersonId;
  schoolIds?: readonly SchoolId[] | undefined;
  limit: number;
  after?: string | undefined;
};

/** Latest first; the last one is the import that created the person. */
export async function listPersonImports({ prisma }: RecordStore, page: PageRequest): Promise<PersonImport[]> {
  const { personId, schoolIds, limit, after } = page;
  const ofSchools = schoolIds === undefined ? {} : { schoolId: { in: [...schoolIds] } };
  const rows = await prisma.personImport.findMany({
    where: { personId, ...ofSchools, ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: "desc" },
    take: limit,
  });
  const changes = rows.map(({ personId: _, classesBefore, classesAfter, ...row }) => ({
    ...(row as Omit<PersonImport, "classes">),
    classes: classesBefore.join() === classesAfter.join() ? null : { before: classesBefore, after: classesAfter },
  }));
  return changes.length === limit ? changes : [...changes, ...(await findCreation({ prisma }, personId, ofSchools))];
}

async function findCreation({ prisma }: RecordStore, id: PersonId, ofSchools: object): Promise<PersonImport[]> {
  const person = await prisma.person.findUnique({ where: { id }, select: { createdAt: true, affiliations: true } });
  if (person === null) return [];
  const at = person.createdAt;
  const among = { schoolId: { in: person.affiliations.map(({ schoolId }) => schoolId) } };
  const school = await prisma.importSchool.findFirst({ where: { AND: [ofSchools, among], appliedAt: at } });
  if (school === null) return [];
  const [schoolId, importId] = [school.schoolId as SchoolId, school.importId as ImportId];
  return [{ id: importId, at, schoolId, importId, change: "CREATED", classes: null }];
}

const [oldest, gone] = [table("personImport", "oldest"), table("personImport", "gone")];

const deleteOldest = makeRun<{ before: Date; batch: number }>()`
  DELETE FROM ${gone} WHERE ${gone.at} < ${"before"} AND ${gone.id} = ANY (ARRAY(
    SELECT ${oldest.id} FROM ${oldest} ORDER BY ${oldest.id} LIMIT ${"batch"}))`;

export const makePersonImportSweep = ({ db, clock, auditDays }: { db: Db; clock: Clock; auditDays: number }) =>
  makeSweep({ name: "imports.sweepOfPeople", clock }, (now, batch) =>
    deleteOldest(db.pool, { before: addDays(now, -auditDays), batch }),
  );
