import { makeBanner } from "./banner.ts";
import { ConfigError, readConfig, type Config } from "./config/index.ts";
import { makeLog } from "./platform/log.ts";
import { DatabaseStartError } from "./platform/postgres/index.ts";
import { startService, type Running } from "./start.ts";

const exitCodes = { failed: 1, badConfiguration: 78, interrupted: 130 };

function readConfigOrEnd(): Config {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(`Schultor does not start. ${error.message}\nThe README has a table of all options.`);
    return process.exit(exitCodes.badConfiguration);
  }
}

/** What an operator can do about the error, in one or two lines; null for an unexpected one. */
function explainFailure(error: unknown, config: Config): string | null {
  if (error instanceof DatabaseStartError) return error.message;
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const variable = port === config.metricsPort ? "METRICS_PORT" : "PORT";
  if (code === "EADDRINUSE")
    return `Port ${port} is taken by another program. Stop it, or set ${variable} to a free port.`;
  if (code === "EACCES" && port !== undefined)
    return `This user may not open port ${port}. Choose one above 1023 and put a proxy in front.`;
  return null;
}

const config = readConfigOrEnd();
const log = makeLog({ level: config.logLevel, format: config.production ? "json" : "readable" });
const say = (line: string) => (config.production ? log.info(line) : console.log(line));
let service: Running | null = null;
let endingSince: number | null = null;

// Ctrl-C in a terminal arrives twice, directly and through npm: only a later signal is a second one.
const echoMs = 500;

async function end(reason: string, exitCode: number): Promise<void> {
  if (endingSince !== null) {
    if (performance.now() - endingSince > echoMs) process.exit(exitCodes.interrupted);
    return;
  }
  endingSince = performance.now();
  const stuck = setTimeout(() => process.exit(exitCodes.failed), (config.shutdownGraceSeconds + 30) * 1000);
  stuck.unref();
  say(`Stopping: ${reason}. Running requests are finished first; send the signal again to stop at once.`);
  await service?.stop();
  say("Stopped.");
  process.exit(exitCode);
}

function crash(error: unknown): void {
  log.fatal({ err: error }, "unexpected error, the process ends");
  process.exit(exitCodes.failed);
}

process.on("uncaughtException", crash);
process.stdout.on("error", () => undefined);
process.on("SIGTERM", () => void end("received SIGTERM", 0));
process.on("SIGINT", () => void end("received SIGINT", 0));

try {
  service = await startService(config, { log, say, onLost: (what) => void end(what, exitCodes.failed) });
  if (config.production)
    log.info(
      { port: service.config.port, metricsPort: service.metricsPort, role: config.role, issuer: config.issuerUrl },
      "ready",
    );
  else console.log(makeBanner(service.config, service));
} catch (error) {
  const explained = explainFailure(error, config);
  if (explained === null) crash(error);
  else if (config.production) log.fatal(explained);
  else console.error(`\n${explained}`);
  process.exit(exitCodes.failed);
}
