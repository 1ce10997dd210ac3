import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Binaries } from "./binaries.ts";
import { canEnter, type ServerUser, findServerUser, isShared } from "./server-user.ts";
import { DatabaseStartError } from "./start-error.ts";

export type Cluster = { folder: string; user: ServerUser };

export const sharedState = "/var/lib/schultor";

export function findCluster(dataDir: string): Cluster | null {
  const link = join(dataDir, "postgres");
  if (!fs.lstatSync(link, { throwIfNoEntry: false })) return null;
  if (!fs.existsSync(link)) {
    throw new DatabaseStartError(
      `${link} points to a folder that is gone. Bring that folder back, or delete the link to start with an empty database.`,
    );
  }
  const folder = fs.realpathSync(link);
  const { uid, gid } = fs.statSync(folder);
  const self = process.getuid?.();
  if (self !== 0 && self !== uid)
    throw new DatabaseStartError(
      `The database in ${folder} belongs to another user (uid ${uid}). Start as that user, or set another DATA_DIR.`,
    );
  const user = self === 0 ? { uid, gid } : null;
  if (!canEnter(user, folder)) {
    throw new DatabaseStartError(
      `The database in ${folder} runs as the user with uid ${uid}, who may not enter a folder above it. ` +
        "Allow that (chmod o+x on the folders above), or move the data folder and set DATA_DIR.",
    );
  }
  return { folder, user };
}

/** If the server's user cannot enter `dataDir`, makes a link to a folder below /var/lib/schultor. */
export async function makeCluster(
  dataDir: string,
  { user, fill }: { user: ServerUser; fill(folder: string): Promise<void> },
): Promise<Cluster> {
  const place = canEnter(user, dataDir) ? dataDir : makeOpenPlace(dataDir);
  const folder = join(place, "postgres");
  removeUnfinished(place);
  const unfinished = fs.mkdtempSync(join(place, unfinishedName));
  if (user) fs.chownSync(unfinished, user.uid, user.gid);
  try {
    await fill(unfinished);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  giveTo(user, unfinished);
  fs.renameSync(unfinished, folder);
  if (place !== dataDir) fs.symlinkSync(folder, join(dataDir, "postgres"));
  return { folder, user };
}

/** Only this process's user may connect, over the local socket. */
export function writeAccessRules({ folder, user }: Cluster): void {
  const rules = {
    "pg_hba.conf": `local all ${databaseRole} peer map=owner\n`,
    "pg_ident.conf": `owner "${accountName()}" ${databaseRole}\n`,
  };
  for (const [name, content] of Object.entries(rules)) {
    const file = join(folder, name);
    fs.writeFileSync(file, content, { mode: 0o600 });
    if (user) fs.chownSync(file, user.uid, user.gid);
  }
}

export const databaseRole = "schultor";

export const urlOf = (database: string, socketFolder: string): string =>
  `postgresql://${databaseRole}@localhost/${database}?host=${encodeURIComponent(socketFolder)}`;

export function checkVersion({ folder }: Cluster, binariesVersion: string): void {
  const file = join(folder, "PG_VERSION");
  const present = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : null;
  if (present === null)
    throw new DatabaseStartError(
      `${folder} is damaged: it has no PG_VERSION. Restore it from a backup, or move it away to start with an empty database.`,
    );
  if (present !== binariesVersion) {
    throw new DatabaseStartError(
      `The database in ${folder} was made by PostgreSQL ${present}, this version brings PostgreSQL ${binariesVersion}. ` +
        `Carry it over with pg_dump of ${present}, or move the folder away to start with an empty database.`,
    );
  }
}

const unfinishedName = "postgres.unfinished-";

function removeUnfinished(place: string): void {
  for (const name of fs.readdirSync(place).filter((entry) => entry.startsWith(unfinishedName))) {
    try {
      fs.rmSync(join(place, name), { recursive: true, force: true });
    } catch {
      // The next start tries again.
    }
  }
}

function makeOpenPlace(dataDir: string): string {
  fs.mkdirSync(sharedState, { recursive: true });
  fs.chmodSync(sharedState, 0o711);
  const place = fs.mkdtempSync(join(sharedState, `${basename(dirname(dataDir)).replace(/[^A-Za-z0-9-]/g, "")}-`));
  fs.chmodSync(place, 0o711);
  return place;
}

/** Code point order, equal on all machines, with case mapping for all alphabets. */
function localeFlags(version: string): string[] {
  return Number(version) >= 17
    ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    : ["--locale=C.UTF-8"];
}

function giveTo(user: ServerUser, folder: string): void {
  if (user === null) return;
  execFileSync("find", [folder, "-mindepth", "1", "-exec", "chown", "-h", `${user.uid}:${user.gid}`, "{}", "+"]);
}

export async function runInitdb({ folder: binaries, version }: Binaries, folder: string, user: ServerUser) {
  const flags = [
    "--encoding=UTF8",
    ...localeFlags(version),
    "--data-checksums",
    "--auth=peer",
    `--username=${databaseRole}`,
    "--no-instructions",
  ];
  try {
    await promisify(execFile)(join(binaries, "initdb"), ["-D", folder, ...flags], {
      ...user,
      cwd: "/",
      env: { LC_ALL: "C", TZ: "UTC" },
    });
  } catch (cause) {
    const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    throw new DatabaseStartError(`The embedded PostgreSQL could not make its data folder: ${said}`, { cause });
  }
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    throw new DatabaseStartError(
      "This user id has no account, which the embedded PostgreSQL needs. Start as a user that has one, or set DATABASE_URL.",
      { cause },
    );
  }
}

export function findUserFor({ folder, user }: Cluster, say: (line: string) => void): Cluster["user"] {
  if (!isShared(user)) return user;
  const own = findServerUser(say);
  return canEnter(own, dirname(folder)) ? own : user;
}

/** Changes the owner of a stopped cluster, its folder last, so that an interrupted change is repeated. */
export function takeOver(
  { folder, user: before }: Cluster,
  user: Cluster["user"],
  say: (line: string) => void,
): Cluster {
  if (user === null || user.uid === before?.uid) return { folder, user: before };
  giveTo(user, folder);
  fs.chownSync(folder, user.uid, user.gid);
  say(`The files in ${folder} belong to the database's own account now.`);
  return { folder, user };
}
