import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { WorkerJob } from "../jobs/worker.ts";

const prefix = "schultor-upload-";
const keptHours = 24;

/** A request's file, received into a temporary file that `drop` removes unless `keep` was called. */
export class Upload {
  readonly #req: IncomingMessage;
  readonly #limit: number;
  #received: { path: string; size: number; sha256: string } | undefined;
  #isKept = false;

  constructor(req: IncomingMessage, limit: number) {
    this.#req = req;
    this.#limit = limit;
  }

  /** Errors: too_large body_too_large; invalid if the connection ends early. */
  async receive(): Promise<void> {
    if (Number(this.#req.headers["content-length"] ?? 0) > this.#limit) throw this.#tooLarge();
    const path = join(tmpdir(), prefix + randomUUID());
    const file = await open(path, "wx", 0o600);
    const sum = createHash("sha256");
    let size = 0;
    try {
      // A destroyed connection could not be answered.
      for await (const bytes of this.#req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += bytes.length;
        if (size > this.#limit) throw this.#tooLarge();
        sum.update(bytes);
        await file.writeFile(bytes);
      }
    } catch (cause) {
      await rm(path, { force: true });
      if (cause instanceof AppError || !this.#req.errored) throw cause;
      throw new AppError("invalid", "invalid_request", "The body could not be read.", undefined, { cause });
    } finally {
      await file.close();
    }
    this.#received = { path, size, sha256: sum.digest("hex") };
  }

  #tooLarge(): AppError {
    const megabytes = Math.floor(this.#limit / 2 ** 20);
    return new AppError("too_large", "body_too_large", `The file is larger than ${megabytes} MB.`);
  }

  get file(): { path: string; size: number; sha256: string } {
    if (this.#received === undefined) throw new Error("The file has not been received.");
    return this.#received;
  }

  keep(): void {
    this.#isKept = true;
  }

  async drop(): Promise<void> {
    if (this.#received !== undefined && !this.#isKept) await rm(this.#received.path, { force: true });
  }

  toJSON(): object {
    return { sha256: this.file.sha256 };
  }
}

/** Removes files of killed processes, because they hold names. The file system's clock decides their age. */
export const makeUploadSweep = (): WorkerJob => ({
  name: "http.sweepUploads",
  everySeconds: 3600,
  inEveryProcess: true,
  async run() {
    const before = systemClock().getTime() - keptHours * 3_600_000;
    const paths = (await readdir(tmpdir()))
      .filter((name) => name.startsWith(prefix))
      .map((name) => join(tmpdir(), name));
    for (const path of paths) {
      const found = await stat(path).catch(() => null);
      if (found !== null && found.mtimeMs < before) await rm(path, { force: true });
    }
  },
});
