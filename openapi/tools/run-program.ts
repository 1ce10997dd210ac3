import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const programs = join(import.meta.dirname, "..", "..", "node_modules", ".bin");
const run = promisify(execFile);

/** Runs a program of the project. Errors: rejects with what it printed. */
export async function runProgram(program: string, args: string[], cwd: string): Promise<void> {
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
