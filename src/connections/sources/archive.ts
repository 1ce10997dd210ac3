import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import { ZipFile } from "yazl";
import { csvForSpreadsheets, keepApostrophe } from "../../platform/text/csv.ts";
import { createFile, type NewFile } from "./file.ts";
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
export type Row<Name extends Table> = Partial<Record<(typeof columns)[Name][number], string>>;

type RosterArchive = {
  add<Name extends Table>(table: Name, rows: readonly Row<Name>[]): Promise<void>;
  /** A table that was never added to is not in the archive. */
  finish(fileName: string): Promise<RosterFile>;
};

/** Writes a OneRoster archive row by row, so that memory does not grow with it. */
export function makeRosterArchive(tools: Pick<SourceTools, "makeFile" | "signal">): RosterArchive {
  const files = new Map<Table, NewFile>();
  return {
    async add(table, rows) {
      const names: readonly string[] = columns[table];
      const headings = files.has(table) ? "" : stringify([names]);
      const file = files.get(table) ?? createFile(tools);
      files.set(table, file);
      const values = (rows as readonly Record<string, string>[]).map((row) =>
        names.map((name) => keepApostrophe(row[name] ?? "")),
      );
      await file.write(headings + stringify(values, csvForSpreadsheets));
    },
    async finish(fileName) {
      const zip = new ZipFile();
      for (const [table, file] of files) {
        await file.end();
        // The same rows give the same bytes, which tell that nothing has changed.
        zip.addFile(file.path, `${table}.csv`, { mtime: epoch });
      }
      zip.on("error", (error) => zip.outputStream.emit("error", error));
      zip.end();
      const path = tools.makeFile();
      await pipeline(zip.outputStream, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal: tools.signal });
      return { path, fileName, format: "ONEROSTER" };
    },
  };
}
