import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { allDocumentNames, bundleFolder } from "../../openapi/tools/document.ts";

const here = import.meta.dirname;
const folder = join(here, "../../.cache/generators");
const bundleNames = allDocumentNames(bundleFolder);
const run = promisify(execFile);

/** Runs a program in the folder of the generators. Errors: rejects with what it printed. */
async function runThere(program: string, args: string[]): Promise<void> {
  const env = { ...process.env, KUBB_DISABLE_TELEMETRY: "1", DO_NOT_TRACK: "1" };
  try {
    await run(program, args, { cwd: folder, env, maxBuffer: 1 << 26 });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
const tool = (name: string, args: string[]) => runThere(join(folder, "node_modules/.bin", name), args);

/** Installs the generators once for each lock file. */
async function install(): Promise<void> {
  const lock = await readFile(join(here, "settings/package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex");
  const marker = join(folder, "node_modules/.installed");
  if ((await readFile(marker, "utf8").catch(() => "")) === hash) return;
  await runThere("npm", ["ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--no-progress"]);
  await writeFile(marker, hash);
}

/** Fills the bundles as the service does, and makes the clients of all of them. */
async function generate(): Promise<void> {
  await rm(join(folder, "clients"), { recursive: true, force: true });
  await rm(join(folder, "bundles"), { recursive: true, force: true });
  await mkdir(join(folder, "bundles"), { recursive: true });
  for (const name of bundleNames) {
    const text = await readFile(join(bundleFolder, `${name}.yaml`), "utf8");
    await writeFile(join(folder, "bundles", `${name}.yaml`), text.replaceAll("<platform>", "schultor"));
    await mkdir(join(folder, "clients/openapi-zod-client", name), { recursive: true });
  }
  await rm(join(folder, "programs"), { recursive: true, force: true });
  await cp(join(here, "programs"), join(folder, "programs"), { recursive: true });

  await Promise.all([
    tool("openapi-ts", ["-f", "openapi-ts.config.mjs"]),
    tool("orval", ["--config", "orval.config.mjs"]),
    tool("kubb", ["generate", "--config", "kubb.config.mjs"]),
    runThere(process.execPath, ["swagger-typescript-api.config.mjs"]),
    runThere(process.execPath, ["openapi-zod-client.config.mjs"]),
  ]);
}

await mkdir(folder, { recursive: true });
await cp(join(here, "settings"), folder, { recursive: true });
await install();
await generate();
await rm(join(folder, "dist"), { recursive: true, force: true });
// The generators bring a compiler that takes three times as long.
await runThere(process.execPath, [join(here, "../../node_modules/typescript-7/bin/tsc"), "-p", ".", "--checkers", "1"]);
