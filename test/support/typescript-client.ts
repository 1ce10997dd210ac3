import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import { packClient } from "../../src/publish/packages/client.ts";

const root = join(import.meta.dirname, "../..");
const source = join(root, "clients/typescript");
const run = promisify(execFile);

/** What a program finds that the tests start: our Node first. */
export const clientEnv = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };

/** Runs a program in a folder. Errors: an Error with all that it wrote. */
export async function runIn(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { cwd, env: clientEnv })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")}\n${stdout ?? ""}${stderr ?? ""}`, { cause: error });
  }
}

/** Packs the package for partners and installs it without a network in an empty folder. Shape: the packed file. */
export async function installClient(folder: string): Promise<string> {
  const pack = (from: string, ...options: string[]) =>
    runIn(from, "npm", "pack", "--silent", "--pack-destination", folder, ...options);
  const origin = { issuerUrl: "https://login.example.org", repository: null, licence: "MIT" };
  writeFileSync(join(folder, "schultor-client.tgz"), await packClient(origin));
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"])
    await pack(join(root, "node_modules", name), "--ignore-scripts");
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const paths = tarballs.map((name) => join(folder, name));
  await runIn(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", ...paths);
  return paths.find((path) => basename(path).startsWith("schultor-client"))!;
}

export const clientReadme = readFileSync(join(source, "README.md"), "utf8");

/** The blocks of the README that are files, with `url` as the address of the service. */
export const readSnippets = (url: string): { name: string; text: string }[] =>
  [...clientReadme.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm)].map(([, name, text]) => ({
    name: name!,
    text: text!.replace("http://localhost:3000", url),
  }));
