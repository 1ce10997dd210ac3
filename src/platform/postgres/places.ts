import fs from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findCluster, sharedState } from "./cluster.ts";
import { lockFolder } from "./folder-lock.ts";
import { clearLeftovers } from "./postmaster.ts";
import { isAccessible } from "./server-user.ts";
import { DatabaseStartError } from "./start-error.ts";

export type DatabasePlace = { folder: string; dataDir: string | null; ownerUid: number; isInUse: boolean };

const note = "data-dir";

/** Records beside an outside cluster which DATA_DIR it belongs to, in case the link in DATA_DIR is deleted. */
export function noteDataDir(folder: string, dataDir: string): void {
  if (dirname(folder) !== dataDir) fs.writeFileSync(join(dirname(folder), note), dataDir, { mode: 0o600 });
}

export function findPlace(dataDir: string): DatabasePlace | null {
  const link = join(resolve(dataDir), "postgres");
  if (!fs.existsSync(link)) return null;
  const folder = fs.realpathSync(link);
  return { folder, dataDir: fs.realpathSync(resolve(dataDir)), ownerUid: fs.statSync(folder).uid, isInUse: true };
}

/** Null if this user may not list them. A database that no DATA_DIR links to is not in use. */
export function listOutsidePlaces(state = sharedState): DatabasePlace[] | null {
  if (!fs.existsSync(state)) return [];
  if (!isAccessible(state, fs.constants.R_OK)) return null;
  return fs
    .readdirSync(state)
    .map((name) => join(state, name, "postgres"))
    .filter((folder) => fs.existsSync(folder))
    .map((folder) => {
      const noted = join(dirname(folder), note);
      const dataDir = fs.existsSync(noted) ? fs.readFileSync(noted, "utf8") : null;
      return {
        folder,
        dataDir,
        ownerUid: fs.statSync(folder).uid,
        isInUse: dataDir !== null && findPlace(dataDir)?.folder === folder,
      };
    });
}

export async function removeDatabase(url: string): Promise<string> {
  const dataDir = fs.realpathSync(resolve(url));
  const cluster = findCluster(dataDir);
  if (cluster === null) throw new DatabaseStartError(`There is no database in ${dataDir}.`);
  const isOutside = dirname(cluster.folder) !== dataDir;
  const locks = [lockFolder(dataDir), ...(isOutside ? [lockFolder(dirname(cluster.folder))] : [])];
  try {
    await clearLeftovers(cluster);
    const link = join(dataDir, "postgres");
    if (fs.lstatSync(link).isSymbolicLink()) fs.unlinkSync(link);
    fs.rmSync(isOutside ? dirname(cluster.folder) : cluster.folder, { recursive: true });
    for (const log of ["postgres.log", "postgres.log.1"]) fs.rmSync(join(dataDir, log), { force: true });
    return cluster.folder;
  } finally {
    for (const lock of locks) lock.release();
  }
}

export async function removeOutsidePlace(folder: string, state = sharedState): Promise<string> {
  const places = listOutsidePlaces(state);
  if (places === null) throw new DatabaseStartError(`Only root can remove a database from ${state}.`);
  const place = places.find((known) => known.folder === resolve(folder));
  if (!place)
    throw new DatabaseStartError(
      `${folder} is no database outside its DATA_DIR; the command \`database where\` lists them.`,
    );
  if (place.isInUse)
    throw new DatabaseStartError(
      `${folder} is the database of ${place.dataDir ?? ""}. Remove it with DATA_DIR set to that folder.`,
    );
  const lock = lockFolder(dirname(place.folder));
  try {
    await clearLeftovers({ folder: place.folder, user: null });
    fs.rmSync(dirname(place.folder), { recursive: true });
    return place.folder;
  } finally {
    lock.release();
  }
}
