import { render, sql, table, temporaryTable, type Columns, type Part, type Sql } from "../../platform/database/sql.ts";

/*
 * The effect of an import on one school, in temporary tables; a null `change` means unchanged. `is_gone` marks people
 * and groups that the files delete or omit, whose memberships stay. `leaves` with `next_home` is a person who leaves
 * this home for another of their schools. `is_silent` is a person of whom the files do not say in which groups they
 * are. `is_kept` is a person whom a staff role protects from removal. `ends_otherwise` is a group that would end if it
 * were not carried over.
 */
const flag = "bool NOT NULL DEFAULT false";

export const importPerson = temporaryTable("import_person", {
  id: "uuid",
  sourceId: "text",
  role: "person_role",
  formerRole: "person_role",
  firstFull: "text",
  firstCall: "text",
  last: "text",
  sortKey: "text",
  change: "text",
  joins: flag,
  leaves: flag,
  leftHome: "uuid",
  nextHome: "uuid",
  isGone: flag,
  isStaged: flag,
  isSilent: flag,
  isKept: flag,
});

export const importGroup = temporaryTable("import_group", {
  id: "uuid",
  sourceId: "text",
  name: "text",
  sortKey: "text",
  type: "group_type",
  change: "text",
  previousSourceId: "text",
  isGone: flag,
  endsOtherwise: flag,
});

export const importMembership = temporaryTable("import_membership", {
  groupId: "uuid",
  personId: "uuid",
  role: "person_role",
  change: "text",
});

const tables = [importPerson, importGroup, importMembership];

export const createTables = [
  render(sql`DROP TABLE IF EXISTS ${importPerson.as()}, ${importGroup.as()}, ${importMembership.as()}`).text,
  ...tables.map(({ create }) => render(create).text),
].join("; ");

/** Only the join columns: names would take longer. */
export const analyzePeople = "ANALYZE import_person (id, source_id, change, is_gone)";
export const analyzeGroups = "ANALYZE import_group (id, source_id, change, is_gone)";
export const analyzeMemberships = "ANALYZE import_membership (group_id, person_id, change)";

/** What an import changes. */
export const directoryTables = ["person", "affiliation", "group", "membership"];

export const planned = importPerson.as("planned");
export const plannedGroup = importGroup.as("planned_group");
export const plannedMembership = importMembership.as("planned_membership");
export const p = table("person", "p");
export const g = table("group", "g");
export const m = table("membership", "m");
export const a = table("affiliation", "a");

/**
 * SQL condition: the school is one of these, for a person who is looked up by another key. `IS TRUE` keeps it out of
 * the conditions of an index: PostgreSQL would count one search per school, and read all people of all schools instead.
 */
export const isAmong = (schoolId: Sql, schools: Part): Sql => sql`(${schoolId} = ANY (${schools}::uuid[])) IS TRUE`;

export const leaves = sql`(${planned.change} = 'removed' OR ${planned.leaves})`;

/** SQL: the group `g` is active once `of` of the difference is applied. */
export const isActiveAfter = (of: Columns<"isGone" | "change">) => sql`(${of.isGone} IS NOT TRUE
  AND (${g.status} = 'ACTIVE' OR ${of.change} IN ('created', 'restored', 'carried_over')))`;
