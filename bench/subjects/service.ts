// The service itself, in one process, as `npm start` runs it in production but for the address.
import { makeLog } from "../../src/platform/log.ts";
import { readConfig } from "../../src/config/index.ts";
import { startService } from "../../src/start.ts";

const config = {
  ...readConfig({ ...process.env, NODE_ENV: "development", PORT: "0", DEMO_WORLD: "false" }),
  production: true,
};
const log = makeLog({ level: config.logLevel, format: "json" });
const service = await startService(config, { log, say: () => undefined, onLost: (what) => log.fatal(what) });
process.send?.({ url: service.config.issuerUrl });
process.on("message", () => process.send?.({ peakKb: process.resourceUsage().maxRSS }));
process.once("SIGTERM", () => void service.stop().then(() => process.exit(0)));
// Nobody measures any more.
process.once("disconnect", () => process.exit(1));
