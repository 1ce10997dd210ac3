import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { open, rm } from "node:fs/promises";
import { AppError } from "../errors.ts";
import { makeTemporaryPath } from "../temporary-files.ts";

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
    const path = makeTemporaryPath();
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

  /** From now on the caller removes the file. */
  keep(): string {
    this.#isKept = true;
    return this.file.path;
  }

  async drop(): Promise<void> {
    if (this.#received !== undefined && !this.#isKept) await rm(this.#received.path, { force: true });
  }

  toJSON(): object {
    return { sha256: this.file.sha256 };
  }
}
