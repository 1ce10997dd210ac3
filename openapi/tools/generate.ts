import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { inlineEnums } from "./inline-enums.ts";
import { respell } from "./spelling.ts";

const project = join(import.meta.dirname, "..", "..");
const programs = join(project, "node_modules", ".bin");
const run = promisify(execFile);

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
try {
  if (values.check) await check();
  else await generate(project);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** Makes everything in `generated/` of the given project folder from its `openapi/` and `prisma/`. */
async function generate(root: string): Promise<void> {
  await Promise.all([generateContracts(root), generatePrismaClient(root)]);
}

async function generateContracts(root: string): Promise<void> {
  const out = join(root, "generated", "openapi");
  await mkdir(out, { recursive: true });
  const roots = (await readdir(join(root, "openapi"))).filter((name) => name.endsWith(".yaml"));
  for (const file of roots)
    await start("redocly", ["bundle", join("openapi", file), "--output", join(out, file)], root);
  await writeFile(join(out, "schulconnex-1.7.yaml"), respell(await readFile(join(out, "schulconnex.yaml"), "utf8")));

  const bundles = [...roots, "schulconnex-1.7.yaml"];
  for (const file of bundles)
    await start("openapi-typescript", [join(out, file), "--output", join(out, typesOf(file))], root);

  // Our own types keep the names of enums; what is published does without.
  for (const file of bundles) await writeFile(join(out, file), inlineEnums(await readFile(join(out, file), "utf8")));

  const current = new Set(bundles.flatMap((file) => [file, typesOf(file)]));
  for (const file of await readdir(out)) if (!current.has(file)) await rm(join(out, file));
}

function typesOf(bundle: string): string {
  return bundle.replace(/yaml$/, "ts");
}

async function generatePrismaClient(root: string): Promise<void> {
  await start("prisma", ["generate"], root);
}

/** Generates into a copy and fails with the names of the files that differ from the committed ones. */
async function check(): Promise<void> {
  await mkdir(join(project, ".cache"), { recursive: true });
  const copy = await mkdtemp(join(project, ".cache", "generate-"));
  try {
    for (const source of ["openapi", "prisma", "prisma.config.ts"]) {
      await cp(join(project, source), join(copy, source), { recursive: true });
    }
    await generate(copy);
    const stale = await listDifferences(join(project, "generated"), join(copy, "generated"));
    if (stale.length === 0) return;
    console.error(
      `Not current, run \`npm run generate\` and commit:\n${stale.map((file) => `  generated/${file}`).join("\n")}`,
    );
    process.exitCode = 1;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function listDifferences(committed: string, fresh: string): Promise<string[]> {
  const names = new Set([...(await listFiles(committed)), ...(await listFiles(fresh))]);
  const compared = await Promise.all(
    [...names].sort().map(async (name) => {
      const [a, b] = await Promise.all([readIfThere(join(committed, name)), readIfThere(join(fresh, name))]);
      return a === b ? [] : [name + (a === null ? " (missing)" : b === null ? " (no longer generated)" : "")];
    }),
  );
  return compared.flat();
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

async function readIfThere(file: string): Promise<string | null> {
  return readFile(file, "utf8").catch(() => null);
}

async function start(program: string, args: string[], cwd: string): Promise<void> {
  const env = {
    ...process.env,
    // Prisma would download an engine that generating does not use.
    PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true",
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
    REDOCLY_TELEMETRY: "off",
    REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  };
  try {
    await run(join(programs, program), args, { cwd, env });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
