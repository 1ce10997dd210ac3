import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { packClient } from "../../clients/pack/index.ts";

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
  const url = "https://login.example.org";
  const origin = { platform: "schultor", baseUrl: url, issuerUrl: url, repository: null, licence: "MIT" };
  const packed = join(folder, "schultor-client.tgz");
  writeFileSync(packed, await packClient(origin));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await runIn(folder, "npm", "install", "--offline", "--no-audit", "--no-fund", packed);
  return packed;
}

export const clientReadme = readFileSync(join(source, "README.md"), "utf8");

/** The blocks of the README that are files, with `url` as the address of the service. */
export const readSnippets = (url: string): { name: string; text: string }[] =>
  [...clientReadme.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm)].map(([, name, text]) => ({
    name: name!,
    text: text!.replace("http://localhost:3000", url),
  }));
