import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { pipeline, Readable } from "node:stream";
import { readDump } from "../../platform/postgres/index.ts";
import { makeMatcher, type Matcher } from "./matcher.ts";
import { scan, type FoundRow } from "./scan.ts";
import type { PersonId } from "../../directory/index.ts";
import { findRows, sql, statement, table, type Queryable } from "../../platform/database/sql.ts";

export type FileKind = "log" | "dump";
export type FileSearch = {
  path: string;
  kind: FileKind;
  lines: number;
  changedAt: Date;
  /** Why it was not searched to its end; null if it was. */
  problem: string | null;
};

const magic: readonly [bytes: Buffer, is: "gzip" | "zstd" | "pg_dump" | "journal" | "unreadable"][] = [
  [Buffer.from([0x1f, 0x8b]), "gzip"],
  [Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), "zstd"],
  [Buffer.from("PGDMP"), "pg_dump"],
  [Buffer.from("toc.dat\0"), "pg_dump"],
  [Buffer.from("LPKSHHRH"), "journal"],
  [Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]), "unreadable"],
  [Buffer.from("BZh"), "unreadable"],
  [Buffer.from("PK\x03\x04", "latin1"), "unreadable"],
  [Buffer.from("7z\xbc\xaf", "latin1"), "unreadable"],
  [Buffer.from([0xff, 0xfe]), "unreadable"],
  [Buffer.from([0xfe, 0xff]), "unreadable"],
];
const kindOf = (beginning: Buffer) => magic.find(([bytes]) => beginning.subarray(0, bytes.length).equals(bytes))?.[1];

class Unsearchable extends Error {}

/** The text of a file, unpacked, or of a dump its SQL. */
async function readText(path: string): Promise<AsyncIterable<Uint8Array>> {
  const source = createReadStream(path, { highWaterMark: 256 * 1024 });
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await chunks.next();
  if (first.done === true) return Readable.from([]);
  const kind = kindOf(first.value);
  async function* read() {
    for (let next: IteratorResult<Buffer> = first; next.done !== true; next = await chunks.next()) yield next.value;
  }
  if (kind === undefined) return read();
  if (kind === "gzip" || kind === "zstd") {
    const unpack = kind === "gzip" ? createGunzip() : createZstdDecompress();
    // An error of the source is thrown by the read.
    pipeline(Readable.from(read()), unpack, () => undefined);
    return checkUnpacked(unpack as AsyncIterable<Buffer>);
  }
  source.destroy();
  if (kind === "pg_dump") return readDump(path);
  if (kind === "journal")
    throw new Unsearchable(
      "it is a file of systemd's journal: pipe `journalctl -u schultor -o cat` to --log /dev/stdin instead",
    );
  throw new Unsearchable("it is packed or encoded in a way that is not read here: unpack it to UTF-8 first");
}

async function* checkUnpacked(source: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of source) {
    if (isFirst && kindOf(chunk) !== undefined) throw new Unsearchable("it is packed twice: unpack it first");
    isFirst = false;
    yield chunk;
  }
}

async function listFiles(path: string, kind: FileKind): Promise<string[]> {
  const stats = await stat(path);
  if (!stats.isDirectory()) return [path];
  const names = (await readdir(path, { withFileTypes: true })).sort((one, other) => (one.name < other.name ? -1 : 1));
  // A dump of pg_dump in the directory format, or the files of a database.
  if (kind === "dump") return [path];
  const inside = names.filter((entry) => entry.isFile() || entry.isDirectory());
  return (await Promise.all(inside.map(({ name }) => listFiles(join(path, name), kind)))).flat();
}

async function readPlace(path: string): Promise<AsyncIterable<Uint8Array>> {
  if (!(await stat(path)).isDirectory()) return readText(path);
  if ((await readdir(path)).includes("toc.dat")) return readDump(path);
  throw new Unsearchable(
    "it holds the files of a database, or no dump: restore it into another DATA_DIR and run this command there",
  );
}

/** Searches log files, also those in folders and packed ones, and dumps. Errors: a path that does not exist. */
export async function searchFiles(
  files: readonly { path: string; kind: FileKind }[],
  options: {
    matcher: Matcher;
    onRow(row: FoundRow, file: { path: string; kind: FileKind }): void;
    tell(line: string): void;
  },
): Promise<FileSearch[]> {
  const listed = await Promise.all(
    files.map(async ({ path, kind }) => (await listFiles(path, kind)).map((each) => ({ path: each, kind }))),
  );
  const searched: FileSearch[] = [];
  for (const file of listed.flat()) {
    const { path, kind } = file;
    options.tell(`Searching ${path}`);
    const { mtime: changedAt } = await stat(path);
    const onRow = (row: FoundRow) => options.onRow(row, file);
    const { lines, problem } = await readPlace(path)
      .then((text) => scan(text, { matcher: options.matcher, section: null, isDump: kind === "dump", onRow }))
      .then(
        (count) => ({ lines: count, problem: null }),
        (error: unknown) => ({ lines: 0, problem: (error as Error).message }),
      );
    searched.push({ path, kind, changedAt, lines, problem });
  }
  return searched;
}

const event = table("appEvent", "event");

// During a move an app has two ids of a person.
const selectAppIds = statement<{ personId: PersonId }>(
  ({ personId }) => sql`
  SELECT DISTINCT known.id FROM ${event}
  CROSS JOIN LATERAL unnest(ARRAY[${event.appSubjectId}, ${event.nextSubjectId}]) AS known (id)
  WHERE ${event.subjectId} = ${personId} AND known.id IS NOT NULL`,
);

type Places = { personId: PersonId; dumps: readonly { path: string; kind: FileKind }[]; tell: (line: string) => void };

/**
 * The ids by which apps with ids of their own knew the person, as far as they are still stored: in the change feed, and
 * in dumps from before the deletion.
 */
export async function findAppIds(db: Queryable, { personId, dumps, tell }: Places): Promise<string[]> {
  const rows = await findRows<{ id: string }, { personId: PersonId }>(db, selectAppIds, { personId });
  const ids = new Set(rows.map(({ id }) => id));
  const matcher = makeMatcher({ ids: [personId], firstNames: [], lastNames: [], userNames: [], others: [] }, []);
  await searchFiles(dumps, {
    matcher,
    tell,
    onRow({ section, read }) {
      const isOf = (column: string) => read(column)?.toLowerCase() === personId.toLowerCase();
      if (section?.table === "pairwise_id" && isOf("person_id")) ids.add(read("id")!);
      if (section?.table !== "app_event" || !isOf("subject_id")) return;
      for (const column of ["app_subject_id", "next_subject_id"]) {
        const appId = read(column);
        if (appId !== null) ids.add(appId);
      }
    },
  });
  return [...ids];
}
