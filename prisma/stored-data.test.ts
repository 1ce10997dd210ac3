import { expect, test } from "vitest";
import { describeSealedColumns, describeStoredData, type DescribedModel } from "./stored-data.ts";

const makeModel = (kept: string | undefined, data: string | undefined): DescribedModel => ({
  name: "StaffRole",
  dbName: "staff_role",
  documentation: kept,
  fields: [
    { name: "givenAt", dbName: "given_at", kind: "scalar", documentation: data },
    { name: "person", kind: "object" },
  ],
});

test("a field without a category, and a model without a period, do not generate", () => {
  expect(() => describeStoredData([makeModel("@kept AUDIT", undefined)])).toThrow(
    "StaffRole.givenAt: write `/// @data <category>` behind the field",
  );
  expect(() => describeStoredData([makeModel(undefined, "@data staffRoles")])).toThrow(
    "StaffRole: write `/// @kept <period>` above the model",
  );
  expect(() => describeStoredData([makeModel("@kept AUDIT", "@data none")])).toThrow("StaffRole: remove `/// @kept`");
});

test("columns have the names of the database", () => {
  expect(describeStoredData([makeModel("@kept AUDIT", "@data staffRoles")])).toContain(`  staff_role: {
    until: "AUDIT",
    columns: {
      given_at: "staffRoles",
    },
  },`);
});

test("an encrypted column is listed with what it holds and how it is opened", () => {
  const opened = makeModel("@kept AUDIT", "@sealed notes\n@purpose 'note ' || id\n@keys admin\n@data staffRoles");
  expect(describeSealedColumns([opened, makeModel(undefined, "@data none")])).toContain(
    `= [\n  {"column":"staff_role.given_at","holds":"notes","purpose":"'note ' || id","keys":"admin"},\n];`,
  );
});
