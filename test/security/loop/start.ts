import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../support/compile-cache.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { encryptionKeys } from "../../support/upstream.ts";

// A turn may take as long as five pieces of fixed work, which take 12 ms each where nothing else runs.
const piecesOfWork = 5;
export const leastMs = 60;

export type Watched = {
  url: string;
  /** The longest that the event loop stood still since the last call of any of these. Units: milliseconds. */
  takeLongestMs(): Promise<number>;
  /** The longest that it may stand still on this machine just now. */
  measureMostMs(): Promise<number>;
  /** Lets it stand still; answers as `takeLongestMs`. */
  block(ms: number): Promise<number>;
  jobs: string[];
  /** Runs a job to its end. Errors: what the job throws. */
  runJob(name: string): Promise<void>;
};

/** Starts the service in a process of its own, whose event loop is watched; ends with the test file. */
export async function startWatched(databaseUrl: string): Promise<Watched> {
  const child = fork(fileURLToPath(new URL("./service.ts", import.meta.url)), {
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: compileCache,
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEYS: encryptionKeys.map((key) => key.toString("base64")).join(","),
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  atFileEnd(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const hear = async <T>(): Promise<T> => {
    const [message] = (await Promise.race([
      once(child, "message"),
      ended.then(() => Promise.reject(new Error("The service ended."))),
    ])) as [T];
    return message;
  };
  const { url, jobs } = await hear<{ url: string; jobs: string[] }>();
  const ask = async (what: string, of = "") => {
    const heard = hear<{ answer: number; failure?: string }>();
    child.send({ ask: what, of });
    const { answer, failure } = await heard;
    if (failure !== undefined) throw new Error(failure);
    return answer;
  };
  return {
    url,
    takeLongestMs: () => ask("take"),
    measureMostMs: async () => Math.max(leastMs, piecesOfWork * (await ask("work"))),
    block: (ms) => ask("block", String(ms)),
    jobs,
    runJob: async (job) => void (await ask("run", job)),
  };
}
