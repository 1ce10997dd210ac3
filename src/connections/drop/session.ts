import { open, rm, type FileHandle } from "node:fs/promises";
import { posix } from "node:path";
import type { SftpServer } from "ssh2";
import type { Log } from "../../platform/telemetry/log.ts";
import { makeTemporaryPath } from "../../platform/temporary-files.ts";

/** A file that has arrived. `extension`: what its name ends with, or "". */
export type DroppedFile = { path: string; size: number; extension: string };

type DropSession = {
  /** Whether the key may still send files. */
  isAllowed(): Promise<boolean>;
  /** Removes the file when it is read. False: it was not taken. */
  take(file: DroppedFile): Promise<boolean>;
  /** Holds the client back while the disk is slower than it. */
  pause(): void;
  resume(): void;
  end(): void;
  mostBytes: number;
  log: Log;
};

type Upload = { path: string; file: FileHandle; name: string; written: number; size: number; isBroken: boolean };
type Arrived = DroppedFile & { isWaiting: boolean };

const most = { open: 4, uploads: 20, inFlight: 2 ** 20 };
/** Clients write to such a name first, and rename the file when it is whole. */
const isPartial = (name: string): boolean => /\.(part|partial|filepart|tmp|temp|upload|uploading)$/i.test(name);
const extensionOf = (name: string): string => posix.extname(name).slice(1).toLowerCase();
const [folderMode, fileMode] = [0o040300, 0o100200];
// SSH_FXF_* and SSH_FX_* of draft-ietf-secsh-filexfer-02.
const flag = { read: 1, write: 2 };
const status = { ok: 0, end: 1, missing: 2, denied: 3, failure: 4 };

/**
 * Answers a client that sends files. Names are labels: a file is kept under a name of ours, nothing can be listed or
 * read, and a client sees only what it sent in this session. Returns what removes the files that are not whole.
 */
export function serveUploads(sftp: SftpServer, session: DropSession): () => Promise<void> {
  const { mostBytes, log } = session;
  const uploads = new Map<string, Upload>();
  const arrived = new Map<string, Arrived>();
  let [begun, received, inFlight, isOver] = [0, 0, 0, false];

  const answer = (id: number, work: () => Promise<number | null>): void => {
    const failed = (err: unknown): number => {
      log.error({ err }, "a file could not be taken over SFTP");
      return status.failure;
    };
    void work()
      .catch(failed)
      .then((code) => code !== null && sftp.status(id, code));
  };
  const drop = async ({ file, path }: Upload): Promise<number> => {
    await file.close();
    await rm(path, { force: true });
    return status.failure;
  };
  const hand = async (one: Arrived): Promise<number> => {
    one.isWaiting = false;
    return (await session.take(one)) ? status.ok : status.failure;
  };
  const begin = async (id: number, name: string): Promise<number | null> => {
    if (!(await session.isAllowed())) {
      sftp.status(id, status.denied);
      session.end();
      return null;
    }
    const path = makeTemporaryPath();
    const upload = { path, file: await open(path, "wx", 0o600), name, written: 0, size: 0, isBroken: false };
    if (isOver) return drop(upload);
    const handle = String(begun);
    uploads.set(handle, upload);
    sftp.handle(id, Buffer.from(handle));
    return null;
  };
  const write = async (upload: Upload, offset: number, data: Buffer): Promise<number> => {
    inFlight += data.length;
    if (inFlight > most.inFlight) session.pause();
    try {
      await upload.file.write(data, 0, data.length, offset);
    } catch (error) {
      upload.isBroken = true;
      throw error;
    } finally {
      inFlight -= data.length;
      if (inFlight <= most.inFlight) session.resume();
    }
    upload.written += data.length;
    upload.size = Math.max(upload.size, offset + data.length);
    return status.ok;
  };
  const finish = async (upload: Upload): Promise<number> => {
    const { path, file, name, written, size, isBroken } = upload;
    if (isBroken || written !== size) return drop(upload);
    await file.close();
    const one = { path, size, extension: extensionOf(name), isWaiting: isPartial(name) };
    arrived.set(name, one);
    return one.isWaiting ? status.ok : hand(one);
  };
  const show = (id: number, path: string): void => {
    const name = toName(path);
    const file = arrived.get(name ?? "");
    if (name === "") sftp.attrs(id, attributes(folderMode));
    else if (file === undefined) sftp.status(id, status.missing);
    else sftp.attrs(id, attributes(fileMode, file.size));
  };

  sftp.on("OPEN", (id, path, flags) => {
    const name = toName(path);
    if (!name) return sftp.status(id, status.missing);
    if ((flags & flag.read) !== 0 || (flags & flag.write) === 0) return sftp.status(id, status.denied);
    if (uploads.size >= most.open || ++begun > most.uploads) return sftp.status(id, status.failure);
    answer(id, () => begin(id, name));
  });
  sftp.on("WRITE", (id, handle, offset, data) => {
    const upload = uploads.get(handle.toString());
    if (upload === undefined) return sftp.status(id, status.failure);
    received += data.length;
    upload.isBroken ||= offset + data.length > mostBytes || received > 2 * mostBytes;
    if (upload.isBroken) return sftp.status(id, status.failure);
    answer(id, () => write(upload, offset, data));
  });
  sftp.on("CLOSE", (id, handle) => {
    const upload = uploads.get(handle.toString());
    uploads.delete(handle.toString());
    if (upload === undefined) return sftp.status(id, status.ok);
    // Node closes a file when what is being written is written.
    answer(id, () => finish(upload));
  });
  sftp.on("RENAME", (id, from, to) => {
    const [old, name] = [toName(from) ?? "", toName(to)];
    const one = arrived.get(old);
    if (one === undefined || !name) return sftp.status(id, status.missing);
    arrived.delete(old);
    arrived.set(name, Object.assign(one, { extension: extensionOf(name) }));
    answer(id, async () => (one.isWaiting && !isPartial(name) ? hand(one) : status.ok));
  });
  sftp.on("OPENDIR", (id, path) => {
    if (toName(path) === "") sftp.handle(id, Buffer.from("folder"));
    else sftp.status(id, status.missing);
  });
  sftp.on("READDIR", (id) => sftp.status(id, status.end));
  sftp.on("REALPATH", (id, path) => {
    const filename = posix.join("/", path);
    sftp.name(id, [{ filename, longname: filename, attrs: attributes(folderMode) }]);
  });
  sftp.on("STAT", show);
  sftp.on("LSTAT", show);
  // Clients set times and rights of what they sent.
  for (const event of ["SETSTAT", "FSETSTAT"]) sftp.on(event, (id) => sftp.status(id, status.ok));
  for (const event of ["READ", "REMOVE", "MKDIR", "RMDIR", "SYMLINK", "READLINK"])
    sftp.on(event, (id) => sftp.status(id, status.denied));
  // OpenSSH waits until its channel is closed.
  sftp.on("end", () => sftp.end());

  return async () => {
    isOver = true;
    for (const upload of uploads.values()) await drop(upload);
    for (const { path, isWaiting } of arrived.values()) if (isWaiting) await rm(path, { force: true });
  };
}

const attributes = (mode: number, size = 0) => ({ mode, uid: 0, gid: 0, size, atime: 0, mtime: 0 });

/** The name of a file in the only folder; "" is that folder, null what is in no folder. */
function toName(path: string): string | null {
  const name = posix.join("/", path).slice(1).replace(/\/$/, "");
  return name.includes("/") || name.length > 255 || /\p{Cc}/u.test(name) ? null : name;
}
