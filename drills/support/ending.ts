const signals = ["SIGINT", "SIGTERM"] as const;

/** What a drill has to stop when it ends. */
export type Ending = {
  /** Adds what stops a thing; to be added before the thing is started, because a signal may come meanwhile. */
  add(stop: () => unknown): void;
  /** Stops everything, what was added last first; a second call waits for the first. */
  end(): Promise<void>;
};

/** Makes a drill stop what it started, also when it is told to end (SIGINT, SIGTERM); it then exits with 1. */
export function makeEnding(): Ending {
  const stops: (() => unknown)[] = [];
  let ending: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.toReversed())
      try {
        await stop();
      } catch (error) {
        process.exitCode = 1;
        console.error(error);
      }
  };
  const end = () => (ending ??= stopAll());
  for (const signal of signals) process.on(signal, () => void end().then(() => process.exit(1)));
  return { add: (stop) => void stops.push(stop), end };
}
