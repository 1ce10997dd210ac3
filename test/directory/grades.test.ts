import { expect, test } from "vitest";
import { findGrades } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);

test("the grade of a person is the highest of their active classes", async () => {
  const school = await make.school();
  const class5 = await make.group({ school, name: "5a" });
  const class6 = await make.group({ school, name: "Klasse 6b" });
  const old = await make.group({ school, name: "7c", status: "DELETED" });
  const course = await make.group({ school, name: "10 Physik", type: "KURS" });
  const both = await make.person({ school, groups: [class5, class6, course] });
  const one = await make.person({ school, groups: [class5, old] });
  const none = await make.person({ school, groups: [course] });
  const grades = await findGrades(db, [both, one, none]);
  expect([...grades]).toEqual([
    [both, 6],
    [one, 5],
    [none, null],
  ]);
});
