import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const packages = join(import.meta.dirname, "../../.cache/clients/python");

/** Debian's own Python, or the PYTHON that is named, with what the generated client needs. */
async function findPython(): Promise<string> {
  const program = process.env["PYTHON"] ?? "/usr/bin/python3";
  const needs = "import urllib3, dateutil, pydantic; assert pydantic.VERSION.startswith('1.')";
  await run(program, ["-c", needs]).catch((cause: unknown) => {
    throw new Error(
      `${program} lacks what the generated client needs: apt-get install python3-urllib3 python3-pydantic python3-dateutil`,
      { cause },
    );
  });
  return program;
}

/** Runs a Python program that finds the generated clients, and returns what it printed. */
export async function runPython(args: string[]): Promise<string> {
  const python = await findPython();
  const PYTHONPATH = readdirSync(packages)
    .map((bundle) => join(packages, bundle))
    .join(":");
  const { stdout } = await run(python, args, { env: { PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" }, maxBuffer: 1 << 26 });
  return stdout;
}
