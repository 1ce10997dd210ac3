// @module-tag slow
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeDataDir, removeDataDir } from "../support/data-dir.ts";
import { startMain } from "../support/program.ts";
import { serveHere } from "./program.ts";
import { readCommands, typeCommands, type Typed } from "../support/typed-commands.ts";

const root = join(import.meta.dirname, "../..");
const pages = ["README.md", "CONTRIBUTING.md", "docs/command-line.md", "docs/operation.md", "docs/contract-review.md"];

/** Commands of these pages that no test types, by how they begin, each with the reason. */
const notTyped: Readonly<Record<string, string>> = {
  "npm ci": "replaces the packages that the tests run with; .ci/run types it",
  "npm start": "the test starts the service with a port and a data folder of its own",
  "WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true npm start": "as npm start",
  "NODE_ENV=production": "needs a database and keys of production; test/platform/start.test.ts starts it with some",
  "npm test": "is what runs this test",
  "npm run check": "runs this test; .ci/run types it",
  "npm run generate": "writes into the sources; the gate `generated code is current` runs it on a copy",
  "npm run migration": "writes into the sources",
  "npm run drill": "takes minutes; test/faults/drill.test.ts runs a short one",
  "npm run release:record": "runs all tests; test/releases holds what it writes against the migrations",
  "npm run docs:tables": "writes into the sources; test/docs/tables.test.ts compares what it would write",
  "npm run docs:review": "writes into the sources; the gate `contract rules` compares what it would write",
  "npm run docs:conformance":
    "writes into the sources; test/security/rules/conformance.test.ts compares what it would write",
  "npm run release:contract": "writes a release into the sources; test/contract/changelog.test.ts tries its steps",
  "npm run compatibility": "writes into the sources, and needs Chromium; the gate `compatibility` runs its tests",
  "npm run clients": "needs Java; the gate `clients` runs it",
  "npm run test:planted": "takes minutes",
  "npm run test:": "needs Chromium or Java; a gate of its own runs it",
  "npm run bench": "takes minutes",
  "npm run demo:app": "stays until it is ended; test/flows/demo-app.test.ts starts the same apps",
  "npm run lint:": "a gate of its own runs it",
  "npx @stoplight/spectral-cli lint":
    "needs a contract of somebody else's; test/contract/rules.test.ts reads the rules so",
  "npx tsc --noEmit": "the gate `types` runs it",
  "TEST_SEED=7": "takes minutes",
  "npx schultor database remove": "deletes the database that the other commands need",
};

const commands = pages.flatMap((page) => readCommands(readFileSync(join(root, page), "utf8")));
const isTyped = ({ text }: Typed) => !Object.keys(notTyped).some((beginning) => text.startsWith(beginning));
const typed = commands.filter(isTyped);

const [dataDir, folder] = [makeDataDir(), makeDataDir()];
afterAll(() => [dataDir, folder].forEach(removeDataDir));

test("every command that is not typed is in one of the pages", () => {
  for (const beginning of Object.keys(notTyped))
    expect(commands.map(({ text }) => text)).toContainEqual(expect.stringMatching(new RegExp(`^${beginning}`)));
});

test("CONTRIBUTING names the gates as `--only` takes them, and a wrong name ends in a sentence that lists them", () => {
  const args = [join(root, "test/gates/check.ts"), "--only", "Spectral"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^There is no gate "Spectral"\. The gates are: .*\.\n$/)]);
  const gates = stderr.slice(stderr.indexOf("are: ") + 5, -2);
  const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").replaceAll("\n", " ");
  const [, listed = ""] = /takes their names: ([^.]*)\./.exec(text)!;
  const named = [...listed.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const ofMachine = "tests on other PostgreSQL";
  expect(named.filter((name) => name !== ofMachine || gates.includes(ofMachine)).join(", ")).toBe(gates);
});

test("no command that is typed writes what tests compare with", () => {
  expect(typed.filter(({ text }) => / (-u|--update)\b/.test(text) && text.includes("vitest"))).toEqual([]);
});

test("every other command of the pages runs as it is typed", async () => {
  const service = await startMain({ DATA_DIR: dataDir, DEMO_WORLD: "true" });
  const texts = typed.map(({ text }) => text.replaceAll("http://localhost:3000", service.url));
  await serveHere(folder);
  const env = { DATA_DIR: dataDir, XDG_CONFIG_HOME: join(dataDir, "user") };
  const ended = await typeCommands(texts, env, { schultor: join(folder, "schultor") });
  expect(ended.filter(({ code }) => code !== 0)).toEqual([]);
  const outputOf = (beginning: string) => ended.find(({ text }) => text.startsWith(beginning))!.output;
  expect(outputOf("curl -s -H")).toContain("Goethe-Gymnasium Musterstadt");
  expect(outputOf("npx schultor person list")).toContain('"Beispiel, Ada Marie"');
  expect(outputOf("npx schultor import apply")).toContain("It has been applied.");
  expect(outputOf("npx schultor webhook list")).toContain("http://127.0.0.1:5000/hook");
  expect(outputOf("npx schultor app delete")).toContain("App deleted.");
  service.child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
});
