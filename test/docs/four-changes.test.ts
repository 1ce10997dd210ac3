// @module-tag slow
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { copyProject } from "../support/copy-project.ts";
import { compileCache } from "../support/compile-cache.ts";

const guide = readFileSync("docs/design/four-changes.md", "utf8");
const copy = copyProject();
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Text that replaces another of a file; without another, a file that is new. */
type Edit = [file: string, text: string, replaced?: string];
const before = (replaced: string, file: string, text: string): Edit => [file, text + replaced, replaced];
const after = (replaced: string, file: string, text: string): Edit => [file, replaced + text, replaced];

const entry = `next:
  - contracts: [admin]
    kind: added
    parts: [getSchoolSize, SchoolSize]
    what: An example.
    who: nobody
    action: nothing
`;
const property = (limit: string) => `properties:
  shortName:
    type: string
    nullable: true${limit}
    description: A short name of the school; null if it has none.
    example: Goethe
`;
/** What a reader types, by section of the guide. */
const typed: Readonly<Record<string, Edit[]>> = {
  "A property of a school": [
    ["openapi/schemas/School.yaml", property(""), "properties:\n"],
    ["openapi/schemas/School.yaml", "required: [shortName, ", "required: ["],
    after("x-labels:\n", "openapi/schemas/SchoolInput.yaml", "  shortName: { en: Short name, de: Kurzname }\n"),
    ["openapi/schemas/SchoolInput.yaml", property("\n    maxLength: 20"), "properties:\n"],
    after("value:\n", "openapi/examples/GoetheGymnasium.yaml", "  shortName: null\n"),
    after(
      "model School {\n",
      "prisma/schema/directory.prisma",
      '  shortName String? @map("short_name") /// @data none\n',
    ),
    after("name: jsonText(s.name),\n", "src/idm/records.ts", "    shortName: jsonNullable(s.shortName),\n"),
    before(
      "    official_id: granted(",
      "src/access/change-tracking/snapshot.ts",
      "    short_name: hash(s.shortName),\n",
    ),
  ],
  "An operation of the admin API": [
    [
      "openapi/admin/getSchoolSize.yaml",
      readFileSync("openapi/admin/getSchool.yaml", "utf8")
        .replace("operationId: getSchool", "operationId: getSchoolSize")
        .replace("summary: Get a school", "summary: Get the size of a school")
        .replace(/^x-cli:\n(?: .*\n)+/m, "")
        .replace("      ETag:\n        $ref: ../headers/RecordETag.yaml\n", "")
        .replace("AdminSchool.yaml", "SchoolSize.yaml")
        .replace("AdminGoethe.yaml", "SizeOfGoethe.yaml"),
    ],
    [
      "openapi/schemas/SchoolSize.yaml",
      `type: object
description: How large a school is.
required: [people]
properties:
  people:
    type: integer
    format: int32
    description: How many people are at the school.
    example: 412
`,
    ],
    ["openapi/examples/SizeOfGoethe.yaml", "summary: The size of a school\nvalue:\n  people: 412\n"],
    before(
      "  /admin/v1/schools/{schoolId}/logo:\n",
      "openapi/admin.yaml",
      "  /admin/v1/schools/{schoolId}/size:\n    get:\n      $ref: admin/getSchoolSize.yaml\n",
    ),
    before(
      'export const createSchool: AdminHandler<"createSchool">',
      "src/admin/schools/schools.ts",
      `export const getSchoolSize: AdminHandler<"getSchoolSize"> = async ({ db }, { schoolId }) => {
  const { name } = await readSchool(db, schoolId);
  return { status: 200, body: { people: name.length } };
};

`,
    ),
    ["openapi/released/changelog.yaml", entry, "next:\n"],
  ],
  "A page of the portal": [
    [
      "src/portal/size/index.ts",
      `import { makeArea, makePage, type PageView, type PageRequest } from "../frame/index.ts";

/** \`/admin/schools/:schoolId/size\`: how large the school is. */
export const sizePage = makeArea({ folder: import.meta.dirname, page: "size" }, (pages) => {
  pages.at("/admin/schools/:schoolId/size", showSize);
});

async function showSize({ call, t }: PageRequest): Promise<PageView> {
  return makePage("size", t("frame.pages.size"), { size: await call("getSchoolSize") });
}
`,
    ],
    ["src/portal/size/templates/size.eta", '<p><%= it.t("size.people", { count: it.size.people }) %></p>\n'],
    [
      "src/portal/size/locales/en.json",
      '{ "size": { "people_one": "One person", "people_other": "{{count}} people" } }\n',
    ],
    [
      "src/portal/size/locales/de.json",
      '{ "size": { "people_one": "Eine Person", "people_other": "{{count}} Personen" } }\n',
    ],
    after('  people: "listPeople",\n', "src/portal/frame/navigation.ts", '  size: "getSchoolSize",\n'),
    after('"pages": {\n', "src/portal/frame/locales/en.json", '      "size": "Size",\n'),
    after('"pages": {\n', "src/portal/frame/locales/de.json", '      "size": "Größe",\n'),
    before(
      'import { todayPage } from "./today/index.ts";\n',
      "src/portal/index.ts",
      'import { sizePage } from "./size/index.ts";\n',
    ),
    after("  people: peoplePages,\n", "src/portal/index.ts", "  size: sizePage,\n"),
  ],
};

/** The files that the table of a section names, with `{a,b}` written out. */
function listFiles(section: string): string[] {
  const text = guide.split(`\n## ${section}\n`)[1]!.split("\n## ")[0]!;
  const cells = [...text.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell!);
  return cells
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, file]) => file!))
    .flatMap((file) => {
      const [, head, names, tail] = /^(.*)\{(.*)\}(.*)$/.exec(file) ?? [];
      return names === undefined ? [file] : names.split(",").map((name) => `${head}${name}${tail}`);
    });
}

function type([file, text, replaced]: Edit): void {
  const path = join(copy, file);
  mkdirSync(dirname(path), { recursive: true });
  if (replaced === undefined) return writeFileSync(path, text);
  const source = readFileSync(path, "utf8");
  expect(source.split(replaced).length, `${file}: ${replaced}`).toBeGreaterThan(1);
  writeFileSync(
    path,
    source.replace(replaced, () => text),
  );
}

/** Runs a command in the copy; what a command prints that fails. */
function run(command: string, ...args: string[]): string {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$)/.test(name));
  const env = {
    ...Object.fromEntries(own),
    PATH: `${copy}/node_modules/.bin:${process.env["PATH"] ?? ""}`,
    NODE_COMPILE_CACHE: compileCache,
    // The server of this run, so that none has to be made.
    TEST_DATABASE_URL: inject("databaseServer").url,
  };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, env, encoding: "utf8" });
  return status === 0 ? "" : `${command} ${args.join(" ")}\n${stdout}${stderr}`;
}

/** What the guide says to write with `-u`, as far as it is quick. */
const written = [
  "test/admin/rights.test.ts",
  "test/cli/transcripts.test.ts",
  "-t",
  "matrix of|commands about (output|schools)",
  "-u",
];
/** The other tests that a property of a school, an operation or a page can make fail. */
const touched = [
  ...["examples", "examples-replayed", "stored-data", "operations"].map((name) => `test/contract/${name}.test.ts`),
  "test/portal/texts.test.ts",
  "test/api/admin/schools.test.ts",
];

test("who types what the guide says, and no more, has a project without a failure", () => {
  for (const [section, edits] of Object.entries(typed)) {
    const files = new Set(edits.map(([file]) => file));
    expect([...files].toSorted(), section).toEqual(listFiles(section).toSorted());
    for (const edit of edits) type(edit);
  }
  const npm = (...args: string[]) => run("npm", "run", "--silent", ...args);
  expect(npm("generate")).toBe("");
  expect(npm("migration", "--", "school_short_name")).toBe("");
  expect(npm("lint:types")).toBe("");
  expect(npm("lint:changelog", "--", "--write")).toBe("");
  const vitest = (...args: string[]) => run("vitest", "run", "--project", "fast", "--maxWorkers=1", ...args);
  expect(vitest(...written)).toBe("");
  expect(vitest(...touched)).toBe("");
});
