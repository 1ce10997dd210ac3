// @module-tag slow
import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const project = join(import.meta.dirname, "..", "..");
const run = promisify(execFile);
let copy: string;

beforeEach(async () => {
  await mkdir(join(project, ".cache"), { recursive: true });
  copy = await mkdtemp(join(project, ".cache", "stale-"));
  for (const source of [
    "openapi",
    "prisma",
    "generated",
    "clients",
    "prisma.config.ts",
    "package.json",
    "tsconfig.json",
  ]) {
    await cp(join(project, source), join(copy, source), { recursive: true });
  }
  await symlink(join(project, "node_modules"), join(copy, "node_modules"));
});
afterEach(() => rm(copy, { recursive: true, force: true }));

/** What the check says about the copy; empty when all is current. */
async function check(): Promise<string> {
  try {
    await run(process.execPath, [join(copy, "openapi/tools/generate.ts"), "--check"], { cwd: copy });
    return "";
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

test("what is committed is what the sources make", async () => expect(await check()).toBe(""));

test("every kind of stale file is named", async () => {
  const school = join(copy, "openapi/schemas/School.yaml");
  await writeFile(school, (await readFile(school, "utf8")).replace("officialId:", "schoolNumber:"));
  await appendFile(join(copy, "generated/openapi/sign-on.ts"), "// edited by hand\n");
  await rm(join(copy, "generated/openapi/schulconnex.yaml"));
  await writeFile(join(copy, "generated/openapi/old.yaml"), "openapi: 3.0.3\n");
  const directory = join(copy, "prisma/schema/directory.prisma");
  await writeFile(directory, (await readFile(directory, "utf8")).replace("schoolingLevel ", "schoolingKind  "));

  const said = await check();
  expect(said).toContain("npm run generate");
  expect(said).toContain("generated/openapi/idm.yaml\n");
  expect(said).toContain("generated/openapi/idm.ts\n");
  expect(said).toContain("generated/openapi/sign-on.ts\n");
  expect(said).toContain("generated/openapi/schulconnex.yaml (missing)");
  expect(said).toContain("generated/openapi/old.yaml (no longer generated)");
  expect(said).toContain("generated/prisma/models/School.ts");
  expect(said).not.toContain("generated/openapi/schulconnex.ts");
});

test("a source that cannot be read fails with the place of the fault", async () => {
  await appendFile(join(copy, "openapi/schemas/School.yaml"), "  - broken\n");
  expect(await check()).toMatch(/redocly bundle[^]*School\.yaml/);
  expect(await readdir(join(copy, ".cache"))).toEqual([]);
});
