import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileCache } from "../support/compile-cache.ts";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";
import type { Language, Snippet } from "./snippets.ts";

const root = join(import.meta.dirname, "../..");
const extensions = { bash: "sh", js: "js", ts: "ts", python: "py", php: "php" } satisfies Record<Language, string>;
let folder: string | undefined;
let programs = 0;

/** A folder of the test's own in which `@schultor/client` is as if installed. */
function makeFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "docs-"));
  atFileEnd(() => rmSync(made, { recursive: true }));
  const client = join(made, "node_modules/@schultor/client");
  mkdirSync(client, { recursive: true });
  writeFileSync(join(made, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const exports = { ".": "./index.js", "./sqlite": "./sqlite.js" };
  writeFileSync(join(client, "package.json"), JSON.stringify({ name: "@schultor/client", type: "module", exports }));
  for (const name of ["index", "sqlite"])
    writeFileSync(join(client, `${name}.js`), `export * from "${join(root, `clients/typescript/src/${name}.ts`)}";\n`);
  for (const name of ["openid-client", "jose"])
    symlinkSync(join(root, "node_modules", name), join(made, "node_modules", name));
  return made;
}

const needed: Record<Language, string> = {
  bash: "curl --version && jq --version && openssl version",
  js: "node --version",
  ts: "node --version",
  python: "/usr/bin/python3 -c 'import authlib'",
  php: "php -m | grep -x curl",
};

/** Whether a program can be run here; where the whole check runs, everything that is needed must be there. */
export function isRunnable({ language }: Snippet): boolean {
  if (process.env["CI"] === "true") return true;
  const known = found.get(language) ?? spawnSync("bash", ["-c", needed[language]]).status === 0;
  found.set(language, known);
  return known;
}

const found = new Map<Language, boolean>();

export type Surroundings = { env: Record<string, string>; replace: Record<string, string> };

/** Starts a program of a page in a process of its own, with texts of the page replaced, such as the issuer. */
function start(snippet: Snippet, { env, replace }: Surroundings, port?: number): ChildProcess {
  folder ??= makeFolder();
  const { language } = snippet;
  const file = join(folder, `program-${++programs}.${extensions[language]}`);
  let code = snippet.code;
  for (const [from, to] of Object.entries(replace)) code = code.replaceAll(from, to);
  writeFileSync(file, language === "bash" ? `set -uo pipefail\n${code}\n` : `${code}\n`);
  const serve = port === undefined ? [] : ["-q", "-S", `localhost:${port}`];
  const commands: Record<Language, [string, string[]]> = {
    bash: ["bash", [file]],
    js: [process.execPath, [file]],
    ts: [process.execPath, [file]],
    python: ["/usr/bin/python3", [file]],
    php: ["php", [...serve, file]],
  };
  const [program, args] = commands[language];
  return spawn(program, args, {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: process.env["HOME"] ?? "/",
      LANG: "C.UTF-8",
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

type Ended = { code: number | null; printed: string; complaints: string };

/** Runs a program to its end. Errors: a program that is not installed throws. */
export async function runSnippet(snippet: Snippet, surroundings: Surroundings): Promise<Ended> {
  const child = start(snippet, surroundings);
  const [printed, complaints] = [collect(child, "stdout"), collect(child, "stderr")];
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  return { code, printed: printed(), complaints: complaints() };
}

export type Server = { url: string; printed(): string; complaints(): string };

/**
 * Starts a program that listens on `port` of its page, on a free port instead; it ends with the test file.
 *
 * Errors: a program that ends before it listens throws.
 */
export async function startSnippet(snippet: Snippet, surroundings: Surroundings, port: string): Promise<Server> {
  const free = await findPort();
  const replace = { ...surroundings.replace, [port]: `${free}` };
  const child = start(snippet, { ...surroundings, replace }, free);
  atFileEnd(() => void child.kill());
  const [printed, complaints] = [collect(child, "stdout"), collect(child, "stderr")];
  let failure: string | undefined;
  child.once("error", ({ message }) => (failure = message)).once("close", () => (failure ??= "it ended"));
  const url = `http://localhost:${free}`;
  while (!(await listens(url))) {
    if (failure !== undefined) throw new Error(`the server does not listen: ${failure}\n${complaints()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { url, printed, complaints };
}

function collect(child: ChildProcess, stream: "stdout" | "stderr"): () => string {
  let text = "";
  child[stream]!.setEncoding("utf8").on("data", (part: string) => (text += part));
  return () => text;
}

const listens = (url: string): Promise<boolean> =>
  fetch(`${url}/favicon.ico`).then(
    async (response) => (await response.arrayBuffer()).byteLength >= 0,
    () => false,
  );
