import type { GroupType, PersonRole, SchoolId } from "../../directory/index.ts";
import { withTransaction, type Db } from "../../platform/database/db.ts";
import { fields, makeFind, makeFindOne, sql, table, type Queryable, type Sql } from "../../platform/database/sql.ts";

export type ExportedGroup = { id: string; name: string; type: GroupType };
export type ExportedPerson = {
  id: string;
  first: string | null;
  call: string | null;
  last: string | null;
  role: PersonRole;
  username: string | null;
  groups: (ExportedGroup & { role: PersonRole })[];
};

/** A school as it was at one moment, in parts of which each is read in turn. */
export type ExportedSchool = {
  school: { id: SchoolId; name: string; officialId: string };
  groups(): AsyncGenerator<ExportedGroup[]>;
  people(): AsyncGenerator<ExportedPerson[]>;
};

const a = table("affiliation", "a");
const c = table("credential", "c");
const g = table("group", "g");
const m = table("membership", "m");
const p = table("person", "p");
const s = table("school", "s");

const findSchool = makeFindOne<ExportedSchool["school"], { schoolId: SchoolId }>()`
  SELECT ${fields<ExportedSchool["school"]>({ id: s.id, name: s.name, officialId: s.officialId })}
    FROM ${s} WHERE ${s.id} = ${"schoolId"}`;

const partSize = 500;
type After = { schoolId: SchoolId; afterKey: string; afterId: string };
type Row<Item> = { key: string; rowId: string; item: Item };

// Imports do not change groups and people without a source id, so their ids of this service identify them.
const groupId = sql`coalesce(${g.sourceSystemIdentifier}, ${g.id}::text)`;
const groupJson = sql`'id', ${groupId}, 'name', ${g.name}, 'type', ${g.type}`;

const listGroups = makeFind<Row<ExportedGroup>, After>()`
  SELECT ${g.sortKey} AS key, ${g.id} AS "rowId", json_build_object(${groupJson}) AS item FROM ${g}
  WHERE ${g.schoolId} = ${"schoolId"} AND (${g.sortKey}, ${g.id}) > (${"afterKey"}, ${"afterId"}::uuid)
    AND ${g.status} = 'ACTIVE'
  ORDER BY ${g.sortKey}, ${g.id} LIMIT ${partSize}`;

/** A guest's id and user name are of the home school; people who left are in no roster. */
const ofHome = (schoolId: Sql, value: Sql) => sql`CASE WHEN ${p.homeSchoolId} = ${schoolId} THEN ${value} END`;

const listPeople = makeFind<Row<ExportedPerson>, After>(({ schoolId, afterKey, afterId }) => {
  const school = sql`${schoolId}::uuid`;
  return sql`
  SELECT ${a.sortKey} AS key, ${p.id} AS "rowId", json_build_object(
    'id', coalesce(${ofHome(school, p.sourceSystemIdentifier)}, ${p.id}::text), 'role', ${p.role},
    'first', ${p.firstFull}, 'call', ${p.firstCall}, 'last', ${p.last}, 'username', ${ofHome(school, c.username)},
    'groups', coalesce((
      SELECT json_agg(json_build_object(${groupJson}, 'role', ${m.role}) ORDER BY ${g.sortKey}, ${g.id})
      FROM ${m} JOIN ${g} ON ${g.id} = ${m.groupId} AND ${g.status} = 'ACTIVE'
      WHERE ${m.personId} = ${p.id} AND ${m.schoolId} = ${school}), '[]')) AS item
  FROM ${a} JOIN ${p} ON ${p.id} = ${a.personId} LEFT JOIN ${c} ON ${c.personId} = ${p.id}
  WHERE ${a.schoolId} = ${school} AND (${a.sortKey}, ${a.personId}) > (${afterKey}, ${afterId}::uuid)
    AND ${p.status} = 'ACTIVE' AND ${p.leftAt} IS NULL
  ORDER BY ${a.sortKey}, ${a.personId} LIMIT ${partSize}`;
});

/** Reads a school from one snapshot for as long as `work` takes. */
export const readSchool = <T>(
  db: Db,
  schoolId: SchoolId,
  inTurn: <T>(part: () => Promise<T>) => Promise<T>,
  work: (school: ExportedSchool) => Promise<T>,
): Promise<T> =>
  withTransaction(db, async (tx) => {
    await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    async function* readParts<Item>(list: (db: Queryable, after: After) => Promise<Row<Item>[]>) {
      let after: After = { schoolId, afterKey: "", afterId: "00000000-0000-0000-0000-000000000000" };
      for (;;) {
        const rows = await inTurn(() => list(tx, after));
        if (rows.length > 0) yield rows.map(({ item }) => item);
        if (rows.length < partSize) return;
        const { key: afterKey, rowId: afterId } = rows.at(-1)!;
        after = { schoolId, afterKey, afterId };
      }
    }
    return work({
      school: await findSchool(tx, { schoolId }),
      groups: () => readParts(listGroups),
      people: () => readParts(listPeople),
    });
  });
