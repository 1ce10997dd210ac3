import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateClientTypes } from "./generate-client-types.ts";
import { generateContracts } from "./generate-contracts.ts";
import { generateRedoc } from "./generate-redoc.ts";
import { runProgram } from "./run-program.ts";

const project = join(import.meta.dirname, "..", "..");

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
try {
  if (values.check) await check();
  else await generate(project);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * Makes everything in `generated/` of the given project folder from its `openapi/`, `prisma/` and `clients/`.
 *
 * Errors: throws the first failure, once nothing writes into the folder any more: `check` removes it.
 */
async function generate(root: string): Promise<void> {
  const contracts = generateContracts(root).then(() => generateClientTypes(root));
  const results = await Promise.allSettled([contracts, generatePrismaClient(root), generateRedoc(root)]);
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

async function generatePrismaClient(root: string): Promise<void> {
  await runProgram("prisma", ["generate"], root);
}

/** Generates into a copy and fails with the names of the files that differ from the committed ones. */
async function check(): Promise<void> {
  await mkdir(join(project, ".cache"), { recursive: true });
  const copy = await mkdtemp(join(project, ".cache", "generate-"));
  try {
    for (const source of ["openapi", "prisma", "prisma.config.ts", "clients", "tsconfig.json"]) {
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
