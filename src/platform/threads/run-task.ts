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

/** Lowers the priority so that sign-ons go first; without effect where a service manager forbids it. */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(niceness);
  } catch {
    // Only the order of work differs.
  }
}
