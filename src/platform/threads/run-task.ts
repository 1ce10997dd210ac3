import { setPriority } from "node:os";

export type Sent = { module: string; given: unknown };
export type Reply = { made: unknown } | { error: unknown };

/** Runs the default export of a module. */
export async function runTask({ module, given }: Sent): Promise<Reply> {
  try {
    const { default: run } = (await import(module)) as { default: (input: unknown) => unknown };
    return { made: await run(given) };
  } catch (error) {
    return { error };
  }
}

/** Lets sign-ons go first. A service manager may forbid it, as the sample for systemd does; the work goes on then. */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(niceness);
  } catch {
    // Only the order of work differs.
  }
}
