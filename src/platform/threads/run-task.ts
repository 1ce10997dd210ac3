import { setPriority } from "node:os";

export type Sent = { module: string; input: unknown };

/** Runs the default export of a module. */
export async function runTask({ module, input }: Sent): Promise<unknown> {
  const { default: run } = (await import(module)) as { default: (value: unknown) => unknown };
  return run(input);
}

/** Lowers the priority so that sign-ons go first; without effect where a service manager forbids it. */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(niceness);
  } catch {
    // Only the order of work differs.
  }
}
