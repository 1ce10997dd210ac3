import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import demo from "../../demo/demo.json" with { type: "json" };
import { startDemo } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { makeMatrixWorld } from "./matrix-world.ts";
import type { World } from "./matrix-world.ts";
import { printMatrix } from "./matrix-print.ts";

const introduction = `# Who sees what, printed through the endpoints. A change here is a change of what schools share.
# Written anew only by: UPDATE_MATRIX=1 npx vitest run test/access/matrix.test.ts --project fast
`;

async function expectCommitted(name: string, printed: string): Promise<void> {
  const file = join(import.meta.dirname, name);
  const matrix = `${introduction}\n${printed}`;
  if (process.env["UPDATE_MATRIX"] === "1") await writeFile(file, matrix);
  expect(matrix).toBe(await readFile(file, "utf8"));
}

/** Made before the tests, which take long enough. */
const startWorld = async (subjectType: "SHARED" | "APP") => {
  const service = await startService();
  return { service, world: await makeMatrixWorld(makeMakers(service.db, service.clock()), subjectType) };
};

const worlds = { SHARED: await startWorld("SHARED"), APP: await startWorld("APP") };

test("every app sees of every school, group and person exactly what the committed matrix says", async () => {
  const { service, world } = worlds.SHARED;
  await expectCommitted("matrix.txt", await printMatrix(service, world));
});

test("each app of the demo world sees exactly what its committed matrix says", async () => {
  await expectCommitted("demo-matrix.txt", await printMatrix(await startDemo(), demoWorld()));
});

test("an app with ids of its own, with names or without, sees the same by them", async () => {
  const { service, world } = worlds.APP;
  const matrix = await readFile(join(import.meta.dirname, "matrix.txt"), "utf8");
  for (const name of ["reader", "nameless"]) {
    const printed = await printMatrix(service, { ...world, apps: { [name]: world.apps[name]! } });
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
