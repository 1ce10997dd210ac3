import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult, type IConfiguration } from "dependency-cruiser";
import { afterAll, expect, test } from "vitest";

const configuration = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as IConfiguration;
const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

const manifest = JSON.stringify({ dependencies: { inside: "1" }, devDependencies: { outside: "1" } });
const packages = {
  "node_modules/inside/package.json": '{"name":"inside","main":"index.js"}',
  "node_modules/inside/index.js": "",
  "node_modules/outside/package.json": '{"name":"outside","main":"index.js"}',
  "node_modules/outside/index.js": "",
};

/** A small house in which every import is right. */
const house: Record<string, string> = {
  "package.json": manifest,
  ...packages,
  "src/main.ts": 'import "./app.ts"; import "./config/index.ts";',
  "src/app.ts":
    'import "./sign-on/index.ts"; import "./idm/index.ts"; import "./admin/index.ts"; import "../demo/load.ts"; import "../generated/prisma/client.ts";',
  "src/schultor.ts": 'import "./cli/index.ts";',
  "src/cli/index.ts": 'import "./grant.ts"; import "../config/index.ts";',
  "src/cli/grant.ts": 'import "../access/index.ts"; import "../sign-on/index.ts"; import "../platform/database/db.ts";',
  "src/config/index.ts": "export {};",
  "src/sign-on/index.ts":
    'import "./pages.ts"; import "../upstream/index.ts"; import "../accounts/index.ts"; import "../access/index.ts"; import "../platform/database/db.ts";',
  "src/sign-on/pages.ts": 'import "./forms/login.ts";',
  "src/sign-on/forms/login.ts": 'import "../protocol/provider.ts";',
  "src/sign-on/protocol/provider.ts": 'import "./keys.ts";',
  "src/sign-on/protocol/keys.ts": "export {};",
  "src/accounts/index.ts": 'import "../staff/index.ts"; import "../../generated/prisma/client.ts";',
  "src/upstream/index.ts": 'import "../accounts/index.ts"; import "../../generated/prisma/client.ts";',
  "src/idm/index.ts":
    'import "../access/index.ts"; import "../platform/http/index.ts"; import "../../generated/openapi/idm.ts"; import "inside";',
  "src/admin/index.ts":
    'import "../idm/index.ts"; import "../staff/index.ts"; import "../sign-on/index.ts"; import "../platform/database/db.ts";',
  "src/staff/index.ts":
    'import "../access/index.ts"; import "../directory/index.ts"; import "../../generated/prisma/client.ts";',
  "src/access/index.ts":
    'import "./visibility.ts"; import "../directory/index.ts"; import "../../generated/prisma/client.ts";',
  "src/access/visibility.ts": "export {};",
  "src/directory/index.ts": 'import "../events/index.ts";',
  "src/events/index.ts": 'import "../platform/database/db.ts";',
  "src/traffic/index.ts": 'import "../platform/database/db.ts";',
  "src/platform/database/db.ts": 'import "../../../generated/prisma/client.ts";',
  "src/platform/http/index.ts": 'import "./problem.ts"; import "../database/db.ts";',
  "src/platform/http/problem.ts": "export {};",
  "generated/openapi/idm.ts": "export {};",
  "generated/openapi/schulconnex.ts": "export {};",
  "generated/prisma/client.ts": "export {};",
  "demo/load.ts": 'import "../src/directory/index.ts"; import "../src/platform/database/db.ts";',
  "clients/typescript/src/index.ts": 'import "./client.ts";',
  "clients/typescript/src/client.ts": 'import type {} from "../../../generated/openapi/idm.ts";',
  "test/flow.test.ts": 'import "../src/app.ts"; import "../src/access/visibility.ts"; import "outside";',
};

/** One wrong import per rule; the second file, where there is one, loses its imports so that no cycle comes of it. */
const planted: Record<string, [file: string, line: string, emptied?: string]> = {
  "platform-looks-down": ["src/platform/database/db.ts", 'import "../../events/index.ts";', "src/events/index.ts"],
  "privacy-looks-down": ["src/privacy/index.ts", 'import "../events/index.ts";'],
  "traffic-looks-down": ["src/traffic/index.ts", 'import "../events/index.ts";'],
  "events-looks-down": ["src/events/index.ts", 'import "../access/index.ts";', "src/access/index.ts"],
  "directory-looks-down": [
    "src/directory/index.ts",
    'import type {} from "../access/index.ts";',
    "src/access/index.ts",
  ],
  "access-looks-down": ["src/access/index.ts", 'import "../idm/index.ts";', "src/idm/index.ts"],
  "staff-looks-down": ["src/staff/index.ts", 'import "../idm/index.ts";'],
  "accounts-looks-down": ["src/accounts/index.ts", 'import "../sign-on/index.ts";', "src/sign-on/index.ts"],
  "upstream-looks-down": ["src/upstream/index.ts", 'import "../sign-on/index.ts";', "src/sign-on/index.ts"],
  "siblings-do-not-know-each-other": ["src/idm/index.ts", 'import "../sign-on/index.ts";'],
  "admin-on-top": ["src/cli/grant.ts", 'import "../admin/index.ts";'],
  "sandbox-below-admin": ["src/sign-on/index.ts", 'import "../sandbox/index.ts";', "src/sandbox/index.ts"],
  "portal-on-top": ["src/admin/grants.ts", 'import "../portal/index.ts";'],
  "pages-through-the-admin-api": ["src/portal/today/index.ts", 'import "../../access/index.ts";'],
  "areas-do-not-know-each-other": [
    "src/portal/today/index.ts",
    'import "../people/index.ts";',
    "src/portal/people/index.ts",
  ],
  "public-api-only": ["src/idm/index.ts", 'import "../access/visibility.ts";'],
  "platform-by-module": ["src/idm/index.ts", 'import "../platform/http/problem.ts";'],
  "folders-one-way": ["src/sign-on/protocol/keys.ts", 'import type {} from "../forms/login.ts";'],
  "composition-on-top": ["src/idm/index.ts", 'import "../config/index.ts";'],
  "command-line-beside-the-service": ["src/cli/grant.ts", 'import "../app.ts";'],
  "remote-through-the-admin-api": ["src/cli/remote/grant.ts", 'import "../../access/index.ts";'],
  "no-cycles": ["src/access/visibility.ts", 'import "./index.ts";'],
  "src-stands-alone": ["src/idm/index.ts", 'import "../../openapi/tools/generate.ts";'],
  "demo-enters-at-the-top": ["src/idm/index.ts", 'import "../../demo/world.ts";'],
  "contract-types-in-their-module": [
    "src/idm/index.ts",
    'import type {} from "../../generated/openapi/schulconnex.ts";',
  ],
  "record-below-the-readers": ["src/idm/index.ts", 'import "../../generated/prisma/client.ts";'],
  "generated-imports-nothing-of-ours": ["generated/openapi/idm.ts", 'import "../../demo/world.ts";'],
  "no-test-in-production": ["src/idm/index.ts", 'import "./presenter.test.ts";'],
  "client-knows-the-contract-only": ["clients/typescript/src/client.ts", 'import "node:http";'],
  "client-has-one-door": ["test/flow.test.ts", 'import "../clients/typescript/src/client.ts";'],
  "no-dev-dependency-in-src": ["src/idm/index.ts", 'import "outside";'],
  resolvable: ["src/idm/index.ts", 'import "./nowhere.ts";'],
};
const bystanders = {
  "openapi/tools/generate.ts": "",
  "demo/world.ts": "",
  "src/idm/presenter.test.ts": "",
  "src/portal/index.ts": "",
};

async function brokenRules(files: Record<string, string>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "import-rules-"));
  folders.push(folder);
  for (const [name, text] of Object.entries({ ...bystanders, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const { enhancedResolveOptions, ...options } = configuration.options ?? {};
  const { output } = await cruise(
    ["src", "generated", "clients", "demo", "test"],
    { ...options, baseDir: folder, validate: true, ruleSet: { forbidden: configuration.forbidden ?? [] } },
    enhancedResolveOptions,
  );
  return [...new Set((output as ICruiseResult).summary.violations.map((violation) => violation.rule.name))];
}

test("a house built by the rules breaks none", async () => {
  expect(await brokenRules(house)).toEqual([]);
});

test("every import rule has a planted violation", () => {
  expect(Object.keys(planted)).toEqual(configuration.forbidden?.map((rule) => rule.name));
});

test.each(Object.entries(planted))("%s is broken by exactly its violation", async (rule, [file, line, emptied]) => {
  const spoilt = { ...house, [file]: `${house[file] ?? ""}\n${line}`, ...(emptied && { [emptied]: "export {};" }) };
  expect(await brokenRules(spoilt)).toEqual([rule]);
});
