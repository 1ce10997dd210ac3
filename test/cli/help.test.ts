import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/index.ts";
import { makeProgram } from "../../src/cli/program.ts";
import type { Command, Noun } from "../../src/cli/command.ts";
import { runHere } from "./program.ts";

const here = runHere({});
const run = (...args: string[]) => here(args);

const entries = Object.entries(commands);
const nouns: { name: string; verbs: Noun["verbs"] }[] = [];
const all: { path: string[]; command: Command }[] = [];
for (const [name, entry] of entries) {
  if ("run" in entry) all.push({ path: [name], command: entry });
  else {
    const { verbs } = await entry.load();
    nouns.push({ name, verbs });
    for (const [verb, command] of Object.entries(verbs)) all.push({ path: [name, verb], command });
  }
}

test.each([["help"], ["--help"], ["-h"]])(
  "%s lists every command and the exit codes, and ends with 0",
  async (word) => {
    const { code, out } = await run(word);
    expect(code).toBe(0);
    for (const [name] of entries) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(out).toContain("Exit codes: 0 done, 1 failed or found something wrong, 2 wrong usage, 3 refused");
  },
);

test("each noun has help that lists its verbs", async () => {
  for (const { name, verbs } of nouns) {
    const { code, out } = await run(name, "--help");
    expect(code, name).toBe(0);
    for (const verb of Object.keys(verbs)) expect(out, name).toMatch(new RegExp(`^  ${verb}( |$)`, "m"));
    expect(await run("help", name)).toEqual({ code, out, err: "" });
  }
});

test("each command has help that names all it takes, each with its meaning", async () => {
  for (const { path, command } of all) {
    const what = path.join(" ");
    const { code, out } = await run(...path, "--help");
    expect(code, what).toBe(0);
    expect(command.summary).toMatch(/^[A-Z].*[.…]$/);
    const warnings = out.split("\nUsage:")[0]!.match(/cannot be undone/g) ?? [];
    expect(warnings, `${what}: said once`).toHaveLength(command.irreversible === undefined ? 0 : 1);
    for (const [name, { label = name }] of Object.entries(command.args)) expect(out, what).toContain(`<${label}>`);
    for (const [name, option] of Object.entries(command.options)) {
      const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(out, what).toContain(`--${dashed}`);
      // Those of every command are read first, so that this one would never be.
      expect(
        makeProgram(commands).options.some(({ long }) => long === `--${dashed}`),
        `${what} ${name}`,
      ).toBe(false);
      expect(option.meaning, `${what} ${name}`).toMatch(/\.$/);
    }
  }
});

test("commands.txt lists the arguments and options of every command", async () => {
  const lineOf = ({ path, command }: (typeof all)[number]): string => {
    const taken = Object.entries(command.args).map(([name, { label = name }]) => `<${label}>`);
    const offered = Object.entries(command.options).map(([name, option]) => {
      const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const written = `--${dashed}${option.placeholder === null ? "" : ` <${option.placeholder}>`}`;
      return `${option.isRequired ? written : `[${written}]`}${option.isList ? "…" : ""}`;
    });
    return [...path, ...taken, ...offered.toSorted()].join(" ");
  };
  const lines = all.map(lineOf).toSorted();
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "commands.txt"));
});

const id = "00000000-0000-7000-8000-000000000000";

test.each<[claim: string, args: string[], message: string]>([
  ["no command", [], "A command is missing."],
  ["an unknown command", ["dance"], "Unknown command 'dance'."],
  ["what every object has", ["toString"], "Unknown command 'toString'."],
  ["a noun without a verb", ["school"], "A verb is missing."],
  ["an unknown verb", ["school", "burn"], "Unknown command 'burn'."],
  ["a misspelt command", ["scool"], "Unknown command 'scool'. Did you mean school?"],
  ["a misspelt verb", ["school", "lsit"], "Unknown command 'lsit'. Did you mean list?"],
  ["a misspelt option", ["school", "list", "--serch", "x"], "Unknown option '--serch'. Did you mean --search?"],
  ["a misspelt word", ["membership", "add", id, id, "--role", "TECHER"], "Did you mean 'TEACHER'?"],
  ["an unknown output", ["school", "list", "--output", "xml"], "--output is one of table, json, csv."],
  [
    "a second platform name and none",
    ["app", "update", "app", "--scope-platform", "old", "--no-scope-platform"],
    "Give --scope-platform or --no-scope-platform, not both.",
  ],
  ["two ways of PKCE", ["app", "update", "app", "--pkce", "--no-pkce"], "Give --pkce or --no-pkce, not both."],
  ["a missing argument", ["person", "show"], "Missing required argument 'person'."],
  ["an argument too many", ["person", "show", id, id], "Too many arguments for 'show'. Expected 1 argument but got 2."],
  ["an id that is none", ["import", "show", "Bo"], "<import>: 'Bo' is not an id"],
  ["an empty name", ["person", "show", ""], "<person>: the value is empty."],
  ["a missing option", ["group", "rename", id], "Required option '--name <text>' not specified."],
  ["an option without its value", ["group", "rename", id, "--name"], "--name"],
  ["an unknown option", ["school", "list", "--fast"], "--fast"],
  ["an option in place of a value", ["group", "rename", id, "--name", "-x"], "is written --name=-x."],
  ["an empty remote", ["school", "list", "--remote", ""], "--remote is missing its value"],
  ["an option given twice", ["school", "list", "--limit", "1", "--limit", "2"], "--limit is given more than once."],
  ["a number that is none", ["school", "list", "--limit", "many"], "--limit: 'many' is not a whole number."],
  [
    "an unknown word",
    ["membership", "add", id, id, "--role", "BOSS"],
    "--role: 'BOSS' is not one of STUDENT, TEACHER, OTHER.",
  ],
  [
    "half a name",
    ["person", "create", "--school", id, "--role", "OTHER", "--last", "Muster"],
    "A name needs --first-full and --last.",
  ],
  ["an empty list", ["person", "create", "--role", "STUDENT", "--school", ""], "--school: a value is empty."],
  [
    "roles for everybody",
    ["grant", "set", "app", id, "--sign-on", "everybody", "--role", "TEACHER"],
    "--role belongs to --sign-on roles",
  ],
  [
    "two ways at once",
    ["sync", "groups", "app", id, "--none", "--add", id],
    "Give --set, --none, or --add and --remove.",
  ],
])("%s is wrong usage: code 2, the reason and the help, no stack trace", async (_claim, args, message) => {
  const { code, out, err } = await run(...args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(message);
  expect(err).toContain("Usage:");
  expect(err).not.toMatch(/^\s+at /m);
  expect(JSON.parse((await run(...args, "--json")).err)).toMatchObject({ code: "wrong_usage" });
});

test("a wrong verb shows the help of its noun", async () => {
  const { err } = await run("group", "burn");
  expect(err).toContain((await run("group", "--help")).out.trim());
});

test("help is printed wherever it is asked for", async () => {
  const help = await run("help", "school", "list");
  const calls = ["--help school list", "school -h list", "school list --limit x --help", "-qh school list x"];
  for (const call of calls) expect(await run(...call.split(" ")), call).toEqual(help);
  expect(await run("school", "burn", "--help")).toMatchObject({ code: 2, out: "" });
});

test("--version prints the version of the package", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: "schultor 0.1.0\n", err: "" });
});
