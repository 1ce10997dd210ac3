// The service itself, as `npm start` runs it in production but for the address: in one process, unless WEB_CONCURRENCY
// says otherwise.
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { readConfig } from "../../src/config/index.ts";
import { startSeveral } from "../../src/start-several.ts";
import { startService } from "../../src/start.ts";

const config = {
  ...readConfig({ ...process.env, NODE_ENV: "development", PORT: "0", DEMO_WORLD: "false" }),
  production: true,
};
const log = makeLog({ level: config.logLevel, format: "json" });
const start = config.webProcesses > 1 ? startSeveral : startService;
const service = await start(config, { log, say: () => undefined, onLost: (what) => log.fatal(what) });
process.send?.({ url: service.config.issuerUrl });
process.on("message", () => process.send?.({ peakKb: process.resourceUsage().maxRSS }));
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
// Nobody measures any more.
process.once("disconnect", () => process.exit(1));
