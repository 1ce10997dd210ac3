import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { commands, makeLocal, runCommandLine } from "../../src/cli/index.ts";
import { connectLocal } from "../../src/cli/local/connect.ts";
import type { Local, OpenMachine } from "../../src/cli/local/machine.ts";
import { readConfig } from "../../src/config/index.ts";
import { readRemoteSettings } from "../../src/config/remote.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { atFileEnd } from "../support/file-end.ts";

type Ended = { code: number | null; out: string; err: string };
type Run = (args: readonly string[]) => Promise<Ended>;

/**
 * The command line in this process; with `answer`, somebody at a terminal who gives it. A database that the environment
 * names is opened once, for all commands, which go by the clock, or else by the machine's.
 */
export function runHere(env: Record<string, string>, answer?: string, clock?: Clock): Run {
  const local = makeLocal(async () => readConfig(env));
  return makeRun(env, env["DATABASE_URL"] === undefined ? local : keepOpen(local, clock), answer);
}

function makeRun(env: Record<string, string>, local: Local, answer?: string): Run {
  return async (args) => {
    let [out, err] = ["", ""];
    const ask = async (question: string) => {
      err += `${question}\n`;
      return answer!;
    };
    const terminal = {
      out: (text: string) => (out += `${text}\n`),
      err: (text: string) => (err += `${text}\n`),
      local,
      readRemoteSettings: () => readRemoteSettings(env),
      ...(answer !== undefined && { ask }),
    };
    return { code: await runCommandLine(commands, args, terminal), out, err };
  };
}

/** Opening a database and loading its client takes longer than most commands. */
function keepOpen(local: Local, clock?: Clock): Local {
  let kept: OpenMachine | undefined;
  let client: ReturnType<typeof connectLocal> | undefined;
  atFileEnd(async () => {
    await client?.close();
    await kept?.close();
  });
  return {
    ...local,
    open: async (screen) => {
      kept ??= await local.open(screen);
      const origin = () => ({ at: clock!(), actorId: "command-line" });
      const machine = { ...kept.machine, ...screen, ...(clock !== undefined && { clock, origin }) };
      return { machine, connect: async () => (client ??= connectLocal(machine)).api, close: async () => undefined };
    },
  };
}

/** What a terminal shows, line by line; `until` ends once the lines are as wanted. */
export function makeScreen() {
  const lines: string[] = [];
  const looks = new Set<() => void>();
  const show = (line: string): void => {
    lines.push(line);
    for (const look of looks) look();
  };
  const until = (isShown: (lines: readonly string[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => void (isShown(lines) && resolve());
      looks.add(look);
      look();
    });
  return { lines, show, until };
}

/** Sends folder, environment and arguments, and types what comes back. */
const asker = (port: number) => `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$#" "$PWD" "$@"; env -0; printf '\\0'; } >&3
eval "$(cat <&3)"
`;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Puts a program `schultor` into a folder, for the PATH of a shell, that runs in this process: without the half a
 * second that one of its own takes. Files of the shell's folder are named without folders.
 */
export async function serveHere(folder: string): Promise<void> {
  const answer = async (fields: readonly string[]): Promise<string> => {
    const [count = "0", place = "", ...rest] = fields;
    const args = rest.slice(0, Number(count)).map((arg) => (/^[\w-]+\.(csv|json)$/.test(arg) ? join(place, arg) : arg));
    const variables = rest.slice(Number(count)).map((pair) => [pair.split("=")[0]!, pair.replace(/^[^=]*=/, "")]);
    const env = Object.fromEntries(variables) as Record<string, string>;
    const { code, out, err } = await makeRun(
      env,
      makeLocal(async () => readConfig(env)),
    )(args);
    return `printf %s ${quoted(out)}; printf %s ${quoted(err)} >&2; exit ${code}`;
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.endsWith("\0\0")) void answer(text.slice(0, -2).split("\0")).then((typed) => socket.end(typed));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(() => new Promise<void>((resolve) => server.close(() => resolve())));
  writeFileSync(join(folder, "schultor"), asker((server.address() as AddressInfo).port), { mode: 0o755 });
}

/** What most commands answer with; a test knows which of it. */
type Answer = { id: string; clientId: string; clientSecret: string; password: string };

/** Somebody who types commands and reads their answers as data; `ask` throws for whatever is not done. */
export function makeOperator(run: Run) {
  const ask = async <Data = Answer>(...args: string[]): Promise<Data> => {
    const { code, out, err } = await run([...args, "--json"]);
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${err}`);
    return JSON.parse(out) as Data;
  };
  const refusal = async (...args: string[]) => {
    const { code, err } = await run([...args, "--json"]);
    const last = err.trim().split("\n").at(-1)!;
    return { exitCode: code, ...(JSON.parse(last) as { error: string; code: string }) };
  };
  return { ask, refusal };
}
