import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { finished, pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import { ZipFile } from "yazl";
import { csvForSpreadsheets, keepApostrophe } from "../../platform/text/csv.ts";
import type { RosterFile, SourceTools } from "./source.ts";

const base = ["sourcedId", "status", "dateLastModified"] as const;
/** All columns of OneRoster 1.2, and own ones as `metadata`. Source: OneRoster 1.2 rostering CSV binding. */
const columns = {
  manifest: ["propertyName", "value"],
  orgs: [...base, "name", "type", "identifier", "parentSourcedId"],
  academicSessions: [...base, "title", "type", "startDate", "endDate", "parentSourcedId", "schoolYear"],
  courses: [
    ...[...base, "schoolYearSourcedId", "title", "courseCode", "grades", "orgSourcedId", "subjects", "subjectCodes"],
  ],
  users: [
    ...[...base, "enabledUser", "username", "userIds", "givenName", "familyName", "middleName", "identifier", "email"],
    ...["sms", "phone", "agentSourcedIds", "grades", "password", "userMasterIdentifier", "preferredGivenName"],
    ...["preferredMiddleName", "preferredFamilyName", "primaryOrgSourcedId", "pronouns", "metadata.hasName"],
  ],
  roles: [
    ...[...base, "userSourcedId", "roleType", "role", "beginDate", "endDate", "orgSourcedId", "userProfileSourcedId"],
  ],
  classes: [
    ...[...base, "title", "grades", "courseSourcedId", "classCode", "classType", "location", "schoolSourcedId"],
    ...["termSourcedIds", "subjects", "subjectCodes", "periods", "metadata.groupType"],
  ],
  enrollments: [
    ...[...base, "classSourcedId", "schoolSourcedId", "userSourcedId", "role", "primary", "beginDate", "endDate"],
  ],
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
      const values = (rows as readonly Record<string, string>[]).map((row) =>
        names.map((name) => keepApostrophe(row[name] ?? "")),
      );
      if (stream.errored !== null) throw stream.errored;
      if (!stream.write(stringify(values, csvForSpreadsheets))) await once(stream, "drain", { signal });
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
