import { render, sql, table, temporaryTable } from "../platform/database/sql.ts";

/*
 * What an import would do to one school: temporary tables that go with the transaction, `change` null for what stays.
 *
 * `is_gone` marks people and groups that the files delete or do not name, whether or not that was done before; no
 * statement touches memberships of those. `leaves` with `next_home` is a person whose home ends and who stays at
 * another school. `is_kept` is a person who would be removed but stays, for what they are for the staff.
 */
const flag = "bool NOT NULL DEFAULT false";

export const importPerson = temporaryTable("import_person", {
  id: "uuid",
  sourceId: "text",
  role: "person_role",
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
});

export const importMembership = temporaryTable("import_membership", {
  groupId: "uuid",
  personId: "uuid",
  role: "person_role",
  change: "text",
});

const tables = [importPerson, importGroup, importMembership];

/** SQL that makes the tables anew. */
export const createTables = [
  render(sql`DROP TABLE IF EXISTS ${importPerson.as()}, ${importGroup.as()}, ${importMembership.as()}`).text,
  ...tables.map(({ create }) => render(create).text),
].join("; ");

/** Statements that let PostgreSQL count the columns by which the tables are joined; those of names take longer. */
export const analyzePeople = "ANALYZE import_person (id, source_id, change, is_gone)";
export const analyzeGroups = "ANALYZE import_group (id, source_id, change, is_gone)";
export const analyzeMemberships = "ANALYZE import_membership (group_id, person_id, change)";

/** The tables under the aliases that all statements give them. */
export const i = importPerson.as("i");
export const p = table("person", "p");
export const g = table("group", "g");
export const m = table("membership", "m");
export const a = table("affiliation", "a");
