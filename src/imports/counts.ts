import type { Queryable } from "../platform/db.ts";

/**
 * What an import does to a school, in numbers. `left` are guests, `leftHome` people whose home becomes another of their schools;
 * `before` are the active people whose home it is, and its active groups.
 */
export type Counts = {
  people: {
    created: number;
    changed: number;
    restored: number;
    removed: number;
    joined: number;
    left: number;
    leftHome: number;
  };
  groups: { created: number; changed: number; carriedOver: number; restored: number; removed: number };
  memberships: { created: number; changed: number; removed: number };
  before: { people: number; groups: number };
};

/** A few of each kind, for whoever looks at a preview. Never to be logged: they hold names. */
export type Samples = {
  kind: "person" | "group";
  change: string;
  sourceId: string;
  name: string | null;
  previousSourceId: string | null;
}[];

const count = (where: string) => `count(*) FILTER (WHERE ${where})`;
const ofChange = (name: string, change: string) => `'${name}', ${count(`change = '${change}'`)}`;
const object = (from: string, pairs: readonly string[]) =>
  `(SELECT json_build_object(${pairs.join(", ")}) FROM ${from})`;

const selectCounts = `SELECT
  ${object("import_person", [
    ...["created", "changed", "restored", "removed"].map((name) => ofChange(name, name)),
    `'joined', ${count("change IS NULL AND joins AND id IS NOT NULL")}, 'left', ${count("leaves AND next_home IS NULL")},
      'leftHome', ${count("next_home IS NOT NULL")}`,
  ])} AS people,
  ${object("import_group", [...["created", "changed", "restored", "removed"].map((name) => ofChange(name, name)), ofChange("carriedOver", "carried_over")])} AS groups,
  ${object(
    "import_membership",
    ["created", "changed", "removed"].map((name) => ofChange(name, name)),
  )} AS memberships,
  json_build_object(
    'people', (SELECT count(*) FROM person WHERE home_school_id = $1 AND status = 'ACTIVE'),
    'groups', (SELECT count(*) FROM "group" WHERE school_id = $1 AND status = 'ACTIVE')) AS before`;

export async function countDifference(tx: Queryable, schoolId: string): Promise<Counts> {
  const { rows } = await tx.query<Counts>(selectCounts, [schoolId]);
  return rows[0]!;
}

const samplesEach = 5;

export async function takeSamples(tx: Queryable): Promise<Samples> {
  const { rows } = await tx.query<Samples[number]>(
    `SELECT kind, change, source_id AS "sourceId", name, previous_source_id AS "previousSourceId" FROM (
       SELECT *, row_number() OVER (PARTITION BY kind, change ORDER BY sort_key, source_id) AS n FROM (
         SELECT 'person' AS kind, change, source_id, first_full || ' ' || last AS name, NULL AS previous_source_id, sort_key FROM import_person
         UNION ALL SELECT 'group', change, source_id, name, previous_source_id, sort_key FROM import_group) AS changes
       WHERE change IS NOT NULL) AS numbered
     WHERE n <= ${samplesEach} OR change = 'carried_over' AND n <= 1000 ORDER BY kind DESC, change, n`,
  );
  return rows;
}

/** Whether an import takes so much away that somebody has to agree first. Units: share from 0 to 1 of what is there. */
export function isHeld(
  { people, groups, before }: Counts,
  share: number,
  agreed: { people: number; groups: number },
): boolean {
  const isTooMuch = (removed: number, there: number, confirmed: number) =>
    removed > there * share && removed > confirmed;
  return (
    isTooMuch(people.removed + people.leftHome, before.people, agreed.people) ||
    isTooMuch(groups.removed, before.groups, agreed.groups)
  );
}

export const changesNothing = (counts: Counts): boolean =>
  [counts.people, counts.groups, counts.memberships].every((kind) =>
    Object.values(kind).every((number) => number === 0),
  );
