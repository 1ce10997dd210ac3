import { setTimeout as sleep } from "node:timers/promises";

const [patienceMs, pauseMs] = [120_000, 100];

/** Resolves when `isSo` answers true. Errors: it does not in two minutes. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await sleep(pauseMs);
  }
}
