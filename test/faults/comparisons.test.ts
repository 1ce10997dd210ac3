// @module-tag slow
import { expect, test } from "vitest";
import { findDifferences, viewOfApp, type PersonRecord } from "../drills/faults/contents.ts";
import { watchServerErrors } from "../drills/faults/server-errors.ts";

const name = { firstFull: "Ada", firstCall: "Ada", last: "Nr 1" };
const record: PersonRecord = { id: "p1", role: "STUDENT", status: "ACTIVE", name, groups: [{ id: "g1", name: "5a" }] };

test("the faults drill finds a record that is lost, and every field that is not as it was acknowledged", () => {
  const acknowledged = { record, unanswered: [] };
  expect(findDifferences(acknowledged, structuredClone(record))).toEqual([]);
  expect(findDifferences(acknowledged, null)).toEqual(["p1 is lost"]);
  for (const [field, planted] of Object.entries({
    role: "TEACHER",
    name: { ...name, last: "Nr 0" },
    groups: [],
    status: undefined,
  }))
    expect(findDifferences(acknowledged, { ...record, [field]: planted })).toEqual([
      expect.stringContaining(`p1: ${field} is `) as string,
    ]);
});

test("a change without an answer may have been made or not, and nothing else", () => {
  const renamed = { ...name, firstCall: "Bo" };
  const acknowledged = { record, unanswered: [{ name: renamed }] };
  expect(findDifferences(acknowledged, record)).toEqual([]);
  expect(findDifferences(acknowledged, { ...record, name: renamed })).toEqual([]);
  expect(findDifferences(acknowledged, { ...record, name: { ...name, firstCall: "Cy" } })).toHaveLength(1);
  expect(findDifferences(acknowledged, { ...record, role: "TEACHER" })).toHaveLength(1);
});

test("what an app sees of a record is compared too", () => {
  const seen = { id: "p1", role: "STUDENT", name, groups: [{ id: "g1", roles: [] }], sourceSystemIdentifier: null };
  expect(viewOfApp(seen)).toEqual(viewOfApp(record));
  expect(
    findDifferences({ record: viewOfApp(record), unanswered: [] }, viewOfApp({ ...seen, groups: [] })),
  ).toHaveLength(1);
});

test("server_error of the token endpoint is a fault unless it was asked for while the database was away", () => {
  let at = 0;
  const errors = watchServerErrors(() => at);
  errors.note(0, "before any fault");
  at = 10_000;
  errors.begin("kill-postgres", true);
  at = 11_000;
  errors.note(9_900, "asked before, answered after");
  errors.note(10_900, "while it is away");
  errors.databaseIsBack();
  at = 20_000;
  errors.note(11_500, "on a connection that broke");
  errors.note(13_000, "after it is back");
  errors.begin("kill-web", false);
  at = 20_100;
  errors.note(20_050, "without a reason");
  expect(errors.count("kill-postgres")).toBe(4);
  const told = (fault: string, ms: number, description: string) =>
    `server_error of /oauth2/token with the database there: ${fault}, asked ${ms} ms after it: ${description}`;
  expect(errors.wrongs()).toEqual([
    told("none", 0, "before any fault"),
    told("kill-postgres", 3000, "after it is back"),
    told("kill-web", 50, "without a reason"),
  ]);
});
