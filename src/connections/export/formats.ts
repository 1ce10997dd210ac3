import { stringify } from "csv-stringify/sync";
import type { PersonRole, SchoolId } from "../../directory/index.ts";
import { groupColumns, idsHeading, joinList } from "../../imports/index.ts";
import { schoolYearAt } from "../../oneroster/index.ts";
import { csvForSpreadsheets, keepApostrophe } from "../../platform/text/csv.ts";
import { makeRosterArchive } from "../sources/archive.ts";
import { createFile } from "../sources/file.ts";
import { writePersonInfo, type GroupOfPerson, type RosterPerson } from "../sources/schulconnex-file.ts";
import type { SourceTools } from "../sources/source.ts";
import { readSchool, type ExportedGroup, type ExportedPerson, type ExportedSchool } from "./school.ts";
import { rm } from "node:fs/promises";
import type { Db } from "../../platform/database/db.ts";
import { makeTemporaryPath } from "../../platform/temporary-files.ts";
import { digestOf } from "../import-file.ts";

/** What some formats cannot express; importing such a file does not change it. */
export type RosterPart = "USER_NAMES" | "ROLES_IN_GROUPS" | "EMPTY_GROUPS";
type Tools = Pick<SourceTools, "makeFile" | "signal" | "now">;
type Format = {
  extension: string;
  lacks: readonly RosterPart[];
  /** Returns the path of the file. */
  write(content: ExportedSchool, tools: Tools): Promise<string>;
};
export type RosterFormat = "oneroster" | "schulconnex" | "csv";

export const rosterFormats: Readonly<Record<RosterFormat, Format>> = {
  oneroster: { extension: "zip", lacks: [], write: writeOneRoster },
  schulconnex: { extension: "json", lacks: ["USER_NAMES", "EMPTY_GROUPS"], write: writeSchulconnex },
  csv: { extension: "csv", lacks: ["ROLES_IN_GROUPS", "EMPTY_GROUPS"], write: writeTable },
};

const rolesOfOneRoster: Record<PersonRole, string> = { STUDENT: "student", TEACHER: "teacher", OTHER: "aide" };

async function writeOneRoster({ school, groups, people }: ExportedSchool, tools: Tools): Promise<string> {
  const archive = makeRosterArchive(tools);
  const { yearId, termId, title, starts, ends, lastYear } = schoolYearAt(tools.now);
  const schoolSourcedId = school.id;
  const year = { title, startDate: starts, endDate: ends, schoolYear: lastYear };
  const courseOf = ({ id }: ExportedGroup) => `course:${id}`;
  await archive.add(
    "manifest",
    Object.entries(manifest).map(([propertyName, value]) => ({ propertyName, value })),
  );
  await archive.add("orgs", [
    { sourcedId: school.id, name: school.name, type: "school", identifier: school.officialId },
  ]);
  await archive.add("academicSessions", [
    { sourcedId: yearId, type: "schoolYear", ...year },
    { sourcedId: termId, type: "term", parentSourcedId: yearId, ...year },
  ]);
  for (const table of ["courses", "users", "roles", "classes", "enrollments"] as const) await archive.add(table, []);
  for await (const part of groups()) {
    const courses = part.map((group) => ({
      sourcedId: courseOf(group),
      schoolYearSourcedId: yearId,
      title: group.name,
      orgSourcedId: school.id,
    }));
    const classes = part.map((group) => ({
      sourcedId: group.id,
      title: group.name,
      courseSourcedId: courseOf(group),
      classType: group.type === "KLASSE" ? "homeroom" : "scheduled",
      schoolSourcedId,
      termSourcedIds: termId,
      "metadata.groupType": group.type,
    }));
    await archive.add("courses", courses);
    await archive.add("classes", classes);
  }
  for await (const part of people()) {
    const users = part.map(({ id, first, call, last, username }) => ({
      sourcedId: id,
      enabledUser: "true",
      username: username ?? "",
      givenName: first ?? "",
      familyName: last ?? "",
      preferredGivenName: call ?? "",
      primaryOrgSourcedId: school.id,
      "metadata.hasName": String(last !== null),
    }));
    const roles = part.map(({ id, role }) => ({
      sourcedId: `role:${id}`,
      userSourcedId: id,
      roleType: "primary",
      role: rolesOfOneRoster[role],
      orgSourcedId: school.id,
    }));
    const enrollments = part.flatMap((person) =>
      person.groups.map(({ id, role }) => ({
        sourcedId: `${id}_${person.id}`,
        classSourcedId: id,
        schoolSourcedId,
        userSourcedId: person.id,
        role: rolesOfOneRoster[role],
      })),
    );
    await archive.add("users", users);
    await archive.add("roles", roles);
    await archive.add("enrollments", enrollments);
  }
  return (await archive.finish("oneroster.zip")).path;
}

const filesOfStandard = [
  ...["academicSessions", "categories", "classes", "classResources", "courses", "courseResources", "demographics"],
  ...["enrollments", "lineItemLearningObjectiveIds", "lineItems", "lineItemScoreScales", "orgs", "resources"],
  ...["resultLearningObjectiveIds", "results", "resultScoreScales", "roles", "scoreScales", "userProfiles"],
  ...["userResources", "users"],
];
const written = ["academicSessions", "classes", "courses", "enrollments", "orgs", "roles", "users"];
/** Source: OneRoster 1.2 rostering CSV binding. */
const manifest = {
  "manifest.version": "1.0",
  "oneroster.version": "1.2",
  ...Object.fromEntries(filesOfStandard.map((name) => [`file.${name}`, written.includes(name) ? "bulk" : "absent"])),
  "source.systemName": "Schultor",
};

const rolesOfSchulconnex = { STUDENT: "Lern", TEACHER: "Lehr", OTHER: "NLehr" } as const;
const typesOfSchulconnex = { KLASSE: "Klasse", KURS: "Kurs", SONSTIG: "Sonstig" } as const;

async function writeSchulconnex({ school, people }: ExportedSchool, tools: Tools): Promise<string> {
  const toGroup = ({ id, name, type, role }: ExportedPerson["groups"][number]): GroupOfPerson => ({
    group: { id, name, type: typesOfSchulconnex[type] },
    // The standard has no code for others in a group.
    ...(role !== "OTHER" && { role: rolesOfSchulconnex[role] }),
  });
  async function* toPeople(): AsyncGenerator<RosterPerson> {
    for await (const part of people())
      for (const { id, first, call, last, role, groups } of part) {
        const context = { school: school.officialId, name: school.name, role: rolesOfSchulconnex[role] };
        yield { id, first, call, last, home: null, contexts: [{ ...context, groups: groups.map(toGroup) }] };
      }
  }
  return (await writePersonInfo(toPeople(), tools, "personen-info.json")).path;
}

/** A table needs ids of groups if their names do not identify them, or if it would be read as several names. */
async function findTypesWithIds({ groups }: ExportedSchool): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const part of groups())
    for (const { id, name, type } of part) {
      const kind = groupColumns.find(([, , one]) => one === type)![1];
      if (id !== `${kind}:${name}` || /[|/+&,;]|\s/.test(name)) names.add(type);
    }
  return names;
}

/** The table that imports read without a question. */
async function writeTable(content: ExportedSchool, tools: Tools): Promise<string> {
  const withIds = await findTypesWithIds(content);
  const file = createFile(tools);
  const toLines = (rows: readonly (readonly string[])[]) =>
    stringify(
      rows.map((row) => row.map(keepApostrophe)),
      { ...csvForSpreadsheets, delimiter: ";" },
    );
  const headings = groupColumns.flatMap(([heading, kind, type]) =>
    withIds.has(type) ? [heading, idsHeading(kind)] : [heading],
  );
  const ofPerson = ["id", "role", "first_name", "call_name", "last_name", "username"];
  await file.write(`\ufeff${toLines([[...ofPerson, ...headings]])}`);
  const toRow = ({ id, role, first, call, last, username, groups }: ExportedPerson) => [
    ...[id, role.toLowerCase(), first ?? "", call ?? "", last ?? "", username ?? ""],
    ...groupColumns.flatMap(([, , type]) => {
      const own = groups.filter((group) => group.type === type);
      const names = own.map(({ name }) => name);
      return withIds.has(type) ? [joinList(names), joinList(own.map((group) => group.id))] : [names.join("|")];
    }),
  ];
  for await (const part of content.people()) await file.write(toLines(part.map(toRow)));
  await file.end();
  return file.path;
}

type Export = { schoolId: SchoolId; format: RosterFormat; now: Date };
type Pace = { inTurn: <T>(part: () => Promise<T>) => Promise<T>; signal: AbortSignal };

/** Writes a school as a file that imports read back without a difference. `digest` tells its content. */
export async function exportRoster(db: Db, { schoolId, format, now }: Export, { inTurn, signal }: Pace) {
  const paths: string[] = [];
  const makeFile = () => {
    const path = makeTemporaryPath();
    paths.push(path);
    return path;
  };
  let previous: string | undefined;
  try {
    const { write } = rosterFormats[format];
    const path = await readSchool(db, schoolId, inTurn, (school) => write(school, { makeFile, signal, now }));
    const digest = (await digestOf(path, signal)).toString("base64url");
    previous = path;
    return { path, digest };
  } finally {
    for (const path of paths) if (path !== previous) await rm(path, { force: true });
  }
}
