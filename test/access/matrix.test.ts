import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadDemoWorld } from "../../demo/load.ts";
import demo from "../../demo/demo.json" with { type: "json" };
import { setPasswordHash } from "../../src/accounts/index.ts";
import { makeMakers } from "../support/make.ts";
import { hashQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { makeMatrixWorld } from "./matrix-world.ts";
import type { World } from "./matrix-world.ts";
import { printMatrix } from "./matrix-print.ts";

const service = await startService();
const demoService = await startService();
const ownIdsService = await startService();
const file = join(import.meta.dirname, "matrix.txt");

const introduction = `# Who sees what, printed through the endpoints. A change here is a change of what schools share.
# Written anew only by: UPDATE_MATRIX=1 npx vitest run test/access/matrix.test.ts --project fast
`;

test("every app sees of every school, group and person exactly what the committed matrix says", async () => {
  const own = await printMatrix(service, await makeMatrixWorld(makeMakers(service.db, service.clock()), "SHARED"));

  await loadDemoWorld(demoService.db, {
    now: demoService.clock(),
    production: false,
    restoreWindowDays: 30,
    hashPassword: hashQuickly,
    setPasswordHash,
  });
  const logins = new Map(demo.people.map(({ id, username, password }) => [id, { username, password }]));
  const ofDemo = await printMatrix(demoService, demoWorld(), (personId) => logins.get(personId));

  const matrix = `${introduction}\n# A world with one of each case\n\n${own}\n# The demo world\n\n${ofDemo}`;
  if (process.env["UPDATE_MATRIX"] === "1") await writeFile(file, matrix);
  expect(matrix).toBe(await readFile(file, "utf8"));
});

test("an app with ids of its own, with names or without, sees the same by them", async () => {
  const world = await makeMatrixWorld(makeMakers(ownIdsService.db, ownIdsService.clock()), "APP");
  const matrix = await readFile(file, "utf8");
  for (const name of ["reader", "nameless"]) {
    const printed = await printMatrix(ownIdsService, { ...world, apps: { [name]: world.apps[name]! } });
    expect(matrix.includes(`\n${printed}\n`) ? "as in the matrix" : printed, name).toBe("as in the matrix");
  }
});

function demoWorld(): World {
  const byLabel = (rows: { id: string }[]) =>
    Object.fromEntries(rows.map(({ id }) => [`…${id[0]!}${id.slice(-2)}`, id]));
  const apps = demo.apps.map(({ clientId, clientSecret, redirectUris }) => [
    clientId,
    { clientId, clientSecret, redirectUri: redirectUris[0] },
  ]);
  return {
    apps: Object.fromEntries(apps),
    schools: byLabel(demo.schools),
    groups: byLabel(demo.groups),
    people: byLabel(demo.people),
  } as World;
}
