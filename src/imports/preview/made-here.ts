import { uuidPattern } from "../../platform/crypto/ids.ts";
import { literal, lookUp, sql, table, type Parameters, type Queryable } from "../../platform/database/sql.ts";
import { g, p } from "../difference/tables.ts";
import { makeDeletion, staged } from "../formats/staging.ts";

type Values = { importId: string; schools: readonly string[] };

const a = table("affiliation", "a");
const other = table("person", "other");
const sp = table("stagedPerson", "s");
const sg = table("stagedGroup", "s");
const { r, m } = staged;

/** SQL: rows of the import that have the shape of an id of this service. */
const withOurIds = (staged: typeof sp | typeof sg, { importId }: Parameters<Values>) => sql`(
  SELECT ${staged.sourceId}::uuid AS id, ${staged.sourceId} AS source_id FROM ${staged}
  WHERE ${staged.importId} = ${importId} AND ${staged.sourceId} ~ ${literal(uuidPattern.source)} OFFSET 0) AS ours`;

/** SQL: source ids of people at the schools whom no roster of these schools knows: made here, or guests. */
const people = (values: Parameters<Values>) => sql`(
  SELECT ours.source_id FROM ${withOurIds(sp, values)} ${lookUp("person", "p", sql`${p.id} = ours.id`)}
  WHERE (${p.sourceSystemIdentifier} IS NULL OR NOT ${p.homeSchoolId} = ANY (${values.schools}::uuid[]))
    AND EXISTS (SELECT FROM ${a} WHERE ${a.personId} = ${p.id} AND ${a.schoolId} = ANY (${values.schools}::uuid[]))
    AND NOT EXISTS (SELECT FROM ${other} WHERE ${other.homeSchoolId} = ANY (${values.schools}::uuid[])
      AND ${other.sourceSystemIdentifier} = ours.source_id))`;

const groups = (values: Parameters<Values>) => sql`(
  SELECT ours.source_id FROM ${withOurIds(sg, values)} ${lookUp("group", "g", sql`${g.id} = ours.id`)}
  WHERE ${g.sourceSystemIdentifier} IS NULL AND ${g.schoolId} = ANY (${values.schools}::uuid[]))`;

const steps = [
  makeDeletion<Values>(
    m,
    (values) => sql`(${m.personSourceId} IN ${people(values)} OR ${m.groupSourceId} IN ${groups(values)})`,
  ),
  makeDeletion<Values>(r, (values) => sql`${r.personSourceId} IN ${people(values)}`),
  makeDeletion<Values>(sg, (values) => sql`${sg.sourceId} IN ${groups(values)}`),
];
const deletePeople = makeDeletion<Values>(sp, (values) => sql`${sp.sourceId} IN ${people(values)}`);

/**
 * Drops rows that name people and groups by their ids of this service, as its own files do, if no roster of the schools
 * keeps them: they stay as they are. Returns how many people.
 */
export async function dropMadeHere(tx: Queryable, values: Values): Promise<number> {
  for (const step of steps) await step(tx, values);
  return deletePeople(tx, values);
}
