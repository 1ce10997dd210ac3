import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/index.ts";
import type { Command } from "../../src/cli/command.ts";
import { testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { runHere } from "./program.ts";

const folder = mkdtempSync(join(tmpdir(), "no-database-"));
atFileEnd(() => rmSync(folder, { recursive: true }));
const dataDir = join(folder, "data");

/** Values of the kinds that arguments and options have. */
const values = ["0198c2f4-0000-7000-8000-000000000000", "1", "2026-01-01T00:00:00Z", "https://app.example/hook"];

/** The first value that is read without an error. */
function valueFor(words: readonly string[] | undefined, readOne: (text: string) => unknown): string {
  for (const value of [...(words ?? []), ...values]) {
    try {
      readOne(value);
      return value;
    } catch {
      // The next one.
    }
  }
  throw new Error(`no value fits ${String(readOne)}`);
}

const dashed = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const wordsOf = ({ args, options, irreversible }: Command): string[] => [
  ...Object.values(args).map((argument) => valueFor(argument.words, (text) => argument.read(text))),
  ...Object.entries(options)
    .filter(([, { isRequired }]) => isRequired)
    .flatMap(([name, option]) => [dashed(name), valueFor(option.words, (text) => option.read([text]))]),
  ...(irreversible === undefined ? [] : ["--yes"]),
];

async function listCommands(): Promise<[name: string, command: Command][]> {
  const listed = await Promise.all(
    Object.entries(commands).map(async ([name, entry]): Promise<[string, Command][]> => {
      if (!("load" in entry)) return [[name, entry]];
      return Object.entries((await entry.load()).verbs).map(([verb, command]) => [`${name} ${verb}`, command]);
    }),
  );
  return listed.flat().filter(([, command]) => command.on !== "its own");
}

/** They work without a database. */
const needNone = ["app update", "database where", "check-config", "restore"];
const clear = /There is no database in .*schultor login|This command needs a running service/;

test("in a folder without a database, every command says so or which option is missing, and makes none", async () => {
  const run = runHere({ NODE_ENV: "test", DATA_DIR: dataDir });
  const unclear: string[] = [];
  for (const [name, command] of await listCommands()) {
    // It is there to make one.
    if (name === "migrate") continue;
    const { code, err } = await run([...name.split(" "), ...wordsOf(command)]);
    expect(existsSync(dataDir), name).toBe(false);
    if (needNone.includes(name)) continue;
    if (code !== 2 && !(code === 3 && clear.test(err))) unclear.push(`${name}: ${code} ${err}`);
  }
  expect(unclear).toEqual([]);
});

test("an empty database is told, with what to do first", async () => {
  const { url, pool } = await testDatabase();
  await pool.query('DROP TABLE "_prisma_migrations"');
  expect(await runHere({ DATABASE_URL: url })(["rotate-signing-keys"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("The database is empty") as string,
  });
});

test("restore says what is wrong with a backup, before it makes anything", async () => {
  const run = runHere({ NODE_ENV: "test", DATA_DIR: dataDir });
  const unfinished = join(folder, "unfinished");
  mkdirSync(join(unfinished, "global"), { recursive: true });
  writeFileSync(join(unfinished, "PG_VERSION"), "15\n");
  const older = join(folder, "older");
  cpSync(unfinished, older, { recursive: true });
  writeFileSync(join(older, "global/pg_control"), "");
  writeFileSync(join(folder, "dump"), "PGDMP");
  for (const [place, said] of [
    ["nowhere", "There is no "],
    [folder, "is not a backup of the embedded database"],
    [unfinished, "is not a backup of the embedded database"],
    [join(folder, "dump"), "set DATABASE_URL to an empty database"],
    [older, "was made by PostgreSQL 15"],
  ] as const) {
    expect(await run(["restore", place]), place).toMatchObject({ code: 1, err: expect.stringContaining(said) });
    expect(existsSync(dataDir), place).toBe(false);
  }
});
