import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkChangelog, findChangedParts, readChangelog } from "../../openapi/tools/changelog.ts";
import { compareDocuments } from "../../openapi/tools/compare-documents.ts";
import { bundleFolder, readDocument } from "../../openapi/tools/document.ts";
import { generateContracts } from "../../openapi/tools/generate-contracts.ts";
import { runProgram } from "../../openapi/tools/run-program.ts";

// Plays the example of CONTRIBUTING.md in a copy of the project: a school gets a nullable `shortName`.
const project = join(import.meta.dirname, "..", "..");

type Edit = { file: string; after: string; add: string };

const text =
  "  shortName:\n    type: string\n    nullable: true\n    description: The short name of the school.\n    example: GGM\n";
const limited = text.replace("    nullable", "    maxLength: 200\n    nullable");
const listed = { after: "required: [id, name, ", add: "shortName, " };

/** Steps 1 to 3: the contract and the column. */
const contract: Edit[] = [
  { file: "openapi/schemas/School.yaml", ...listed },
  { file: "openapi/schemas/School.yaml", after: "properties:\n", add: text },
  { file: "openapi/schemas/AdminSchool.yaml", ...listed },
  { file: "openapi/schemas/AdminSchool.yaml", after: "properties:\n", add: text },
  { file: "openapi/schemas/NewSchool.yaml", after: "properties:\n", add: limited },
  { file: "openapi/schemas/SchoolUpdate.yaml", after: "properties:\n", add: limited },
  { file: "openapi/schemas/SchoolEventProperty.yaml", after: "enum: [name, ", add: "short_name, " },
  {
    file: "openapi/examples/GoetheGymnasium.yaml",
    after: "  name: Goethe-Gymnasium Musterstadt\n",
    add: "  shortName: GGM\n",
  },
  {
    file: "prisma/schema/directory.prisma",
    after: '  schoolingLevel  String?  @map("schooling_level")\n',
    add: '  shortName       String?  @map("short_name")\n',
  },
];

/** Step 4: every place that the compiler names, `names` being the file in which it does where that is another one. */
const code: (Edit & { names?: string })[] = [
  {
    file: "src/idm/records.ts",
    after: "    name: jsonText(s.name),\n",
    add: "    shortName: jsonNullable(s.shortName),\n",
  },
  {
    file: "src/access/change-tracking/snapshot.ts",
    names: "src/webhooks/contract.ts",
    after: "  school: {\n",
    add: "    short_name: hash(s.shortName),\n",
  },
  ...["en", "de"].map((language) => ({
    file: `src/portal/frame/locales/${language}.json`,
    names: "src/portal/frame/differences.ts",
    after: '      "property": {\n',
    add: `        "shortName": "${language === "de" ? "Kurzname" : "Short name"}",\n`,
  })),
];

let copy: string;
/** The files in which the compiler finds errors after steps 1 to 3, and after step 4. */
let found: { before: string[]; after: string[] };

beforeAll(async () => {
  await mkdir(join(project, ".cache"), { recursive: true });
  copy = await mkdtemp(join(project, ".cache", "newcomer-"));
  for (const source of ["openapi", "prisma", "src", "demo", "clients", "generated", "package.json", "prisma.config.ts"])
    await cp(join(project, source), join(copy, source), { recursive: true });
  await symlink(join(project, "node_modules"), join(copy, "node_modules"));
  const tsconfig = {
    extends: join(project, "tsconfig.json"),
    include: ["src"],
    exclude: [],
    compilerOptions: { incremental: true, tsBuildInfoFile: join(copy, "tsbuildinfo") },
  };
  await writeFile(join(copy, "tsconfig.json"), JSON.stringify(tsconfig));
  await make(contract);
  await generateContracts(copy);
  await runProgram("prisma", ["generate"], copy);
  const before = await compile();
  await make(code);
  found = { before, after: await compile() };
}, 400_000);
afterAll(() => rm(copy, { recursive: true, force: true }));

async function make(edits: readonly Edit[]): Promise<void> {
  for (const { file, after, add } of edits) {
    const before = await readFile(join(copy, file), "utf8");
    expect(before.includes(after), `${file} has ${after}`).toBe(true);
    await writeFile(
      join(copy, file),
      before.replace(after, () => after + add),
    );
  }
}

function compile(): Promise<string[]> {
  const program = join(project, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, "-p", copy, "--noEmit", "--pretty", "false"],
      { cwd: copy, maxBuffer: 1 << 26 },
      (_, stdout) =>
        resolve([...new Set([...stdout.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, file]) => file!))].toSorted()),
    );
  });
}

test("after the contract and the column, the compiler names every other place", () => {
  expect(found.before).toEqual([...new Set(code.map(({ file, names = file }) => names))].toSorted());
});

test("after those places nothing is missing, in at most 11 files and the changelog", () => {
  expect(found.after).toEqual([]);
  expect(new Set([...contract, ...code].map(({ file }) => file)).size).toBeLessThanOrEqual(11);
});

test("the command line offers the property and its removal", async () => {
  const program = [join(copy, "src/schultor.ts"), "school", "update", "--help"];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: copy });
  expect(stdout).toMatch(/--short-name\b/);
  expect(stdout).toMatch(/--no-short-name\b/);
});

test("no released client breaks, and the changelog asks for an entry", () => {
  for (const name of ["idm", "webhooks", "admin"]) {
    const [before, after] = [bundleFolder, join(copy, "generated/openapi")].map((folder) =>
      readDocument(join(folder, `${name}.yaml`)),
    );
    expect(compareDocuments(before!, after!, { side: name === "webhooks" ? "app" : "service" })).toEqual([]);
  }
  const changed = findChangedParts(undefined, join(copy, "generated/openapi"));
  expect(checkChangelog(readChangelog(), changed).join("\n")).toMatch(/idm differs .*\bSchool\b/);
});
