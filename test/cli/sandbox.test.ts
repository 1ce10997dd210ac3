import { expect, test } from "vitest";
import { makeTestClock } from "../support/service.ts";
import { makeRemoteWorld } from "./remote-world.ts";

const world = await makeRemoteWorld({ clock: makeTestClock(new Date()) });
const { local, remote, here, there, make, expectSameReading } = world;

type Step = { step: string; doneAt: string | null };
type Made = {
  sandbox: { id: string; steps: Step[] };
  accounts: { kind: string; username: string; password: string }[];
};

test("a sandbox is made, played and deleted on the database and on a remote service", async () => {
  const { clientId } = await make.app({ name: "Lernapp" });
  for (const program of [local, remote]) {
    const { sandbox, accounts } = await program.ask<Made>("sandbox", "create", "--app", clientId);
    expect(accounts.map(({ kind }) => kind)).toContain("UMLAUTS");
    for (const { username, password } of accounts) expect(username.length * password.length).toBeGreaterThan(0);
    await expectSameReading("sandbox", "show", sandbox.id);
    await expectSameReading("sandbox", "list", "--app", clientId);
    const doneAfter = async (...options: string[]) =>
      (await program.ask<{ steps: Step[] }>("sandbox", "play", sandbox.id, ...options)).steps.filter(
        ({ doneAt }) => doneAt !== null,
      ).length;
    expect(await doneAfter()).toBe(1);
    expect(await doneAfter("--up-to", "leave")).toBe(3);
    await program.ask("sandbox", "delete", sandbox.id);
    await expectSameReading("sandbox", "show", sandbox.id);
  }
  expect(await here(["sandbox", "create"])).toMatchObject({ code: 2 });
  expect(await there(["sandbox", "create", "--app", "none"])).toMatchObject({ code: 3 });
});
