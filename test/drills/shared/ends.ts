/** What a drill has started: ended in the opposite order at its end, after a failure, and on a signal. */
export type Ends = {
  /** Answers what was started, once it has. It is ended also when the drill ends before. */
  keep<T>(started: Promise<T>, end: (it: T) => unknown): Promise<T>;
  add(end: () => unknown): void;
};

const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const patienceMs = 60_000;

function makeEnds(): Ends & { run(): Promise<void> } {
  const ends: (() => unknown)[] = [];
  const add = (end: () => unknown) => void ends.push(end);
  return {
    add,
    keep(started, end) {
      add(() => started.then(end, () => undefined));
      return started;
    },
    async run() {
      for (let end = ends.pop(); end !== undefined; end = ends.pop())
        try {
          await end();
        } catch (error) {
          console.error(error);
        }
    },
  };
}

/** Runs a drill to its end and ends this process: 0 where it answers true, otherwise 1, or as signals do. */
export async function runDrill(drill: (ends: Ends) => Promise<boolean>): Promise<void> {
  const ends = makeEnds();
  let isEnding = false;
  const stop = async (exitCode: number) => {
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(exitCode || 1), patienceMs).unref();
    await ends.run();
    process.exit(exitCode);
  };
  const fail = (error: unknown) => {
    // What ends while the drill is being ended makes the drill fail, which says nothing.
    if (!isEnding) console.error(error);
    return stop(1);
  };
  for (const [signal, exitCode] of Object.entries(signals)) process.on(signal, () => void stop(exitCode));
  for (const event of ["uncaughtException", "unhandledRejection"]) process.on(event, (error) => void fail(error));
  await drill(ends).then((isGood) => stop(isGood ? 0 : 1), fail);
}
