import { fields, literal, makeFindOne, sql, table, type Part, type Sql } from "../platform/database/sql.ts";
import type { ListCounts } from "./listed-people.ts";
import { i, importGroup, importMembership } from "./tables.ts";

/** `left` are guests, `leftHome` get another home; `before` counts active people of this home and groups. */
export type Counts = {
  people: Record<"created" | "changed" | "restored" | "removed" | "joined" | "left" | "leftHome", number>;
  groups: Record<"created" | "changed" | "carriedOver" | "restored" | "removed", number>;
  memberships: Record<"created" | "changed" | "removed", number>;
  before: Record<"people" | "groups", number>;
  kept?: number;
  lists?: ListCounts;
};

const countWhere = (where: Sql) => sql`count(*) FILTER (WHERE ${where})`;
const countChanges = <Name extends string>(change: Sql, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, countWhere(sql`${change} = ${literal(name)}`)])) as Record<Name, Sql>;

const countObject = <Numbers extends object>(from: Sql, numbers: { readonly [Name in keyof Numbers]-?: Part }): Sql =>
  sql`(SELECT row_to_json(counted) FROM (SELECT ${fields<Numbers>(numbers)} FROM ${from}) AS counted)`;

const [ig, im] = [importGroup.as("i"), importMembership.as("i")];
const person = table("person");
const group = table("group");

export const countDifference = makeFindOne<Counts, { schoolId: string }>(
  ({ schoolId }) => sql`SELECT
  ${countObject<Counts["people"]>(sql`${i}`, {
    ...countChanges(i.change, "created", "changed", "restored", "removed"),
    joined: countWhere(sql`${i.change} IS NULL AND ${i.joins} AND ${i.id} IS NOT NULL`),
    left: countWhere(sql`${i.leaves} AND ${i.nextHome} IS NULL`),
    leftHome: countWhere(sql`${i.nextHome} IS NOT NULL`),
  })} AS people,
  ${countObject<Counts["groups"]>(sql`${ig}`, {
    ...countChanges(ig.change, "created", "changed", "restored", "removed"),
    carriedOver: countWhere(sql`${ig.change} = 'carried_over'`),
  })} AS groups,
  ${countObject<Counts["memberships"]>(sql`${im}`, countChanges(im.change, "created", "changed", "removed"))}
    AS memberships,
  json_build_object(
    'people', (SELECT count(*) FROM ${person}
      WHERE ${person.homeSchoolId} = ${schoolId} AND ${person.status} = 'ACTIVE' AND ${person.leftAt} IS NULL),
    'groups', (SELECT count(*) FROM ${group}
      WHERE ${group.schoolId} = ${schoolId} AND ${group.status} = 'ACTIVE')) AS before,
  (SELECT count(*)::int FROM ${i} WHERE ${i.isKept}) AS kept`,
);

export const changesNothing = (counts: Counts): boolean =>
  [counts.people, counts.groups, counts.memberships].every((kind) =>
    Object.values(kind).every((number) => number === 0),
  );
