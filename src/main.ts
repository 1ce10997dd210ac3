import { makeBanner } from "./banner.ts";
import { ConfigError, readConfig, type Config } from "./config/index.ts";
import { exitCodes, explainFailure } from "./failure.ts";
import { makeLog } from "./platform/telemetry/log.ts";
import { startSeveral } from "./start-several.ts";
import { startService, type Running } from "./start.ts";

function readConfigOrEnd(): Config {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(`Schultor does not start. ${error.message}\ndocs/configuration.md has a table of all options.`);
    return process.exit(exitCodes.badConfiguration);
  }
}

const config = readConfigOrEnd();
const log = makeLog({ level: config.logLevel, format: config.production ? "json" : "readable" });
const say = (line: string) => (config.production ? log.info(line) : console.log(line));
let service: Running | null = null;
let endingSince: number | null = null;

// Ctrl-C in a terminal arrives twice, directly and through npm; this is not a second signal.
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
  const start = config.webProcesses > 1 ? startSeveral : startService;
  service = await start(config, { log, say, onLost: (what) => void end(what, exitCodes.failed) });
  if (config.production)
    log.info(
      {
        port: service.config.port,
        metricsPort: service.metricsPort,
        role: config.role,
        webProcesses: config.webProcesses,
        issuer: config.issuerUrl,
      },
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
