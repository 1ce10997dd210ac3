import { makeLog, type Log } from "../../src/platform/telemetry/log.ts";

const failures: string[] = [];

/** The log of a service under test: it keeps what the service could not answer, for the test that fails by it. */
export const failureLog: Log = makeLog({
  level: "error",
  format: "json",
  to: { write: (line) => void (failures.length < 20 && failures.push(line.trim())) },
});

/** What services could not answer since the last test ended. */
export const takeFailures = (): string[] => failures.splice(0);
