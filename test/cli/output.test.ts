import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeOperator, runHere } from "./program.ts";

const env = { DATABASE_URL: (await testDatabase()).url };
const run = runHere(env);

await run(["app", "create", "--name", "Lernapp", "--client-id", "lernapp"]);
const exists = async () => (await run(["app", "show", "lernapp"])).code === 0;

test("a person at a terminal is asked: everything but yes changes nothing", async () => {
  for (const answer of ["", "n", "nope"]) {
    const { code, err } = await runHere(env, answer)(["app", "delete", "lernapp"]);
    expect(code).toBe(1);
    expect(err).toMatch(/lernapp: This deletes the app .* Continue\? \[y\/N\] \nNothing was changed\.\n/);
  }
  expect(await exists()).toBe(true);
  expect(await runHere(env, "y")(["app", "delete", "lernapp"])).toMatchObject({ code: 0, out: "App deleted.\n" });
  expect(await exists()).toBe(false);
});

test("the removal of the database is asked about", async () => {
  expect(await run(["database", "remove"])).toMatchObject({ code: 2, err: expect.stringContaining("add --yes") });
});

test("the secret of an app is shown when it is made, and not again", async () => {
  const { ask } = makeOperator(run);
  const { clientId, clientSecret } = await ask("app", "create", "--name", "Geheim");
  const asked = [
    ["app", "show", clientId],
    ["app", "list"],
    ["app", "list", "--json"],
  ];
  for (const { out } of await Promise.all(asked.map(run))) {
    expect(out).toContain(clientId);
    expect(out).not.toContain(clientSecret);
    expect(out.toLowerCase()).not.toContain("secrethash");
  }
});
