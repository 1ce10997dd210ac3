import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { findPort } from "../../test/support/find-port.ts";
import { childrenOf } from "../cores/cpu-time.ts";
import { readCpuMs } from "../harness.ts";

/** CPU of nginx. Units: milliseconds; the connection is one with a whole handshake. */
export type ProxyCost = { requestMs: number; connectionMs: number };

/** Null where nginx or openssl is not installed. Shape: the address is one that the service answers with 200. */
export async function measureProxy(
  { url, path, headers }: { url: string; path: string; headers: Record<string, string> },
  count: number,
): Promise<ProxyCost | null> {
  const folder = mkdtempSync(join(tmpdir(), "schultor-proxy-"));
  chmodSync(folder, 0o755);
  try {
    const port = await findPort();
    writeFileSync(join(folder, "nginx.conf"), settingsOf(folder, port, new URL(url).host));
    const pair = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-keyout",
      "privkey.pem",
      "-out",
      "fullchain.pem",
    ];
    execFileSync("openssl", ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost", ...pair], {
      cwd: folder,
      stdio: "ignore",
    });
    const nginx = spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "error.log"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await once(nginx, "spawn");
    try {
      const worker = await findWorker(nginx.pid!);
      const measure = async (isKept: boolean): Promise<number> => {
        const dispatcher = new Agent({ connections: 16, connect: { rejectUnauthorized: false, maxCachedSessions: 0 } });
        const ask = async () => {
          const answer = await request(`https://127.0.0.1:${port}${path}`, { dispatcher, headers, reset: !isKept });
          await answer.body.dump();
          if (answer.statusCode !== 200) throw new Error(`nginx answered ${answer.statusCode}`);
        };
        const askInTurns = async () => {
          for (let n = 0; n < count / 16; n++) await ask();
        };
        await Promise.all(Array.from({ length: 16 }, ask));
        const before = readCpuMs(worker);
        await Promise.all(Array.from({ length: 16 }, askInTurns));
        const cpuMs = readCpuMs(worker) - before;
        await dispatcher.close();
        return cpuMs / (Math.ceil(count / 16) * 16);
      };
      const requestMs = await measure(true);
      return { requestMs, connectionMs: (await measure(false)) - requestMs };
    } finally {
      nginx.kill("SIGTERM");
      await once(nginx, "exit");
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function findWorker(pid: number): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const [worker] = childrenOf(pid);
    if (worker !== undefined && readFileSync(`/proc/${worker}/cmdline`, "latin1").includes("worker")) return worker;
    await wait(50);
  }
  throw new Error("nginx did not start");
}

/** The sample of deploy/, at an address of this machine. */
function settingsOf(folder: string, port: number, service: string): string {
  const sample = readFileSync(new URL("../../deploy/nginx/schultor.conf", import.meta.url), "utf8")
    .replace("127.0.0.1:3000", service)
    .replaceAll(/ +listen \[::\].*\n/g, "")
    .replace("listen 80;", `listen unix:${folder}/plain;`)
    .replace("listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl; keepalive_requests 1000000;`)
    .replaceAll("/etc/ssl/schultor", folder)
    .replaceAll("/var/log/nginx", folder);
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off; worker_processes 1; pid ${folder}/pid; events {} http { ${folders.join(" ")} ${sample} }`;
}
