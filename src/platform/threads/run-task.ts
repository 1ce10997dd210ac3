export type Sent = { module: string; given: unknown };
export type Reply = { made: unknown } | { error: unknown };

/** Runs the default export of a module. */
export async function runTask({ module, given }: Sent): Promise<Reply> {
  try {
    const { default: run } = (await import(module)) as { default: (given: unknown) => unknown };
    return { made: await run(given) };
  } catch (error) {
    return { error };
  }
}
