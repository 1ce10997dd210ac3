import type { PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import type { Archive } from "../read/zip.ts";
import { readTable, type Row } from "../read/table.ts";
import { cleanId, findValueFault, idLength, nameLength, readUsername, toName } from "../read/value.ts";
import type { StagedGroup } from "./staging.ts";
import { speakingOf, type ImportMode, type KeyColumns, type ReadContext, type ReadResult } from "./format.ts";
import { isParentRole } from "./words.ts";
import type { SourceFile } from "../read/source.ts";
import { detachText } from "../read/text.ts";
import { cleanCell } from "./columns.ts";
import { schoolFaults } from "./schools.ts";

/** Source: 1EdTech OneRoster 1.1 CSV tables and 1.2 rostering CSV binding; other files are ignored. */
export async function readOneRoster({ files }: Archive, input: ReadContext): Promise<ReadResult> {
  const manifest = await readManifest(files, input);
  const isRolesApart = files.has("roles.csv");
  checkFiles(files, manifest, input);
  const orgs = await readOrgs(files, manifest.mode, input);
  const table = (name: string, required: readonly string[], onRow: (row: Row) => void) => {
    const file = files.get(name);
    if (file === undefined || manifest.absent.has(name)) return Promise.resolve([]);
    return readTable({ file, required, onBytes: input.onBytes }, input.staging, onRow);
  };
  const context = { ...input, orgs, mode: manifest.mode };
  const ofRole = isRolesApart ? [] : ["orgSourcedIds", "role"];
  const headings = await table("users.csv", ["sourcedId", "givenName", "familyName", ...ofRole], (row) =>
    readUser(row, context, isRolesApart),
  );
  await table("roles.csv", ["sourcedId", "userSourcedId", "role", "orgSourcedId"], (row) => readRoleRow(row, context));
  await table("classes.csv", ["sourcedId", "title", "classType", "schoolSourcedId"], (row) => readClass(row, context));
  await table("enrollments.csv", ["sourcedId", "classSourcedId", "schoolSourcedId", "userSourcedId", "role"], (row) =>
    readEnrollment(row, context),
  );
  const isIn = (name: string) => files.has(name) && !manifest.absent.has(name);
  const has = (name: string) => headings.some((heading) => heading.trim().toLowerCase() === name.toLowerCase());
  return {
    mode: manifest.mode,
    people: input.people ?? "ALL",
    schools: orgs.schools,
    keyColumns,
    speaksOf: speakingOf({
      GROUP: !isIn("classes.csv"),
      MEMBERSHIP: !isIn("enrollments.csv"),
      MIDDLE_NAME: !has("middleName"),
      CALL_NAME: !has("preferredGivenName"),
    }),
    isArchive: true,
    headings: archiveHeadings,
  };
}

/** What is kept of a faulty row of an archive: where it is, and whom and what it names. */
const archiveHeadings = ["file", "line", "userSourcedId", "classSourcedId", "givenName", "familyName"];

const keyColumns: KeyColumns = {
  person: { file: "users.csv", person: "sourcedId" },
  role: { file: "roles.csv", person: "userSourcedId" },
  group: { file: "classes.csv", group: "sourcedId" },
  membership: { file: "enrollments.csv", person: "userSourcedId", group: "classSourcedId" },
};

type RowContext = ReadContext & { orgs: Orgs; mode: ImportMode };

const otherRoles = [
  ...["administrator", "aide", "counselor", "districtadministrator", "principal"],
  ...["proctor", "siteadministrator", "systemadministrator"],
];
const roles = new Map<string, PersonRole>([
  ["student", "STUDENT"],
  ["teacher", "TEACHER"],
  ...otherRoles.map((name) => [name, "OTHER"] as const),
]);

const classTypes = new Map<string, StagedGroup["type"]>([
  ["homeroom", "KLASSE"],
  ["scheduled", "KURS"],
]);

/** A course and another group are both `scheduled` in files of this service. */
const groupTypes = ["KLASSE", "KURS", "SONSTIG"] as const;

const readRole = (row: Row): PersonRole | null =>
  row.choose(
    "role",
    (text) => roles.get(text.toLowerCase()) ?? (text.toLowerCase().startsWith("ext:") ? "OTHER" : undefined),
    "unknown_role",
    "The role is none of OneRoster's.",
  );

const isParent = (row: Row): boolean => isParentRole(row.get("role"));

/** Bulk files have an empty status, but some programs write `active`. */
function readIsDeleted(row: Row, mode: ImportMode): boolean {
  const status = row.get("status").toLowerCase();
  if (mode === "DELTA" && status === "tobedeleted") return true;
  if (status !== "" && status !== "active")
    row.fault(
      "status",
      "unknown_status",
      mode === "DELTA" ? "The status is not active or tobedeleted." : "A bulk file has no such status.",
    );
  return false;
}

function readUser(row: Row, context: RowContext, isRolesApart: boolean): void {
  const isDeleted = readIsDeleted(row, context.mode);
  const at = { line: row.line, column: row.column("sourcedId") };
  if (!isRolesApart && !isDeleted && isParent(row)) {
    skipUser(row, context);
    return context.staging.note("parents_and_guardians");
  }
  const sourceId = row.need("sourcedId", idLength);
  const named = { name: readName(row), username: readUsername(row) };
  if (isRolesApart) return context.staging.person(at, { sourceId, schools: [], role: null, ...named, isDeleted });
  const role = isParent(row) ? "OTHER" : readRole(row);
  const keys = row
    .need("orgSourcedIds", 10_000)
    .split(",")
    .map((key) => cleanId(key.trim()))
    .filter((key) => key !== "");
  const schoolIds = keys.map((key) => findSchool(row, "orgSourcedIds", key, context.orgs));
  const schools = [...new Set(schoolIds.filter((school) => typeof school === "string"))];
  if (schools.length === 0 && keys.length > 0 && !schoolIds.includes(undefined)) {
    skipUser(row, context);
    return context.staging.note("people_without_school");
  }
  context.staging.person(at, { sourceId, schools, role, ...named, isDeleted });
}

/** Skips the user and their enrollments. */
function skipUser(row: Row, { staging }: RowContext): void {
  const personSourceId = cleanId(row.get("sourcedId"));
  if (findValueFault(personSourceId, idLength) !== null) return;
  const at = { line: row.line, column: row.column("sourcedId") };
  staging.role(at, { personSourceId, schoolId: null, role: "SKIPPED", isPrimary: false, isDeleted: false });
}

function readName(row: Row): PersonName | null {
  if (row.get("metadata.hasName") === "false") return null;
  const [first, middle, preferred, last] = [
    row.need("givenName"),
    row.take("middleName"),
    row.take("preferredGivenName"),
    row.need("familyName"),
  ].map(toName);
  const firstFull = toName(
    Array.from([first, middle].filter((part) => part !== "").join(" "))
      .slice(0, nameLength)
      .join(""),
  );
  return { firstFull, firstCall: preferred || first!, last: last! };
}

/** Undefined (with a fault) for an unknown organisation, null for one that is not a school. */
function findSchool(row: Row, heading: string, key: string, orgs: Orgs): SchoolId | null | undefined {
  const school = orgs.find(key);
  if (school === undefined && key !== "" && !orgs.faulty.has(key))
    row.fault(heading, "unknown_org", "The organisation is neither in orgs.csv nor a school of the directory.");
  return school;
}

/** Null, with a fault, for an organisation that is unknown or not a school. */
function readSchool(row: Row, { orgs }: RowContext): SchoolId | null {
  const school = findSchool(row, "schoolSourcedId", row.need("schoolSourcedId", idLength), orgs);
  if (school === null) row.fault("schoolSourcedId", "org_is_no_school", "The organisation is not a school.");
  return school ?? null;
}

function readRoleRow(row: Row, context: RowContext): void {
  const personSourceId = row.need("userSourcedId", idLength);
  const isDeleted = readIsDeleted(row, context.mode);
  const isPrimary = row.get("roleType").toLowerCase() === "primary";
  const at = { line: row.line, column: row.column("userSourcedId") };
  if (isParent(row))
    return context.staging.role(at, { personSourceId, schoolId: null, role: "SKIPPED", isPrimary, isDeleted });
  const role = readRole(row);
  const schoolId = findSchool(row, "orgSourcedId", row.need("orgSourcedId", idLength), context.orgs);
  context.staging.role(at, { personSourceId, schoolId: schoolId ?? null, role: role ?? "OTHER", isPrimary, isDeleted });
}

function readClass(row: Row, context: RowContext): void {
  const sourceId = row.need("sourcedId", idLength);
  const ofStandard = classTypes.get(row.need("classType").toLowerCase()) ?? "SONSTIG";
  const type = groupTypes.find((one) => one === row.get("metadata.groupType")) ?? ofStandard;
  const schoolId = readSchool(row, context);
  const previous = context.carryOvers.get(sourceId) ?? row.take("metadata.previousSourcedId", idLength);
  context.staging.group(
    { line: row.line, column: row.column("sourcedId") },
    {
      sourceId,
      schoolId,
      name: toName(row.need("title")),
      type,
      previousSourceId: previous === "" ? null : previous,
      mayMean: [],
      isDeleted: readIsDeleted(row, context.mode),
    },
  );
}

function readEnrollment(row: Row, context: RowContext): void {
  if (isParent(row)) return;
  const schoolId = readSchool(row, context);
  context.staging.membership(
    { line: row.line, column: row.column("userSourcedId"), groupColumn: row.column("classSourcedId") },
    {
      schoolId,
      personSourceId: row.need("userSourcedId", idLength),
      groupSourceId: row.need("classSourcedId", idLength),
      role: readRole(row),
      isDeleted: readIsDeleted(row, context.mode),
    },
  );
}

type Files = ReadonlyMap<string, SourceFile>;

/** `absent` are files that the sender left out on purpose. */
type Manifest = { mode: ImportMode; absent: ReadonlySet<string>; isThere: boolean };

const ours = ["orgs.csv", "users.csv", "roles.csv", "classes.csv", "enrollments.csv"];

/** The caller's mode, by default bulk, applies if the manifest has none. */
async function readManifest(files: Files, { staging, onBytes, mode }: ReadContext): Promise<Manifest> {
  const file = files.get("manifest.csv");
  const modes = new Set<ImportMode>();
  const absent = new Set<string>();
  if (file === undefined) return { mode: mode ?? "BULK", absent, isThere: false };
  await readTable({ file, onBytes, required: ["propertyName", "value"] }, staging, (row) => {
    const name = `${row.get("propertyName").replace(/^file\./, "")}.csv`;
    const value = row.get("value").toLowerCase();
    if (row.get("propertyName") === "oneroster.version" && !/^1\.[12](\.\d+)?$/.test(value)) {
      row.fault("value", "unknown_version", "The version is neither 1.1 nor 1.2.");
    }
    if (!row.get("propertyName").startsWith("file.") || !ours.includes(name)) return;
    if (value === "absent") absent.add(name);
    else if (value !== "bulk" && value !== "delta")
      row.fault("value", "unknown_mode", "The value is not absent, bulk or delta.");
    else if (!files.has(name)) row.fault("propertyName", "file_missing", `The archive holds no ${name}.`);
    // Imports do not change schools, so the mode of orgs.csv does not matter.
    else if (name !== "orgs.csv") modes.add(value === "delta" ? "DELTA" : "BULK");
    if (modes.size > 1) row.fault("value", "mixed_modes", "An archive cannot mix bulk and delta files.");
  });
  const [first] = modes;
  return { mode: first ?? mode ?? "BULK", absent, isThere: true };
}

/**
 * Everybody who is missing in a whole roster leaves, so it needs its people. Of a file that is neither in the archive
 * nor called absent, nobody knows whether the export was cut off.
 */
function checkFiles(files: Files, { mode, absent }: Manifest, { staging }: ReadContext): void {
  const isIn = (name: string) => files.has(name) && !absent.has(name);
  const needed = mode === "BULK" ? ["users.csv", "classes.csv", "enrollments.csv"] : [];
  const missing = needed.filter((name) => !files.has(name) && !absent.has(name));
  if (mode === "BULK" ? absent.has("users.csv") : !ours.some(isIn)) missing.push("users.csv");
  for (const file of missing)
    staging.fault(
      { file, line: 1, column: null, field: null },
      "file_missing",
      file === "users.csv"
        ? "The archive holds no users.csv, or its manifest calls it absent."
        : `The archive holds no ${file}, and its manifest does not call it absent.`,
    );
}

type Orgs = {
  /** Null for an organisation that is not a school, undefined for an unknown one. */
  find(sourcedId: string): SchoolId | null | undefined;
  /** Rows of orgs.csv that have a fault already. */
  readonly faulty: ReadonlySet<string>;
  readonly schools: ReadonlySet<SchoolId>;
};

const maxOrgs = 100_000;

/** Schools match by identifier (the official id), else by sourcedId. */
export async function readOrgs(
  files: ReadonlyMap<string, SourceFile>,
  mode: ImportMode,
  { staging, schools, onBytes }: ReadContext,
): Promise<Orgs> {
  const file = files.get("orgs.csv");
  const known = new Map<string, SchoolId | null>();
  const faulty = new Set<string>();
  const schoolIds = new Set<SchoolId>(mode === "BULK" && schools.only !== undefined ? [schools.only] : []);
  if (file !== undefined) {
    await readTable({ file, onBytes, required: ["sourcedId", "type", "identifier"] }, staging, (row) => {
      const sourcedId = detachText(row.need("sourcedId", idLength));
      if (known.size + faulty.size >= maxOrgs)
        return row.fault("sourcedId", "too_many_orgs", `The file names more than ${maxOrgs} organisations.`);
      if (row.get("type").toLowerCase() !== "school") return void known.set(sourcedId, null);
      if (row.get("status").toLowerCase() === "tobedeleted") return void faulty.add(sourcedId);
      const school = schools.choose(row.get("identifier"), sourcedId);
      if (school.id === undefined) {
        row.fault("identifier", school.fault, schoolFaults[school.fault]);
        return void faulty.add(sourcedId);
      }
      schools.noteNames({ texts: [cleanCell(row.get("name"))], numbers: [row.get("identifier") || sourcedId] });
      known.set(sourcedId, school.id);
      schoolIds.add(school.id);
    });
  }
  return {
    find(sourcedId) {
      const school = known.get(sourcedId);
      if (school !== undefined || file !== undefined) return school;
      const { id } = schools.choose(sourcedId);
      if (id !== undefined) schoolIds.add(id);
      schools.noteNames({ texts: [], numbers: [sourcedId] });
      return id;
    },
    faulty,
    schools: schoolIds,
  };
}
