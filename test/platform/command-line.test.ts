// @module-tag slow
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { testDatabase } from "../support/database.ts";
import { startMain, startProgram } from "../support/program.ts";

const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

async function run(args: string[], env: Record<string, string> = {}) {
  const program = startProgram(["src/schultor.ts", ...args], env);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

const listKids = async (url: string) => {
  const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

test("help lists every command and ends with 0", async () => {
  const { code, output } = await run(["help"]);
  expect(code).toBe(0);
  for (const command of ["rotate-signing-keys", "migrate", "check-config"]) expect(output).toContain(command);
});

test.each([[[]], [["dance"]], [["toString"]], [["migrate", "now"]], [["migrate", "--fast"]]])(
  "%j is wrong usage: code 2 and the help",
  async (args) => {
    const { code, output } = await run(args);
    expect(code).toBe(2);
    expect(output).toContain("Usage:");
  },
);

test("a wrong configuration ends with 78, as JSON when asked", async () => {
  const { code, output } = await run(["check-config", "--json"], { PORT: "abc" });
  expect(code).toBe(78);
  expect((JSON.parse(output) as { error: string }).error).toContain("PORT=abc");
});

test("an unreachable database ends with 1 and says what to check", async () => {
  const { code, output } = await run(["migrate"], {
    DATABASE_URL: (await testDatabase()).url.replace("/schultor_test", "/no_such"),
  });
  expect(code).toBe(1);
  expect(output).toContain("Check DATABASE_URL");
});

test("rotating keys of an empty database ends with 1 and says what to do first", async () => {
  const { url, pool } = await testDatabase();
  await pool.query('DROP TABLE "_prisma_migrations"');
  expect(await run(["rotate-signing-keys"], { DATABASE_URL: url })).toEqual({
    code: 1,
    output: expect.stringContaining("The database is empty") as string,
  });
});

test.each([[["school", "list"]], [["backup", "copy"]], [["sandbox", "play", crypto.randomUUID()]]])(
  "where there is no database, %j makes none and says what to do",
  async (args) => {
    const folder = makeDataDir();
    const missing = join(folder, "my-app/.data");
    expect(await run(args, { DATA_DIR: missing })).toEqual({
      code: 3,
      output: expect.stringMatching(/There is no database in .*my-app.*schultor login/) as string,
    });
    expect(readdirSync(folder)).toEqual([]);
    removeDataDir(folder);
  },
);

test("under a running service on its embedded database schools are made and signing keys rotated: the next key signs, a new one is published, the old one stays", async () => {
  const service = await startMain({ DATA_DIR: dataDir });
  const school = "--name Deichschule --official-id DE-NI-1 --street Weg --zip 21680 --city Stade --state NI".split(" ");
  expect(await run(["school", "create", ...school], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  expect((await run(["school", "list"], { DATA_DIR: dataDir })).output).toContain("Deichschule");
  const before = await listKids(service.url);
  const { code, output } = await run(["rotate-signing-keys", "--json"], { DATA_DIR: dataDir });
  expect(code).toBe(0);
  const { active } = JSON.parse(output) as { active: { algorithm: string; kid: string }[] };
  for (const { kid } of active) expect(before).toContain(kid);
  await expect.poll(() => listKids(service.url)).not.toEqual(before);
  const after = await listKids(service.url);
  expect(after).toEqual(expect.arrayContaining(before));
  expect(after).toHaveLength(before.length + active.length);
  service.child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
});

test("after re-encrypting the old key can be taken away", async () => {
  const { url } = await testDatabase();
  const [oldKey, newKey] = [1, 2].map((start) =>
    Buffer.from(Array.from({ length: 32 }, (_, at) => start * 7 + at)).toString("base64"),
  ) as [string, string];
  const startWith = async (keys: string) => {
    const service = await startMain({ DATABASE_URL: url, ENCRYPTION_KEYS: keys });
    const kids = await listKids(service.url);
    service.child.kill("SIGTERM");
    await service.ended;
    return kids;
  };
  const before = await startWith(oldKey);
  expect(await run(["re-encrypt"], { DATABASE_URL: url, ENCRYPTION_KEYS: `${newKey},${oldKey}` })).toMatchObject({
    code: 0,
  });
  expect(await startWith(newKey)).toEqual(before);
  expect(await run(["re-encrypt"], { DATABASE_URL: url, ENCRYPTION_KEYS: oldKey })).toMatchObject({
    code: 1,
    output: expect.stringContaining("None of the encryption keys") as string,
  });
});

test("signing keys are rotated while the service is stopped", async () => {
  expect(await run(["rotate-signing-keys"], { DATA_DIR: dataDir })).toMatchObject({ code: 3 });
  const { code, output } = await run(["rotate-signing-keys", "--force"], { DATA_DIR: dataDir });
  expect(output).toMatch(/RS256 tokens are now signed with/);
  expect(code).toBe(0);
});
