import { beforeEach, expect, test } from "vitest";
import { makeMakers } from "../support/make.ts";
import { testDatabase } from "../support/database.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { makeOperator, runHere } from "./program.ts";

hashAllQuickly();
const db = await testDatabase();
const make = makeMakers(db);
const run = runHere({ DATABASE_URL: db.url });
const { ask, refusal } = makeOperator(run);

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
type Roles = { roles: { id: string; role: string; holder: object; schoolIds: string[]; clientIds: string[] }[] };
let [school, person, app]: string[] = [];

beforeEach(async () => {
  await db.prisma.staffRole.deleteMany();
  const schoolId = await make.school();
  [school, person, app] = [schoolId, await make.person({ school: schoolId }), (await make.app()).clientId];
});

test("the first operator is made on the command line, is listed, and stays until there is another", async () => {
  const { id } = await ask("staff", "give", "OPERATOR", "--app", app!);
  expect(await ask<Roles>("staff", "list")).toMatchObject({
    roles: [{ id, role: "OPERATOR", holder: { clientId: app }, schoolIds: [], clientIds: [] }],
  });
  expect(await refusal("staff", "withdraw", id)).toMatchObject({ exitCode: 3, code: "last_operator" });
  const second = await ask("staff", "give", "operator", "--person", person!);
  await ask("staff", "withdraw", id);
  expect((await ask<Roles>("staff", "list")).roles).toMatchObject([{ id: second.id }]);
  expect(await refusal("staff", "withdraw", id)).toMatchObject({ code: "staff_role_not_found" });
});

test("roles for schools, for apps and for a time are given and found", async () => {
  const give = (...args: string[]) => ask("staff", "give", ...args);
  const admin = await give("SCHOOL_ADMIN", "--person", person!, "--school", school!);
  const partner = await give("PARTNER", "--person", person!, "--for-app", app!);
  const support = await give(
    ...["SUPPORT", "--person", person!, "--school", school!, "--reason", "Ticket 17", "--ends", inDays(13)],
  );
  const tooLong = ["--school", school!, "--reason", "Ticket 18", "--ends", inDays(16)];
  expect(await refusal("staff", "give", "SUPPORT", "--person", person!, ...tooLong)).toMatchObject({
    code: "role_too_long",
  });
  const listed = async (...filter: string[]) =>
    (await ask<Roles>("staff", "list", ...filter)).roles.map(({ id }) => id).sort();
  expect(await listed("--school", school!)).toEqual([admin.id, support.id].sort());
  expect(await listed("--app", app!)).toEqual([partner.id]);
  expect(await listed("--person", person!, "--role", "SUPPORT")).toEqual([support.id]);
  const lines = await ask<{ lines: object[] }>("audit", "list", "--action", "staff_role_given", "--app", app!);
  expect(lines.lines).toMatchObject([
    { actor: { program: "command-line" }, personId: person, detail: { role: "PARTNER" } },
  ]);
});

test("a role for an app that a partner manages is confirmed", async () => {
  const [managed, partner] = [(await make.app()).clientId, await make.person({ school: await make.school() })];
  await ask("staff", "give", "PARTNER", "--person", partner, "--for-app", managed);
  const give = ["staff", "give", "SECRETARY", "--app", managed, "--school", school!];
  expect(await refusal(...give)).toMatchObject({ exitCode: 3, code: "partners_not_confirmed" });
  expect(await ask(...give, "--confirm-partners")).toMatchObject({ holder: { clientId: managed } });
});

test("what a role lacks and what is no role is refused", async () => {
  expect(await refusal("staff", "give", "SECRETARY", "--person", person!)).toMatchObject({
    exitCode: 3,
    code: "role_scope_refused",
  });
  expect(await run(["staff", "give", "OPERATOR"])).toMatchObject({ code: 2 });
  expect(await run(["staff", "give", "OPERATOR", "--app", app!, "--person", person!])).toMatchObject({ code: 2 });
  expect(await run(["staff", "give", "JANITOR", "--person", person!])).toMatchObject({ code: 2 });
});

test("the first operator of a new installation is one command, and the last one is not deleted", async () => {
  type People = { people: { id: string; username: string; roles: { role: string }[]; status: string }[] };
  const create = (username: string) =>
    ask("staff", "create", "OPERATOR", "--username", username, "--first", "Zoe Maria", "--last", "Probst");
  const first = await create("Zoe.Probst");
  expect(first).toMatchObject({ username: "zoe.probst", password: expect.any(String) as string });
  expect(
    await refusal("staff", "create", "OPERATOR", ...["--username", "zoe.probst", "--first", "Z", "--last", "P"]),
  ).toMatchObject({ code: "username_taken" });
  expect(await refusal("staff", "delete", "zoe.probst")).toMatchObject({ exitCode: 3, code: "last_operator" });

  const second = await create("second");
  expect(
    (await ask<People>("staff", "people")).people
      .map(({ username, roles }) => [username, roles.map(({ role }) => role)])
      .sort(),
  ).toEqual([
    ["second", ["OPERATOR"]],
    ["zoe.probst", ["OPERATOR"]],
  ]);
  const renewed = await ask("staff", "new-password", "second");
  expect([renewed.id, renewed.password === second.password]).toEqual([second.id, false]);
  const credential = await db.prisma.credential.findUniqueOrThrow({ where: { personId: second.id } });
  expect(credential.mustChange).toBe(true);
  await ask("staff", "delete", "zoe.probst");
  expect((await ask<People>("staff", "people", "--search", "zoe.p")).people).toMatchObject([
    { status: "SOFT_DELETED" },
  ]);
  expect(await refusal("staff", "delete", "second")).toMatchObject({ code: "last_operator" });
});
