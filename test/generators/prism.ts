import { spawn } from "node:child_process";
import { join } from "node:path";
import { atFileEnd } from "../support/file-end.ts";
import { findPort } from "../support/find-port.ts";

const folder = join(import.meta.dirname, "../../.cache/generators");

export type Prism = {
  /** The address of the proxy of a bundle. */
  url(bundle: string): string;
  /** What the proxies found against the contract, a line each. */
  violations(): Promise<string[]>;
};

/** Starts a Prism between callers and the service for each bundle; ends with the test file. */
export async function startPrism(bundles: string[], upstream: string): Promise<Prism> {
  const started = new Map(
    await Promise.all(bundles.map(async (bundle) => [bundle, await startOne(bundle, upstream)] as const)),
  );
  return {
    url: (bundle) => started.get(bundle)!.url,
    violations: async () =>
      [...started.values()].flatMap(({ printed }) =>
        printed()
          .split("\n")
          .filter((line) => /violation/i.test(line)),
      ),
  };
}

async function startOne(bundle: string, upstream: string): Promise<{ url: string; printed(): string }> {
  const port = await findPort();
  const args = ["proxy", `bundles/${bundle}.yaml`, upstream, "--port", String(port), "--host", "127.0.0.1"];
  const child = spawn(process.execPath, [join(folder, "node_modules/.bin/prism"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  atFileEnd(() => child.kill());
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", () => printed.includes("Prism is listening") && resolve());
    child.on("exit", () => reject(new Error(`Prism ended:\n${printed}`)));
  });
  return { url: `http://127.0.0.1:${port}`, printed: () => printed };
}
