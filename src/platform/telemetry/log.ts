import { pino, type DestinationStream, type Logger } from "pino";
import { escapeLines, escapeUnprintable } from "../text/unprintable.ts";

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
      log: (fields: Record<string, unknown>) => hideIn(fields, 0) as Record<string, unknown>,
    },
    serializers: { err: (err: unknown) => err },
  };
  const destination = to ?? pino.destination({ dest: 1, sync: true });
  // JSON escapes only ASCII controls.
  const present = format === "readable" ? presentLine : escapeLines;
  return pino(options, { write: (text) => destination.write(present(text)) });
}

export const silentLog: Log = pino({ level: "silent" });

const quiet = new Set(["time", "level", "msg", "err"]);

type Line = {
  time: string;
  level: string;
  msg?: string;
  err?: { stack?: string; message?: string; internal?: string; cause?: Line["err"] };
};

function writeError(err: NonNullable<Line["err"]>): string {
  const own = `\n    ${escapeLines([err.stack ?? err.message, err.internal].filter(Boolean).join("\n")).replaceAll("\n", "\n    ")}`;
  return err.cause === undefined ? own : `${own}\n    caused by:${writeError(err.cause)}`;
}

function presentLine(text: string): string {
  const line = JSON.parse(text) as Line & Record<string, unknown>;
  const fields = Object.entries(line)
    .filter(([key]) => !quiet.has(key))
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const level = line.level === "info" ? "" : `${line.level.toUpperCase()} `;
  return `${line.time.slice(11, 19)} ${level}${escapeUnprintable([line.msg, ...fields].filter(Boolean).join(" "))}${line.err === undefined ? "" : writeError(line.err)}\n`;
}

const hidden = "[hidden]";

const secretKey =
  /authorization|cookie|password|passphrase|secret|token|verifier|challenge|credential|username|login_?hint|private|^(first_?full|first_?call|last|(given|family|call)_?name|vorname|familienname|jwk|assertion|nonce|state)$/i;
const addressKey = /^(url|uri|path|location|referer|original_?url)$/i;

function presentError(error: Error, depth: number): Record<string, unknown> {
  const { code, kind, internal, cause } = error as Error & { code?: unknown; kind?: unknown; internal?: unknown };
  // No other properties: a database error quotes the row in `detail`.
  const fields = { type: error.name, message: error.message, code, kind, internal, stack: error.stack };
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ...(cause === undefined ? {} : { cause: hideIn(cause, depth + 1) }),
  };
}

function hideIn(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== "object") return value;
  if (depth > 5) return "[deep]";
  if (value instanceof Error) return presentError(value, depth);
  if (value instanceof Date || Buffer.isBuffer(value)) return Buffer.isBuffer(value) ? hidden : value;
  if (Array.isArray(value)) return value.map((entry) => hideIn(entry, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, hideEntry(key, entry, depth)]));
}

function hideEntry(key: string, value: unknown, depth: number): unknown {
  if (typeof value === "string" && addressKey.test(key)) return value.replace(/[?#].*$/s, "");
  const isHarmless = value === null || ["undefined", "number", "boolean"].includes(typeof value);
  if (secretKey.test(key) && !isHarmless) return hidden;
  if (/^name$/i.test(key) && typeof value === "object" && value !== null) return hidden;
  return hideIn(value, depth + 1);
}
