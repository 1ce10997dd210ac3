import { rm } from "node:fs/promises";
import type { SchoolId } from "../../directory/index.ts";
import type { Db } from "../../platform/database/db.ts";
import { makeTemporaryPath } from "../../platform/temporary-files.ts";
import { digestOf } from "../import-file.ts";
import { rosterFormats, type RosterFormat } from "./formats.ts";
import { readSchool } from "./school.ts";

type Export = { schoolId: SchoolId; format: RosterFormat; now: Date };
type Pace = { inTurn: <T>(part: () => Promise<T>) => Promise<T>; signal: AbortSignal };

/** Writes a school as a file that imports read back without a difference. `digest` tells its content. */
export async function exportRoster(
  db: Db,
  { schoolId, format, now }: Export,
  { inTurn, signal }: Pace,
): Promise<{ path: string; digest: string }> {
  const paths: string[] = [];
  const makeFile = () => {
    const path = makeTemporaryPath();
    paths.push(path);
    return path;
  };
  let kept: string | undefined;
  try {
    const { write } = rosterFormats[format];
    const path = await readSchool(db, schoolId, inTurn, (school) => write(school, { makeFile, signal, now }));
    const digest = (await digestOf(path, signal)).toString("base64url");
    kept = path;
    return { path, digest };
  } finally {
    for (const path of paths) if (path !== kept) await rm(path, { force: true });
  }
}
