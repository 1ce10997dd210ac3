import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../deploy/postgres/processes.ts";
import { findPort } from "../../support/find-port.ts";

const root = join(import.meta.dirname, "../../..");

/** Processes of the service, none of which is ever started again. */
export type Service = {
  urls: string[];
  countEnded(): number;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
};

type Options = { urls: { primary: string; replica: string }; logs: string; graceSeconds: number };

/** Starts two processes for requests and two for jobs. */
export async function startService({ urls, logs, graceSeconds }: Options): Promise<Service> {
  const ports = [await findPort(), await findPort(), await findPort(), await findPort()];
  const children = ports.map((port, index) => {
    const role = index < 2 ? "web" : "worker";
    const log = openSync(join(logs, `${role}-${index % 2}.log`), "a");
    const child = spawn(process.execPath, ["src/main.ts"], {
      cwd: root,
      stdio: ["ignore", log, log],
      env: {
        PATH: process.env["PATH"],
        ROLE: role,
        HOST: "127.0.0.1",
        PORT: String(port),
        ISSUER_URL: `http://127.0.0.1:${ports[0]!}`,
        DATABASE_URL: urls.primary,
        DATABASE_REPLICA_URL: urls.replica,
        DEMO_WORLD: "false",
        LOG_LEVEL: "warn",
        WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
        REFRESH_GRACE_SECONDS: String(graceSeconds),
        // Longer than a failover, for codes that are used again after it.
        AUTHORIZATION_CODE_SECONDS: "300",
      },
    });
    closeSync(log);
    return child;
  });
  const all = ports.map((port) => `http://127.0.0.1:${port}`);
  const hasEnded = ({ exitCode, signalCode }: ChildProcess) => (exitCode ?? signalCode) !== null;
  return {
    urls: all.slice(0, 2),
    countEnded: () => children.filter(hasEnded).length,
    untilReady: () =>
      until("the service is ready", 300, async () => {
        if (children.some(hasEnded)) throw new Error("a process of the service ended");
        const answers = await Promise.all(all.map((url) => fetch(`${url}/health/ready`).catch(() => null)));
        return answers.every((answer) => answer?.ok);
      }),
    async stop() {
      for (const child of children) child.kill("SIGTERM");
      await until("the service ends", 60, () => children.every(hasEnded)).catch(() => {
        for (const child of children) child.kill("SIGKILL");
      });
    },
  };
}
