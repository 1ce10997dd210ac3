import { parseArgs } from "node:util";
import demo from "./demo.json" with { type: "json" };
import { startPartnerApp, type PartnerApp, type Registered } from "./partner-app.ts";

/** The partner apps of the demo world in one process, each at the port that its registration names. */
export type DemoApps = {
  running: PartnerApp[];
  /** Ports that other programs have; the apps of these ports were not started. */
  takenPorts: number[];
  close(): Promise<void>;
};

type Settings = { issuerUrl: string; baseUrl: string; platform: string; portOf?: (app: Registered) => number };

const registeredPort = ({ redirectUris: [uri] }: Registered): number => Number(new URL(uri!).port);

/** Starts an app for each client of the demo world. Errors: a taken port is answered in `takenPorts`. */
export async function startDemoApps({ portOf = registeredPort, ...settings }: Settings): Promise<DemoApps> {
  const takenPorts: number[] = [];
  const started = demo.apps.map(async (app) => {
    try {
      return [await startPartnerApp(app, { ...settings, demoPlatform: demo.platform, port: portOf(app) })];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      takenPorts.push(portOf(app));
      return [];
    }
  });
  const running = (await Promise.all(started)).flat();
  return { running, takenPorts, close: async () => void (await Promise.all(running.map((app) => app.close()))) };
}

if (import.meta.main) {
  const { issuer } = parseArgs({ options: { issuer: { type: "string", default: "http://localhost:3000" } } }).values;
  const { running, takenPorts } = await startDemoApps({ issuerUrl: issuer, baseUrl: issuer, platform: demo.platform });
  for (const { name, url } of running) console.log(`${name} is at ${url} and signs in with ${issuer}`);
  for (const port of takenPorts)
    console.error(`Port ${port} is taken by another program. \`npm start\` runs the demo apps too.`);
  if (running.length === 0) process.exitCode = 1;
}
