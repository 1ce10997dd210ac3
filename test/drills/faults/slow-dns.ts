// Loaded into a process of the service: look-ups of names wait as long as a file says, and `receiver.test` is this
// machine.
import dns from "node:dns";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type Lookup = (name: string, ...rest: unknown[]) => unknown;
const { lookup } = dns as unknown as { lookup: Lookup };
const delayMs = () => Number(readFileSync(process.env["DNS_DELAY_FILE"]!, "utf8"));
const slowLookup: Lookup = (name, ...rest) =>
  void setTimeout(() => lookup(name === "receiver.test" ? "127.0.0.1" : name, ...rest), delayMs());
Object.assign(dns, { lookup: slowLookup });
syncBuiltinESMExports();
