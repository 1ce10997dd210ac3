import { giveUserNamesAtSchool } from "../../src/accounts/index.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import {
  applyImport,
  confirmImport,
  listImportFaults,
  previewImport,
  type ImportRecord,
  type NewImport,
} from "../../src/imports/index.ts";
import type { SchoolId } from "../../src/directory/index.ts";
import type { Db, PrismaDb } from "../../src/platform/database/db.ts";
import { makeDataDir } from "../support/data-dir.ts";

export const now = new Date("2026-02-03T08:00:00Z");
export const rules = { holdShare: 1 / 3, restoreWindowDays: 30, giveUserNames: giveUserNamesAtSchool };
export const origin = { at: now, actorId: "test" };
const folder = makeDataDir();
let count = 0;

/** Writes a roster to a file of its own. */
export async function writeRoster(content: string | Buffer, name = `roster-${++count}`): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

export async function zip(files: Record<string, string | Buffer>, compress = true): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name, { compress });
  archive.end();
  return buffer(archive.outputStream);
}

export type Wishes = Partial<Omit<NewImport, "path" | "schoolId">> & { school?: SchoolId; agree?: boolean };

export const makeImporter = (db: PrismaDb, makeOrigin = () => origin) => {
  const preview = async (content: string | Buffer, { school, agree: _, ...rest }: Wishes = {}): Promise<ImportRecord> =>
    previewImport(
      db,
      { path: await writeRoster(content), holdShare: rules.holdShare, schoolId: school, ...rest },
      makeOrigin(),
    );
  /** Previews and applies; agrees to removals unless told otherwise. */
  const run = async (content: string | Buffer, wishes: Wishes = {}): Promise<ImportRecord> => {
    const previewed = await preview(content, wishes);
    if (previewed.state === "BROKEN")
      throw new Error(`broken: ${JSON.stringify(await listImportFaults(db, previewed.id))}`);
    if (previewed.state === "HELD" && wishes.agree !== false) await confirmImport(db, previewed.id, makeOrigin());
    return applyImport(db, previewed.id, rules, makeOrigin());
  };
  const faults = async (content: string | Buffer, wishes: Wishes = {}): Promise<string[]> => {
    const { id, state, errorCount } = await preview(content, wishes);
    const list = await listImportFaults(db, id);
    if (state !== "BROKEN" || errorCount !== list.length)
      throw new Error(`state ${state} with ${errorCount} faults, ${list.length} listed`);
    return list.map(
      ({ file, line, column, field, code }) =>
        `${file.replace(/^roster-\d+$/, "file")}:${line}:${column ?? "-"} ${field ?? "-"} ${code}`,
    );
  };
  const apply = (id: ImportRecord["id"]) => applyImport(db, id, rules, makeOrigin());
  return { preview, run, faults, apply };
};

/** Who is where, as far as a roster can say: people with their schools, groups with their members. */
export async function readDirectory(db: Pick<Db, "pool">): Promise<{ people: string[]; groups: string[] }> {
  const { rows: people } = await db.pool.query<{ text: string }>(
    `SELECT concat_ws(' ', home.official_id, p.source_system_identifier, p.role, p.first_full, p.first_call, p.last,
       (SELECT string_agg(s.official_id, '+' ORDER BY s.official_id) FROM affiliation a JOIN school s ON s.id = a.school_id WHERE a.person_id = p.id)) AS text
     FROM person p JOIN school home ON home.id = p.home_school_id WHERE p.status = 'ACTIVE' ORDER BY 1`,
  );
  const { rows: groups } = await db.pool.query<{ text: string }>(
    `SELECT concat_ws(' ', s.official_id, g.source_system_identifier, g.type, g.name,
       (SELECT string_agg(p.source_system_identifier || '=' || m.role, ',' ORDER BY p.source_system_identifier)
        FROM membership m JOIN person p ON p.id = m.person_id AND p.status = 'ACTIVE' WHERE m.group_id = g.id)) AS text
     FROM "group" g JOIN school s ON s.id = g.school_id WHERE g.status = 'ACTIVE' ORDER BY 1`,
  );
  return { people: people.map(({ text }) => text), groups: groups.map(({ text }) => text) };
}

/** Everything of the directory, byte by byte, what apps may see of it, and every event. */
export async function fingerprint(db: Pick<Db, "pool">): Promise<string> {
  const tables = [
    "school",
    "person",
    "affiliation",
    '"group"',
    "membership",
    "group_carry_over",
    "tombstone",
    "credential",
    "synced_group",
    "app_event",
  ];
  const digest = (table: string) =>
    `(SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) FROM ${table} t)`;
  const { rows } = await db.pool.query<{ text: string }>(
    `SELECT concat_ws(' ', ${tables.map(digest).join(", ")}) AS text`,
  );
  return rows[0]!.text;
}
