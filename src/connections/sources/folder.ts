import { constants, createReadStream, createWriteStream } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { basename, join, normalize, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { describeFile, refuseHalf } from "./file.ts";
import { SourceError } from "./failure.ts";
import type { RosterSource } from "./source.ts";

const isBelow = (path: string): boolean => !path.startsWith("..") && !path.startsWith(sep) && path !== ".";

/** A file below the folder of the operator. */
export const makeFolder = (folder: string): RosterSource => ({
  fields: { path: "required" },
  secret: "none",
  isForOperators: true,
  checkSettings({ path = "" }, refuse) {
    if (!isBelow(normalize(path)) || /[\\]/.test(path))
      throw refuse("roster_setting_malformed", "path", "must be a path below the configured folder");
  },
  async read({ settings: { path = "" } }, { makeFile, limits, signal }) {
    const [root, target] = await Promise.all([realpath(folder), realpath(join(folder, path))]).catch(
      (error: unknown) => {
        throw new SourceError("NOT_FOUND", (error as NodeJS.ErrnoException).code, { cause: error });
      },
    );
    // A symbolic link may lead out of the folder; the path that is opened has none.
    if (!target.startsWith(root + sep)) throw new SourceError("NOT_FOUND", "the path leads out of the folder");
    const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const before = await file.stat();
      if (!before.isFile()) throw new SourceError("NOT_FOUND", "the path is no file");
      if (before.size > limits.fileBytes) throw new SourceError("TOO_LARGE", `more than ${limits.fileBytes} bytes`);
      const copy = makeFile();
      const source = createReadStream("", {
        fd: file.fd,
        autoClose: false,
        start: 0,
        end: Math.max(0, before.size - 1),
      });
      await pipeline(source, createWriteStream(copy, { flags: "wx", mode: 0o600 }), { signal });
      const after = await file.stat();
      if (after.size !== before.size || after.mtimeMs !== before.mtimeMs)
        throw new SourceError("HALF", "the file is being written");
      await refuseHalf(copy);
      return { ...(await describeFile(copy)), path: copy, fileName: basename(path) };
    } finally {
      await file.close();
    }
  },
});
