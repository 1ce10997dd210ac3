import type { Config } from "./config/index.ts";
import { DatabaseStartError, explainDatabaseError } from "./platform/postgres/index.ts";

export const exitCodes = { failed: 1, badConfiguration: 78, interrupted: 130 };

/** `explained` is what an operator can do about it, if known. */
export class ProcessStartError extends Error {
  readonly explained: string | null;

  constructor(explained: string | null, cause: Error) {
    super(`a process of the service did not start: ${cause.message}`, { cause });
    this.name = "ProcessStartError";
    this.explained = explained;
  }
}

/** What an operator can do about an error, in one or two lines; null if it is unexpected. */
export function explainFailure(error: unknown, config: Config): string | null {
  if (error instanceof DatabaseStartError) return error.message;
  if (error instanceof ProcessStartError) return error.explained;
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const variable = port === config.metricsPort ? "METRICS_PORT" : "PORT";
  if (code === "EADDRINUSE")
    return `Port ${port} is taken by another program. Stop it, or set ${variable} to a free port.`;
  if (code === "EACCES" && port !== undefined)
    return `This user may not open port ${port}. Choose one above 1023 and put a proxy in front.`;
  const said = explainDatabaseError(error);
  return said === null ? null : `PostgreSQL refuses: ${said}`;
}
