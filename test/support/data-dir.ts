import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new data folder that the server's own user can enter when the tests run as root. */
export function makeDataDir(): string {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), "schultor-test-")));
  chmodSync(dataDir, 0o711);
  return dataDir;
}

export function removeDataDir(dataDir: string): void {
  const cluster = join(dataDir, "postgres");
  if (existsSync(cluster)) rmSync(realpathSync(cluster), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
