import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unpackTar } from "modern-tar";
import { expect } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { makeBrowser } from "../support/browser.ts";
import { compileCache } from "../support/compile-cache.ts";
import type { TestService } from "../support/service.ts";
import { passPages, type Login } from "../support/token.ts";

/** What the service does about changes while nobody asks it. */
export async function notifyApps({ runJob }: TestService): Promise<void> {
  for (const name of ["webhooks.fanOut", "webhooks.deliver"]) await runJob(name);
}

/** The files of the finished folder of a tutorial, as the service hands it out. */
export async function readFinished({ url }: TestService, tutorial: string): Promise<Map<string, string>> {
  const { body } = await fetch(`${url}/downloads/${tutorial}.tgz`);
  const entries = await unpackTar(body!.pipeThrough(new DecompressionStream("gzip")));
  return new Map(entries.map(({ header, data }) => [header.name, new TextDecoder().decode(data)]));
}

type Terminal = { run(code: string): Promise<string> };

/** The browser of the machine: writes down which address it is told to open. */
const openedFile = "opened-address";
const browser = `#!/bin/sh\necho "$1" > "$HOME/${openedFile}"\n`;

/** Without a registry: nothing but the service is asked. */
const npmrc = "registry=http://127.0.0.1:9/\nfetch-retries=0\naudit=false\nupdate-notifier=false\n";

/**
 * A reader's terminal: a shell that goes on from one block of a page to the next, with a home of its own and nothing
 * else, while the service does its jobs. In the browser, the reader signs in as `login` and confirms.
 *
 * Shape:  `run` returns what was printed; the address of the service is filled in as on the served page.
 * Errors: a block that fails, fails the test.
 */
export function openTerminal(service: TestService, home: string, login: Login): Terminal {
  const programs = join(home, "programs");
  mkdirSync(programs, { recursive: true });
  writeFileSync(join(programs, "xdg-open"), browser, { mode: 0o755 });
  writeFileSync(join(home, ".npmrc"), npmrc);
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    cwd: home,
    env: {
      PATH: [programs, dirname(process.execPath), "/usr/bin", process.env["PATH"]].join(":"),
      HOME: home,
      LANG: "C.UTF-8",
      NODE_COMPILE_CACHE: compileCache,
    },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let [printed, complaints] = ["", ""];
  shell.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  shell.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  atFileEnd(
    () => new Promise((resolve) => void shell.once("close", resolve).stdin.end("kill $(jobs -p) 2>/dev/null; wait\n")),
  );

  const opened = join(home, openedFile);
  async function useBrowser(): Promise<void> {
    if (!existsSync(opened)) return;
    const address = readFileSync(opened, "utf8").trim();
    if (address === "") return;
    rmSync(opened);
    const shown = makeBrowser(service.url);
    const back = await passPages(shown, await shown.open(address), login);
    await fetch(back.url);
  }

  let blocks = 0;
  const run = async (code: string): Promise<string> => {
    const end = `end of block ${++blocks}:`;
    const isOver = new RegExp(`${end} \\d+\\n`);
    printed = "";
    shell.stdin.write(`{ ${code.replaceAll("http://localhost:3000", service.url)}\n} </dev/null\necho "${end} $?"\n`);
    while (!isOver.test(printed)) {
      // The programs of the block need the processors more than the jobs do.
      await sleep(200);
      await notifyApps(service);
      await useBrowser();
      if (shell.exitCode !== null) throw new Error(`the terminal ended: ${complaints}`);
    }
    const [output, status] = printed.split(end);
    expect(status!.trim(), output! + complaints).toBe("0");
    return output!.trim();
  };
  return { run };
}
