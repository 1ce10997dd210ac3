import { pino, type DestinationStream, type Logger } from "pino";
import { makeReadableStream } from "./log-readable.ts";
import { hideSecrets } from "./log-secrets.ts";
import { escapeLines } from "../text/unprintable.ts";

export type Log = Logger;

type LogOptions = {
  level: string;
  format: "json" | "readable";
  process?: string | undefined;
  to?: DestinationStream;
};

export function makeLog({ level, format, process: name, to }: LogOptions): Log {
  const options = {
    level,
    base: name === undefined ? null : { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => hideSecrets(fields),
    },
    serializers: { err: (err: unknown) => err },
  };
  const destination = to ?? pino.destination({ dest: 1, sync: true });
  // JSON escapes only ASCII controls.
  const escaped: DestinationStream = { write: (text) => destination.write(escapeLines(text)) };
  return pino(options, format === "readable" ? makeReadableStream(destination) : escaped);
}

export const silentLog: Log = pino({ level: "silent" });
