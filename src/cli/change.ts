import { changeDirectory } from "../access/index.ts";
import type { Change } from "../directory/index.ts";
import { storeOf, type OpenDb, type Store } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Tools } from "./command.ts";

/** Runs a use case as one change, with the events that notify apps of it. */
export function inChange<T>({ withDatabase, origin }: Tools, work: (change: Change) => Promise<T>): Promise<T> {
  return withDatabase(({ db }) => changeDirectory(db, origin(), work));
}

/** Reads without changing anything. */
export function inDatabase<T>({ withDatabase }: Tools, work: (db: Store, whole: OpenDb) => Promise<T>): Promise<T> {
  return withDatabase(({ db }) => work(storeOf(db), db));
}

export function found<Found>(found: Found | null, code: string, message: string): Found {
  if (found === null) throw new AppError("not_found", code, message);
  return found;
}
