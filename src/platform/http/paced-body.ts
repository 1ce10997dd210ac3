import type { ServerResponse } from "node:http";
import { CallerLeft } from "../concurrency/caller.ts";
import type { Pace } from "./reads.ts";

const slice = 65_536;

/** Writes at the reader's speed, and resets the connection of a reader that is too slow. Errors: CallerLeft. */
export function makePacedBody(
  res: ServerResponse,
  { stallMs, totalMs }: Pace,
): { write(piece: string | Buffer): Promise<void>; end(): Promise<void> } {
  const end = performance.now() + totalMs;
  const left = () => Math.min(stallMs, end - performance.now());
  return {
    async write(piece) {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      for (let at = 0; at < bytes.length; at += slice) {
        if (res.destroyed) throw new CallerLeft();
        if (left() <= 0) throw cutOff(res);
        if (!res.write(bytes.subarray(at, at + slice))) await happens(res, "drain", left());
      }
    },
    async end() {
      if (res.destroyed) throw new CallerLeft();
      res.end();
      await happens(res, "finish", left());
    },
  };
}

/** Resets the connection of a slow reader of a body that was written at once. */
export async function watchBody(res: ServerResponse, bytes: number, { stallMs, totalMs }: Pace): Promise<void> {
  if (!res.writableFinished) await happens(res, "finish", Math.min(totalMs, stallMs * Math.ceil(bytes / slice)));
}

function cutOff(res: ServerResponse): CallerLeft {
  if (res.socket) res.socket.resetAndDestroy();
  else res.destroy();
  return new CallerLeft();
}

function happens(res: ServerResponse, event: "drain" | "finish", withinMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const done = () => resolve(undefined);
  const leave = () => reject(new CallerLeft());
  const timer = setTimeout(() => reject(cutOff(res)), withinMs);
  res.once(event, done).once("close", leave);
  return promise.finally(() => {
    clearTimeout(timer);
    res.off(event, done).off("close", leave);
  });
}
