import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import type { TestService } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");

/** What the service does about changes while nobody asks it. */
export async function notifyApps({ jobs }: TestService): Promise<void> {
  for (const name of ["webhooks.fanOut", "webhooks.deliver"])
    await jobs.find((job) => job.name === name)!.run(new AbortController().signal);
}

type Terminal = { run(code: string): Promise<string> };

/**
 * A shell that goes on from one block of a page to the next, while the service does its jobs; ends with the test file.
 *
 * Shape:  `ports` are those of the page and what takes their place; `run` answers what was printed.
 * Errors: a block that fails, fails the test.
 */
export function openTerminal(service: TestService, home: string, ports: Record<string, number>): Terminal {
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    cwd: root,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: home,
      LANG: "C.UTF-8",
      NODE_ENV: "test",
      DATABASE_URL: service.db.url,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [printed, complaints] = ["", ""];
  shell.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  shell.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  atFileEnd(() => new Promise((resolve) => void shell.once("close", resolve).stdin.end("kill %% 2>/dev/null\n")));
  let blocks = 0;
  const run = async (code: string): Promise<string> => {
    const end = `end of block ${++blocks}`;
    let text = code;
    for (const [from, to] of Object.entries(ports)) text = text.replaceAll(from, `${to}`);
    printed = "";
    shell.stdin.write(`{ ${text}\n} </dev/null\necho "${end} $?"\n`);
    while (!printed.includes(end)) {
      await notifyApps(service);
      if (shell.exitCode !== null) throw new Error(`the terminal ended: ${complaints}`);
    }
    const [output, status] = printed.split(end);
    expect(status!.trim(), output! + complaints).toBe("0");
    return output!.trim();
  };
  return { run };
}
