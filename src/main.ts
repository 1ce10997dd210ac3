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

/** What a person can act on, in one or two lines; null for what nobody foresaw. */
function explainFailure(error: unknown, config: Config): string | null {
  if (error instanceof DatabaseStartError) return error.message;
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE")
    return `Port ${port} is taken by another program. End that one, or set ${port === config.metricsPort ? "METRICS_PORT" : "PORT"} to a free port.`;
  if (code === "EACCES" && port !== undefined)
    return `This user may not open port ${port}. Choose one above 1023 and put a proxy in front.`;
  return null;
}

const config = readConfigOrEnd();
const log = makeLog({ level: config.logLevel, format: config.production ? "json" : "readable" });
const say = (line: string) => (config.production ? log.info(line) : console.log(line));
let service: Running | null = null;
let endingSince: number | null = null;

// A terminal's Ctrl-C reaches us twice, directly and through npm: only a later signal means it.
const echoMs = 500;

async function end(reason: string, exitCode: number): Promise<void> {
  if (endingSince !== null) {
    if (performance.now() - endingSince > echoMs) process.exit(exitCodes.interrupted);
    return;
  }
  endingSince = performance.now();
  const stuck = setTimeout(() => process.exit(exitCodes.failed), (config.shutdownGraceSeconds + 30) * 1000);
  stuck.unref();
  say(`Stopping: ${reason}. Running requests may end; once more ends at once.`);
  await service?.stop();
  say("Stopped.");
  process.exit(exitCode);
}

function crash(error: unknown): void {
  log.fatal({ err: error }, "the process cannot go on");
  process.exit(exitCodes.failed);
}

process.on("uncaughtException", crash);
process.stdout.on("error", () => undefined);
process.on("SIGTERM", () => void end("asked to (SIGTERM)", 0));
process.on("SIGINT", () => void end("asked to (SIGINT)", 0));

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
