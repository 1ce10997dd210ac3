import { expect, test } from "vitest";
import { changeDirectory, findGrant } from "../../src/access/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";

const db = await testDatabase();
const make = makeMakers(db);

test("x", async () => {
  const school = await make.school();
  const { clientId } = await make.app();
  const group = await make.group({ school });
  await make.person({ school, groups: [group] });
  await make.grant({ app: clientId, school, groups: [group] });
  const p2 = await make.person({ school });
  await make.membership({ group, person: p2 });
  const { rows } = await db.pool.query("SELECT * FROM app_event ORDER BY seq");
  console.log(rows);
});
