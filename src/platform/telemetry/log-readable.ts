import type { DestinationStream } from "pino";
import { escapeLines, escapeUnprintable } from "../text/unprintable.ts";

const quiet = new Set(["time", "level", "msg", "err"]);

type Line = {
  time: string;
  level: string;
  msg?: string;
  err?: { stack?: string; message?: string; internal?: string; cause?: Line["err"] };
};

function presentError(err: NonNullable<Line["err"]>): string {
  const own = `\n    ${escapeLines([err.stack ?? err.message, err.internal].filter(Boolean).join("\n")).replaceAll("\n", "\n    ")}`;
  return err.cause === undefined ? own : `${own}\n    caused by:${presentError(err.cause)}`;
}

function presentLine(text: string): string {
  const line = JSON.parse(text) as Line & Record<string, unknown>;
  const fields = Object.entries(line)
    .filter(([key]) => !quiet.has(key))
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const level = line.level === "info" ? "" : `${line.level.toUpperCase()} `;
  return `${line.time.slice(11, 19)} ${level}${escapeUnprintable([line.msg, ...fields].filter(Boolean).join(" "))}${line.err === undefined ? "" : presentError(line.err)}\n`;
}

export function makeReadableStream(to: DestinationStream): DestinationStream {
  return { write: (text) => to.write(presentLine(text)) };
}
