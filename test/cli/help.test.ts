import { expect, test } from "vitest";
import { commands } from "../../src/cli/index.ts";
import { runHere } from "./program.ts";

const here = runHere({});
const run = (...args: string[]) => here(args);

const entries = Object.entries(commands);
const nouns = entries.flatMap(([name, entry]) => ("verbs" in entry ? [{ name, ...entry }] : []));
const all = entries.flatMap(([name, entry]) =>
  "verbs" in entry
    ? Object.entries(entry.verbs).map(([verb, command]) => ({ path: [name, verb], command }))
    : [{ path: [name], command: entry }],
);

test.each([["help"], ["--help"], ["-h"]])(
  "%s lists every command and the exit codes, and ends with 0",
  async (word) => {
    const { code, out } = await run(word);
    expect(code).toBe(0);
    for (const [name] of entries) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(out).toContain("Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused");
  },
);

test.each(nouns)("$name has help that lists its verbs", async ({ name, verbs }) => {
  const { code, out } = await run(name, "--help");
  expect(code).toBe(0);
  for (const verb of Object.keys(verbs)) expect(out).toMatch(new RegExp(`^  ${verb}( |$)`, "m"));
  expect(await run("help", name)).toEqual({ code, out, err: "" });
});

test.each(all)("$path has help that names all it takes, each with its meaning", async ({ path, command }) => {
  const { code, out } = await run(...path, "--help");
  expect(code).toBe(0);
  expect(command.summary).toMatch(/^[A-Z].*[.…]$/);
  for (const name of Object.keys(command.takes)) expect(out).toContain(`<${name}>`);
  for (const [name, option] of Object.entries(command.options)) {
    expect(out).toContain(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    expect(option.meaning).toMatch(/\.$/);
  }
});

const id = "00000000-0000-7000-8000-000000000000";

test.each<[claim: string, args: string[], message: string]>([
  ["no command", [], "A command is missing."],
  ["an unknown command", ["dance"], "There is no command 'dance'."],
  ["what every object has", ["toString"], "There is no command 'toString'."],
  ["a noun without a verb", ["school"], "A verb is missing."],
  ["an unknown verb", ["school", "burn"], "'school' has no verb 'burn'"],
  ["a missing argument", ["person", "show"], "<person> is missing."],
  ["an argument too many", ["person", "show", id, id], "It takes 1 argument(s): person."],
  ["an id that is none", ["person", "show", "Bo"], "<person>: 'Bo' is not an id"],
  ["a missing option", ["group", "rename", id], "--name is missing."],
  ["an option without its value", ["group", "rename", id, "--name"], "--name"],
  ["an unknown option", ["school", "list", "--fast"], "--fast"],
  ["an option given twice", ["school", "list", "--limit", "1", "--limit", "2"], "--limit is given more than once."],
  ["a number that is none", ["school", "list", "--limit", "many"], "--limit: 'many' is not a whole number."],
  [
    "an unknown word",
    ["membership", "add", id, id, "--role", "BOSS"],
    "--role: 'BOSS' is not one of STUDENT, TEACHER, OTHER.",
  ],
  ["half a name", ["person", "update", id, "--last", "Muster"], "A name needs --first-full and --last."],
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
