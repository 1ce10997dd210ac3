const ends: (() => unknown)[] = [];

// Undefined outside a run of tests.
let pathOfFile = (): string | undefined => undefined;
let begun: string | undefined;

/** Says which file of tests has begun, and how to read which one runs. */
export function beginFile(readPath: typeof pathOfFile): void {
  pathOfFile = readPath;
  begun = readPath();
}

/**
 * Does this after the last test of the file; inside a running test too, where a hook of vitest comes too late to
 * count.
 *
 * Shape: what was asked for last is done first.
 */
export function atFileEnd(end: () => unknown): void {
  if (pathOfFile() !== begun)
    throw new Error("each-file.ts did not run for this file: nothing would be done at its end");
  ends.push(end);
}

/** Does all that was asked for, and fails with what failed. */
export async function endFile(): Promise<void> {
  const failed: unknown[] = [];
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end();
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, "the end of a file of tests failed");
}

/** Takes all properties away: Node keeps the module of a file of tests, and with it all that the module holds. */
export function empty(held: object): void {
  for (const key of Object.keys(held)) Reflect.deleteProperty(held, key);
}
