import { execFile, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { shortRunFlags, generatorJar } from "../../openapi/tools/generator.ts";
import type { Spelling } from "./fields.ts";

const run = promisify(execFile);
const here = import.meta.dirname;
const root = join(here, "../..");
const cache = join(root, ".cache");

export type Program = { program: string; args: string[]; env?: Record<string, string> };
export type Language = Spelling & {
  /** As the generator calls it. */
  name: string;
  /** Debian's packages that bring the language, and a program that ends well if they are there. */
  packages: string[];
  check: Program;
  /** Whether a compiler has to accept the client. */
  compiles: boolean;
  /** Compiles what has to be, from the clients in a folder, and answers how the driver is started. */
  build(clients: string): Promise<Program>;
};

/** The clients that `npm run clients` made, a folder for each language. */
export const made = join(cache, "clients");
export const driver = (language: string, file: string) => join(here, language, file);
/** A folder for what is compiled, empty. */
export async function freshFolder(language: string): Promise<string> {
  const folder = join(cache, "clients-built", language);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

const python: Language = {
  name: "python",
  compiles: false,
  asText: ["uuid"],
  packages: ["python3-urllib3", "python3-pydantic", "python3-dateutil"],
  check: {
    program: "/usr/bin/python3",
    args: ["-c", "import urllib3, dateutil, pydantic; assert pydantic.VERSION.startswith('1.')"],
  },
  build: async (clients) => ({
    program: "/usr/bin/python3",
    args: [driver("python", "driver.py")],
    env: {
      PYTHONPATH: readdirSync(clients)
        .map((bundle) => join(clients, bundle))
        .join(":"),
      PYTHONDONTWRITEBYTECODE: "1",
    },
  }),
};

const typescript: Language = {
  name: "typescript-fetch",
  compiles: true,
  asText: ["uuid"],
  rename: (name) => name.replaceAll(":", "").replaceAll(/_([a-z])/gi, (_match, letter: string) => letter.toUpperCase()),
  packages: [],
  check: { program: "node", args: ["--version"] },
  async build(clients) {
    const built = await freshFolder("typescript-fetch");
    const strict = ["--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "bundler"];
    const own = ["--ignoreConfig", "--skipLibCheck", "--lib", "es2022,dom"];
    const roots = readdirSync(clients).map((bundle) => join(clients, bundle, "index.ts"));
    await run(process.execPath, [
      join(root, "node_modules/typescript-7/bin/tsc"),
      ...[...strict, ...own],
      ...["--typeRoots", built, "--rootDir", clients, "--outDir", built],
      ...roots,
    ]);
    await writeFile(join(built, "package.json"), JSON.stringify({ type: "commonjs" }));
    return { program: "node", args: [driver("typescript-fetch", "driver.ts"), clients, built] };
  },
};

const php: Language = {
  name: "php",
  compiles: false,
  asText: [],
  packages: ["php-cli", "php-curl", "php-mbstring", "php-guzzlehttp-guzzle"],
  check: {
    program: "php",
    args: [
      "-r",
      "require 'GuzzleHttp/autoload.php'; if (!extension_loaded('curl') || !extension_loaded('mbstring')) exit(1);",
    ],
  },
  build: (clients) => Promise.resolve({ program: "php", args: [driver("php", "driver.php"), clients] }),
};

/** For programs that run for seconds: making better code would cost more than it saves. */
export const goFlags = ["-gcflags=schultor/...=-N -l", "-ldflags=-s -w"];
export const goEnv = (...folders: string[]) => ({ GO111MODULE: "off", GOPATH: folders.join(":") });
const go: Language = {
  name: "go",
  compiles: true,
  asText: ["uuid", "date"],
  packages: ["golang-go", "golang-golang-x-oauth2-dev"],
  check: { program: "go", args: ["list", "golang.org/x/oauth2"], env: goEnv("/usr/share/gocode") },
  async build(clients) {
    const built = await freshFolder("go");
    const source = join(built, "src/schultor");
    const bundles = readdirSync(clients);
    for (const bundle of bundles) await cp(join(clients, bundle), join(source, bundle), { recursive: true });
    await cp(driver("go", "driver.go"), join(source, "driver/driver.go"));
    await writeFile(join(source, "driver/models.go"), await listGoModels(source, bundles));
    const env = { ...process.env, ...goEnv(built, "/usr/share/gocode") };
    await run("go", ["build", ...goFlags, "-o", join(built, "driver"), "schultor/driver"], { env });
    return { program: join(built, "driver"), args: [] };
  },
};

/** Go knows no type by its name at run time, so a file names them all. */
async function listGoModels(source: string, bundles: string[]): Promise<string> {
  const imports: string[] = [];
  const models: string[] = [];
  const enums: string[] = [];
  for (const [index, bundle] of bundles.entries()) {
    const files = readdirSync(join(source, bundle)).filter((file) => file.startsWith("model_"));
    const texts = await Promise.all(files.map((file) => readFile(join(source, bundle, file), "utf8")));
    const found = (pattern: RegExp) => texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!));
    const inPackage = (name: string) => `b${index}.${name}`;
    const structs = found(/^type (?!Nullable)(\w+) struct/gm).map((name) => `${inPackage(name)}{}`);
    imports.push(`b${index} "schultor/${bundle}"`);
    models.push(`"${bundle}": {${structs.join(", ")}},`);
    enums.push(...found(/^var (Allowed\w+EnumValues)/gm).map(inPackage));
  }
  return `package main
import (
${imports.join("\n")}
)
var modelsOf = map[string][]interface{}{
${models.join("\n")}
}
var allowedValues = []interface{}{${enums.join(", ")}}
`;
}

const java: Language = {
  name: "java",
  compiles: true,
  asText: [],
  packages: ["default-jdk-headless", "libhttpclient-java", "libhttpmime-java", "libgeronimo-annotation-1.3-spec-java"],
  check: { program: "javac", args: ["--version"] },
  async build(clients) {
    const built = await freshFolder("java");
    // Jackson is in the generator itself.
    const jars = ["httpclient", "httpcore", "httpmime", "geronimo-annotation-1.3-spec"];
    const path = [generatorJar, ...jars.map((jar) => `/usr/share/java/${jar}.jar`)].join(":");
    const folders = readdirSync(clients).map((bundle) => join(clients, bundle, "src/main/java"));
    const found = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })));
    const files = found.flatMap((names, at) => names.map((name) => join(folders[at]!, name)));
    const list = join(built, "files");
    const sources = files.filter((file) => file.endsWith(".java"));
    await writeFile(list, [...sources, driver("java", "Driver.java")].join("\n"));
    const flags = [...shortRunFlags.map((flag) => `-J${flag}`), "-parameters", "-nowarn", "-proc:none"];
    await run("javac", [...flags, "-cp", path, "-d", built, `@${list}`]);
    return { program: "java", args: [...shortRunFlags, "-cp", `${built}:${path}`, "Driver", clients] };
  },
};

export const languages: Language[] = [python, typescript, php, go, java];

/** Runs a program that prints JSON, with JSON on its standard input. */
export async function ask<T>({ program, args, env }: Program, mode: string, told: unknown): Promise<T> {
  const child = spawn(program, [...args, mode], { env: { ...process.env, ...env } });
  const printed: Buffer[] = [];
  const failed: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => failed.push(chunk));
  child.stdin.end(JSON.stringify(told));
  const code = await new Promise<number | null>((resolve, reject) => child.on("close", resolve).on("error", reject));
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ${mode} failed:\n${Buffer.concat(failed).toString()}`);
  return JSON.parse(Buffer.concat(printed).toString()) as T;
}

/** Errors: names the packages to install where the program that looks for them fails. */
export async function needPackages(name: string, { program, args, env }: Program, packages: string[]): Promise<void> {
  await run(program, args, { env: { ...process.env, ...env } }).catch((cause: unknown) => {
    throw new Error(`What is generated as ${name} needs: apt-get install ${packages.join(" ")}`, { cause });
  });
}

/** Compiles a language's clients and says how its driver is started. */
export async function buildDriver(language: Language) {
  await needPackages(language.name, language.check, language.packages);
  return language.build(join(made, language.name)).catch((cause: unknown) => {
    const { stdout = "", stderr = "" } = cause as { stdout?: string; stderr?: string };
    throw new Error(`The client in ${language.name} does not compile:\n${stdout}${stderr}`, { cause });
  });
}
