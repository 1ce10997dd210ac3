import type { GroupId, PersonId, SchoolId } from "../directory/index.ts";
import { fields, makeFind, makeFindOne, sql, table } from "../platform/database/sql.ts";
import type { Queryable, Sql, Value } from "../platform/database/sql.ts";
import { holdsAnyRole, holdsRoleBeyondHome } from "../staff/index.ts";
import type { Normalisation, Rule, RuleField } from "./connection.ts";

const person = table("person", "person");
const credential = table("credential", "credential");
const member = table("membership", "member");
const group = table("group", "class");

/** What `normalised` and `keyOf` need of a rule. */
type RuleParameters = { field: RuleField; isLower: boolean; spaces: string; domain: string; zeros: string };

export const toRuleParameters = ({ ruleField, normalisations }: Omit<Rule, "ruleClaim">): RuleParameters => {
  const does = (one: Normalisation, characters: string) => (normalisations.includes(one) ? characters : "");
  return {
    field: ruleField,
    isLower: normalisations.includes("LOWER_CASE"),
    spaces: does("TRIM", " \t\r\n"),
    domain: does("WITHOUT_DOMAIN", "@"),
    zeros: does("WITHOUT_LEADING_ZEROS", "0"),
  };
};

type Params = { readonly [Name in keyof RuleParameters]: Value };

/**
 * SQL: a text as the rule compares it; null if nothing of it is left. Without characters, each step does nothing. Only
 * A to Z have a lower case: in other collations, the Kelvin sign would be a k.
 */
const normalised = (text: Sql, { isLower, spaces, domain, zeros }: Params): Sql => sql`
  nullif(ltrim(split_part(btrim(CASE WHEN ${isLower} THEN lower(${text} COLLATE "C") ELSE ${text} END,
    ${spaces}::text), ${domain}::text, 1), ${zeros}::text), '')`;

/** SQL: the field of the roster that the rule names. */
const keyOf = (params: Params): Sql =>
  normalised(
    sql`(CASE ${params.field}::text WHEN 'USERNAME' THEN ${credential.username} WHEN 'PERSON_ID' THEN ${person.id}::text
      ELSE ${person.sourceSystemIdentifier} END)`,
    params,
  );

type Match = { place: number; count: number; personIds: PersonId[] };

const findAll = makeFind<Match, RuleParameters & { schoolId: SchoolId; values: string[] }>("upstream.match")`
    SELECT asked.place::int AS place, count(*)::int AS count,
      (array_agg(roster.id::text ORDER BY roster.id))[1:2] AS "personIds"
    FROM unnest(${"values"}::text[]) WITH ORDINALITY AS asked (value, place)
    JOIN (SELECT ${person.id} AS id, ${keyOf} AS key
      FROM ${person} LEFT JOIN ${credential} ON ${credential.personId} = ${person.id}
      WHERE ${person.homeSchoolId} = ${"schoolId"} AND ${person.status} = 'ACTIVE') AS roster
      ON roster.key = ${(params) => normalised(sql`asked.value`, params)}
    GROUP BY asked.place`;

const nobody = { count: 0, personIds: [] as PersonId[] };

/** For each value, finds active people at home in the school who match the rule. Returns at most two ids a value. */
export async function findMatches(
  db: Queryable,
  { schoolId, values, rule }: { schoolId: SchoolId; values: readonly string[]; rule: Omit<Rule, "ruleClaim"> },
): Promise<Omit<Match, "place">[]> {
  const rows = await findAll(db, { ...toRuleParameters(rule), schoolId, values: [...values] });
  return values.map((_value, index) => rows.find(({ place }) => place === index + 1) ?? nobody);
}

export type PersonFacts = {
  personId: PersonId;
  isHere: boolean;
  isBlocked: boolean;
  worksBeyondHome: boolean;
  /** Whether the person is more than a pupil. */
  isStaff: boolean;
  isInGroups: boolean;
  /** Null for a person without a user name. */
  generation: number | null;
  /** Whether the claim and the roster have the same value; null if one of them has no value. */
  isKey: boolean | null;
};

export type FactsParameters = RuleParameters & {
  schoolId: SchoolId;
  groupIds: readonly GroupId[];
  value: string | null;
  now: Date;
};

/** SQL: whether the person is in one of the groups; true without groups, which let everybody in. */
export const isInGroups = (groupIds: Value): Sql =>
  sql`(cardinality(${groupIds}::uuid[]) = 0 OR EXISTS (SELECT FROM ${member}
    JOIN ${group} ON ${group.id} = ${member.groupId} AND ${group.status} = 'ACTIVE'
    WHERE ${member.personId} = ${person.id} AND ${member.groupId} = ANY (${groupIds}::uuid[])))`;

/** SQL: whether a role keeps the person from signing in with a school's login. */
export const worksBeyondHome = (now: Value): Sql => holdsRoleBeyondHome(person, sql`${now}::timestamptz`);

/** SQL: whether the person is more than a pupil, whom a connection does not let in before staff have confirmed it. */
export const isStaff = (now: Value): Sql =>
  sql`(${person.role} <> 'STUDENT' OR ${holdsAnyRole(person, sql`${now}::timestamptz`)})`;

export const factsTables = (personId: Sql): Sql =>
  sql`${person} LEFT JOIN ${credential} ON ${credential.personId} = ${person.id} WHERE ${person.id} = ${personId}`;

export const personFacts = (params: { readonly [Name in keyof FactsParameters]: Value }) => ({
  personId: person.id,
  isHere: sql`(${person.status} = 'ACTIVE' AND ${person.homeSchoolId} IS NOT DISTINCT FROM ${params.schoolId}::uuid)`,
  isBlocked: sql`${person.blockedAt} IS NOT NULL`,
  worksBeyondHome: worksBeyondHome(params.now),
  isStaff: isStaff(params.now),
  isInGroups: isInGroups(params.groupIds),
  generation: credential.generation,
  isKey: sql`${keyOf(params)} = ${normalised(sql`${params.value}::text`, params)}`,
});

const findFacts = makeFind<PersonFacts, FactsParameters & { personId: PersonId }>("upstream.personFacts")`
  SELECT ${(params) => fields<PersonFacts>(personFacts(params))}
    FROM ${(params) => factsTables(sql`${params.personId}::uuid`)}`;

export const findPersonFacts = async (db: Queryable, params: FactsParameters & { personId: PersonId }) =>
  (await findFacts(db, params))[0] ?? null;

export type KeyCounts = { people: number; withKey: number; unique: number };
type OfRule<Rule> = Rule & { schoolId: SchoolId; groupIds: readonly GroupId[] };

const count = makeFindOne<KeyCounts, OfRule<RuleParameters>>("upstream.countKeys")`
    SELECT count(*) FILTER (WHERE is_wanted)::int AS people,
      count(key) FILTER (WHERE is_wanted)::int AS "withKey",
      count(*) FILTER (WHERE is_wanted AND same = 1 AND key IS NOT NULL)::int AS unique
    FROM (SELECT key, is_wanted, count(*) OVER (PARTITION BY key) AS same FROM (
      SELECT ${keyOf} AS key, ${(params) => isInGroups(params.groupIds)} AS is_wanted
      FROM ${person} LEFT JOIN ${credential} ON ${credential.personId} = ${person.id}
      WHERE ${person.homeSchoolId} = ${"schoolId"} AND ${person.status} = 'ACTIVE') AS roster) AS counted`;

/** Counts the people who have the field of a rule, and who have it alone. */
export const countKeys = (db: Queryable, { rule, ...of }: OfRule<{ rule: Omit<Rule, "ruleClaim"> }>) =>
  count(db, { ...toRuleParameters(rule), ...of });
