import { spawn, type ChildProcess } from "node:child_process";
import { createWriteStream, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "../../..");
const libfaketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** Whether the clock of a process can be set (Debian: faketime). */
export const canSetClocks = existsSync(libfaketime);

/** One process of the service that is started again whenever it ends, as systemd would. */
export type Member = {
  role: "web" | "worker";
  port: number;
  starts(): number;
  signal(name: NodeJS.Signals): void;
  /** Sets its clock forward, or back to the right time. */
  setClock(offsetSeconds: number): void;
  /** Holds each look-up of a name for so long. */
  setDnsDelay(ms: number): void;
  stop(): Promise<void>;
};

type Wishes = { role: Member["role"]; port: number; folder: string; env: Record<string, string> };

export function startMember({ role, port, folder, env }: Wishes): Member {
  const name = `${role}-${port}`;
  const [clockFile, dnsFile] = [join(folder, `${name}.clock`), join(folder, `${name}.dns`)];
  const setClock = (offsetSeconds: number) =>
    writeFileSync(clockFile, `${offsetSeconds < 0 ? "" : "+"}${offsetSeconds}\n`);
  const setDnsDelay = (ms: number) => writeFileSync(dnsFile, String(ms));
  setClock(0);
  setDnsDelay(0);
  const log = createWriteStream(join(folder, `${name}.log`), { flags: "a" });
  const clock = {
    LD_PRELOAD: libfaketime,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  let [child, starts, isEnding] = [null as ChildProcess | null, 0, false];
  const start = () => {
    starts += 1;
    const slowDns = join(import.meta.dirname, "slow-dns.ts");
    child = spawn(process.execPath, ["--import", slowDns, "src/main.ts"], {
      cwd: root,
      env: { ...env, ROLE: role, PORT: String(port), DNS_DELAY_FILE: dnsFile, ...(canSetClocks && clock) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout!, child.stderr!]) stream.pipe(log, { end: false });
    child.once("exit", () => {
      child = null;
      if (!isEnding) setTimeout(() => isEnding || start(), 200);
    });
  };
  start();
  return {
    role,
    port,
    starts: () => starts,
    signal: (signal) => void child?.kill(signal),
    setClock,
    setDnsDelay,
    async stop() {
      isEnding = true;
      child?.kill("SIGTERM");
      for (let i = 0; i < 100 && child !== null; i++) await sleep(100);
      child?.kill("SIGKILL");
    },
  };
}
