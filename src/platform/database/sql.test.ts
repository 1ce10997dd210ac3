import { expect, test } from "vitest";
import {
  columnNames,
  fields,
  identifier,
  insert,
  literal,
  render,
  sql,
  statement,
  table,
  temporaryTable,
  update,
} from "./sql.ts";

const p = table("person", "p");
const g = table("group", "g");

test("tables and columns come from the schema, and reserved names are quoted", () => {
  expect(render(sql`SELECT ${p.homeSchoolId} FROM ${p} JOIN ${g} ON ${g.schoolId} = ${p.homeSchoolId}`).text).toBe(
    'SELECT p.home_school_id FROM person p JOIN "group" g ON g.school_id = p.home_school_id',
  );
  expect(render(sql`DELETE FROM ${table("grant")} WHERE ${table("grant").clientId} = ''`).text).toBe(
    `DELETE FROM "grant" WHERE "grant".client_id = ''`,
  );
  expect(render(columnNames("person", "id", "sortKey")).text).toBe("id, sort_key");
});

test("a parameter that is used twice is one, numbered by its first use, through all pieces", () => {
  const find = statement<{ id: string; school: string }>("find")`
    SELECT ${p.id} FROM ${p} WHERE ${(given) => sql`${p.homeSchoolId} = ${given.school}`} AND ${p.id} = ${"id"}
      AND ${"school"} <> ''`;
  expect(find).toMatchObject({
    name: "find",
    text: expect.stringMatching(/home_school_id = \$1 AND p\.id = \$2\s+AND \$1 <> ''/) as string,
  });
  expect(find.values({ id: "a", school: "b" })).toEqual(["b", "a"]);
});

test("a new row names its columns once, beside their values", () => {
  const add = statement<{ id: string; at: Date }>((given) =>
    insert("tombstone", { personId: given.id, deletedAt: given.at }),
  );
  expect(add.text).toBe("INSERT INTO tombstone (person_id, deleted_at) VALUES ($1,$2)");
  const copy = insert("tombstone", { personId: p.id, deletedAt: p.purgeAt }, sql`FROM ${p}`);
  expect(render(copy).text).toBe("INSERT INTO tombstone (person_id, deleted_at) SELECT p.id,p.purge_at FROM person p");
  const set = update("group", "g", { sortKey: g.name, deletedAt: undefined });
  const change = statement<{ id: string }>()`${set} WHERE ${g.id} = ${"id"}`;
  expect(change.text).toBe('UPDATE "group" g SET sort_key = g.name WHERE g.id = $1');
});

test("what is selected has the names of the row", () => {
  expect(render(sql`SELECT ${fields<{ id: string; schoolId: string }>({ id: g.id, schoolId: g.schoolId })}`).text).toBe(
    'SELECT g.id AS "id",g.school_id AS "schoolId"',
  );
});

test("a temporary table is made, filled and read by the same columns", () => {
  const staged = temporaryTable("staged", { id: "uuid", sourceId: "text" });
  expect(render(staged.create).text).toBe("CREATE TEMPORARY TABLE staged (id uuid, source_id text) ON COMMIT DROP");
  expect(render(staged.insert({ sourceId: p.sourceSystemIdentifier }, sql`FROM ${p}`)).text).toBe(
    "INSERT INTO staged (source_id) SELECT p.source_system_identifier FROM person p",
  );
  expect(render(sql`SELECT ${staged.as("s").sourceId} FROM ${staged.as("s")}`).text).toBe(
    "SELECT s.source_id FROM staged s",
  );
});

test("a temporary table has the primary key that it is given", () => {
  const pair = temporaryTable("pair", { clientId: "text", id: "uuid" }, ["clientId", "id"]);
  expect(render(pair.create).text).toBe(
    "CREATE TEMPORARY TABLE pair (client_id text, id uuid, PRIMARY KEY (client_id, id)) ON COMMIT DROP",
  );
});

test("a literal is quoted, and only a name is an identifier", () => {
  expect(render(sql`SELECT ${literal("it's")} AS ${identifier("b_name")}, ${identifier("asked.id")}`).text).toBe(
    "SELECT 'it''s' AS b_name, asked.id",
  );
  for (const name of ["1; DROP TABLE person", "a.b.c", "Name", ""]) expect(() => identifier(name)).toThrow();
});

test("what the schema does not have, and text from outside, do not compile", () => {
  // @ts-expect-error There is no such column.
  expect(p.shortName).toBeUndefined();
  // @ts-expect-error Text is no SQL.
  expect(() => render(sql`SELECT ${"1; DROP TABLE person"}`)).toThrow();
  // @ts-expect-error A column without a default is missing.
  insert("tombstone", { personId: p.id });
  // @ts-expect-error A field of the row is missing.
  fields<{ id: string; name: string }>({ id: g.id });
});
