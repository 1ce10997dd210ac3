import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { finished, pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import { ZipFile } from "yazl";
import type { RosterFile, SourceTools } from "./source.ts";

/** Columns of OneRoster's CSV files that imports read; `roles.csv` is for several roles or schools of a user. */
const columns = {
  orgs: ["sourcedId", "status", "name", "type", "identifier"],
  users: [
    ...["sourcedId", "status", "orgSourcedIds", "role", "username", "givenName", "middleName"],
    ...["preferredGivenName", "familyName"],
  ],
  roles: ["sourcedId", "status", "userSourcedId", "roleType", "role", "orgSourcedId"],
  classes: ["sourcedId", "status", "title", "classType", "schoolSourcedId"],
  enrollments: ["sourcedId", "status", "classSourcedId", "schoolSourcedId", "userSourcedId", "role"],
} as const;
const epoch = new Date("2000-01-01T12:00:00Z");
type Table = keyof typeof columns;
type Row<Name extends Table> = Partial<Record<(typeof columns)[Name][number], string>>;

export type RosterArchive = {
  add<Name extends Table>(table: Name, rows: readonly Row<Name>[]): Promise<void>;
  /** A table that was never added to is not in the archive. */
  finish(fileName: string): Promise<RosterFile>;
};

/** Writes a OneRoster archive row by row, so that memory does not grow with it. */
export function makeRosterArchive({ makeFile, signal }: Pick<SourceTools, "makeFile" | "signal">): RosterArchive {
  const open = new Map<Table, { path: string; stream: WriteStream }>();
  const openTable = (table: Table) => {
    const path = makeFile();
    const made = { path, stream: createWriteStream(path, { flags: "wx", mode: 0o600 }) };
    // Seen at the next row.
    made.stream.on("error", () => undefined);
    made.stream.write(stringify([columns[table]]));
    open.set(table, made);
    return made;
  };
  return {
    async add(table, rows) {
      const { stream } = open.get(table) ?? openTable(table);
      const names: readonly string[] = columns[table];
      const values = (rows as readonly Record<string, string>[]).map((row) => names.map((name) => row[name] ?? ""));
      if (stream.errored !== null) throw stream.errored;
      if (!stream.write(stringify(values))) await once(stream, "drain", { signal });
    },
    async finish(fileName) {
      const zip = new ZipFile();
      for (const [table, { path, stream }] of open) {
        stream.end();
        await finished(stream);
        // The same rows give the same bytes, which tell that nothing has changed.
        zip.addFile(path, `${table}.csv`, { mtime: epoch });
      }
      zip.on("error", (error) => zip.outputStream.emit("error", error));
      zip.end();
      const path = makeFile();
      await pipeline(zip.outputStream, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal });
      return { path, fileName, format: "ONEROSTER" };
    },
  };
}
