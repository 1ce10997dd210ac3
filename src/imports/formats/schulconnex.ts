import type { PersonName, PersonRole, SchoolId } from "../../directory/index.ts";
import { makeJsonPlaces, makeJsonArrayReader, type JsonPath, type JsonPlaces, type JsonElement } from "../read/json.ts";
import type { SourceFile } from "../read/source.ts";
import { detachText, readText } from "../read/text.ts";
import { findValueFault, idLength, nameLength, toName } from "../read/value.ts";
import { schoolFaults } from "./schools.ts";
import { maxGroups, nearestRole, speakingOf, tooManyGroups } from "./format.ts";
import type { ReadContext, ReadResult, Subject } from "./format.ts";
import { cleanCell } from "./columns.ts";
import type { Staging } from "./staging.ts";
import { isParentRole } from "./words.ts";

export async function readSchulconnex(file: SourceFile, input: ReadContext): Promise<ReadResult> {
  const {
    staging,
    schools: { only },
    mode = "BULK",
    people = "ALL",
  } = input;
  const schools = new Set<SchoolId>(mode === "BULK" && only !== undefined ? [only] : []);
  const groups = new Map<string, string>();
  const spoken = new Set<Subject>();
  const reader = makeJsonArrayReader(({ code, message, number, ...at }) => {
    staging.fault({ file: file.name, field: null, ...at, record: number }, code, message);
    if (number > 0) stageUnread(staging, { ...at, record: number });
  });
  const take = async (elements: JsonElement[]) => {
    for (const element of elements) {
      readRecord(element, { ...input, file: file.name, schoolIds: schools, groups, spoken });
      await staging.endRecord();
    }
  };
  for await (const text of readText(file, input.onBytes)) await take(reader.push(text));
  await take(reader.end());
  const columns = { file: file.name, person: "pid", group: "gruppe.id" };
  const keyColumns = { person: columns, group: columns, membership: columns, role: columns };
  const isSilent = !spoken.has("MEMBERSHIP");
  const speaksOf = speakingOf({ GROUP: isSilent, MEMBERSHIP: isSilent });
  return {
    mode,
    people,
    schools,
    keyColumns,
    speaksOf,
    isArchive: false,
    headings: ["pid", "vorname", "familienname"],
  };
}

type RecordPlace = { line: number; column: number; record: number };

/** A record that cannot be read takes its place, so that it can be left out; it says nothing of anybody. */
const stageUnread = (staging: Staging, at: RecordPlace, sourceId = ""): void =>
  staging.person(at, { sourceId, schools: [], role: null, name: null, isDeleted: true, fields: [sourceId, "", ""] });

/** A record that does not say at which schools the person is: they stay where they are. */
const stageSilent = (staging: Staging, at: RecordPlace, sourceId: string): void =>
  staging.person(at, { sourceId, schools: [], role: "OTHER", name: null, isDeleted: false });

type ReadState = ReadContext & {
  file: string;
  schoolIds: Set<SchoolId>;
  groups: Map<string, string>;
  spoken: Set<Subject>;
};

const roles = new Map<string, PersonRole>([
  ["lern", "STUDENT"],
  ["lehr", "TEACHER"],
  ...["nlehr", "schb", "sorgber", "extern", "orgadmin", "leit", "sysadmin"].map((code) => [code, "OTHER"] as const),
]);
const rolesInGroup = new Map<string, PersonRole>([
  ["lern", "STUDENT"],
  ...["lehr", "vlehr", "klleit", "foerd"].map((code) => [code, "TEACHER"] as const),
  ...["schb", "gmit", "gleit"].map((code) => [code, "OTHER"] as const),
]);
const groupTypes = new Map([
  ["klasse", "KLASSE"],
  ["kurs", "KURS"],
  ["sonstig", "SONSTIG"],
  ["nutzer", "SONSTIG"],
] as const);

type Reader = ReturnType<typeof makeReader>;

function makeReader(record: unknown, places: JsonPlaces, state: ReadState & { at: RecordPlace }) {
  let faults = 0;
  const get = (path: JsonPath) =>
    path.reduce<unknown>(
      (value, step) =>
        typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[step] : undefined,
      record,
    );
  const fault = (path: JsonPath, code: string, message: string) => {
    faults += 1;
    const place = { file: state.file, ...places.find(path), record: state.at.record };
    state.staging.fault({ ...place, field: path.join(".") || null }, code, message);
  };
  const text = (path: JsonPath, maxLength = nameLength): string => {
    const raw = get(path);
    // JavaScript, and most programs with it, round larger numbers.
    const isNumber = maxLength === idLength && Number.isInteger(raw);
    const value = isNumber ? (Number.isSafeInteger(raw) ? String(raw) : (raw as number).toExponential()) : raw;
    if (value !== undefined && value !== null && typeof value !== "string") {
      fault(path, "value_unreadable", "The value is not a text.");
      return "";
    }
    const trimmed = value?.trim() ?? "";
    const problem = findValueFault(trimmed, maxLength);
    if (problem) fault(path, ...problem);
    return problem ? "" : trimmed;
  };
  return {
    get,
    fault,
    hasFault: () => faults > 0,
    text,
    role(path: JsonPath, codes: ReadonlyMap<string, PersonRole>): PersonRole | null {
      const code = text(path).toLowerCase();
      const role = codes.get(code);
      if (role === undefined && code !== "") fault(path, "unknown_role", "The code is none of Schulconnex.");
      return role ?? null;
    },
    list(path: JsonPath): number {
      const value = get(path);
      if (Array.isArray(value)) return value.length;
      if (value !== undefined && value !== null) fault(path, "value_unreadable", "The value is not a list.");
      return 0;
    },
  };
}

function readRecord(element: JsonElement, state: ReadState): void {
  const places = makeJsonPlaces(element);
  const at = { line: element.line, column: element.column, record: element.number };
  const record = parse(element, places, state);
  if (record === undefined) return stageUnread(state.staging, at);
  const reader = makeReader(record, places, { ...state, at });
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    reader.fault([], "json_broken", "The record is not an object.");
    return stageUnread(state.staging, at);
  }
  const contexts = Array.from({ length: reader.list(["personenkontexte"]) }, (_, index) =>
    readContext(reader, ["personenkontexte", index], state),
  );
  const ofSchools = contexts.filter((context) => context !== null && context !== "PARENT");
  const sourceId = reader.text(["pid"], idLength);
  if (ofSchools.length === 0 && !reader.hasFault() && reader.get(["personenkontexte"]) === undefined)
    stageSilent(state.staging, at, sourceId);
  if (ofSchools.length === 0 && !reader.hasFault())
    return state.staging.note(contexts.includes("PARENT") ? "parents_and_guardians" : "people_without_school");
  if (ofSchools.length === 0) return stageUnread(state.staging, at, sourceId);
  const known = ofSchools.filter((context) => context.schoolId !== undefined);
  const here = known.filter((context) => !context.isDeleted);
  const home = state.schools.find(...organisationNames(reader, ["person", "stammorganisation"]));
  // A person who is deleted at every school belongs to their home.
  const order = (here.length > 0 ? here : known).toSorted(
    (a, b) => Number(b.schoolId === home) - Number(a.schoolId === home),
  );
  // The home school decides the role if the file names it.
  const ofRole = order[0]?.schoolId === home ? order.filter(({ schoolId }) => schoolId === home) : order;
  const schools = [...new Set(order.map(({ schoolId }) => schoolId!))];
  const name = readName(reader);
  const silentAbout = listSilent(reader);
  const speaking = here.filter(({ path }) => reader.get([...path, "gruppen"]) !== undefined);
  if (speaking.length > 0) state.spoken.add("MEMBERSHIP");
  const speakingSchools = new Set(speaking.map(({ schoolId }) => schoolId!));
  state.staging.person(at, {
    sourceId,
    schools,
    role: nearestRole(ofRole.map(({ role }) => role)),
    name,
    silentAbout,
    silentSchools: new Set(schools.filter((school) => !speakingSchools.has(school))),
    isDeleted: known.length > 0 && here.length === 0,
    fields: [sourceId, name?.firstFull ?? "", name?.last ?? ""],
  });
  for (const context of ofSchools) if (!context.isDeleted) readGroups(reader, { ...state, ...context, sourceId, at });
}

function parse(element: JsonElement, places: JsonPlaces, state: ReadState): unknown {
  try {
    return JSON.parse(element.text) as unknown;
  } catch {
    state.staging.fault(
      { file: state.file, ...places.findError(), record: element.number, field: null },
      "json_broken",
      "The record is not JSON from here on.",
    );
    return undefined;
  }
}

function readName(reader: Reader): PersonName | null {
  const name = ["person", "name"];
  if (reader.get(name) === null || reader.get(name) === undefined) return null;
  const firstFull = toName(reader.text([...name, "vorname"]));
  const call = reader.get([...name, "rufname"]);
  const firstCall =
    call === undefined || call === null || call === "" ? firstFull : toName(reader.text([...name, "rufname"]));
  return { firstFull, firstCall, last: toName(reader.text([...name, "familienname"])) };
}

function listSilent(reader: Reader): Subject[] {
  const isSilentAbout = (...path: string[]) => reader.get(["person", ...path]) === undefined;
  if (isSilentAbout("name")) return ["NAME"];
  return isSilentAbout("name", "rufname") ? ["CALL_NAME"] : [];
}

const organisationNames = (reader: Reader, path: JsonPath): string[] =>
  [reader.get([...path, "kennung"]), reader.get([...path, "id"])].filter((name) => typeof name === "string");

type Context = { path: JsonPath; schoolId: SchoolId | undefined; role: PersonRole | null; isDeleted: boolean };

function readContext(reader: Reader, path: JsonPath, state: ReadState): Context | "PARENT" | null {
  const organisation = [...path, "organisation"];
  const type = reader.get([...organisation, "typ"]);
  if (typeof type === "string" && type.toLowerCase() !== "schule") return null;
  const deletion = reader.get([...path, "loeschung"]) ?? null;
  if (typeof deletion !== "object") reader.fault([...path, "loeschung"], "value_unreadable", "The value is no object.");
  const isDeleted = deletion !== null;
  const code = reader.get([...path, "rolle"]);
  if (!isDeleted && typeof code === "string" && isParentRole(code)) return "PARENT";
  const school = state.schools.choose(...organisationNames(reader, organisation));
  if (school.id !== undefined) {
    const name = reader.get([...organisation, "name"]);
    const texts = typeof name === "string" ? [cleanCell(name)] : [];
    state.schools.noteNames({ texts, numbers: organisationNames(reader, organisation) });
    state.schoolIds.add(school.id);
  }
  if (school.id === undefined) reader.fault([...organisation, "kennung"], school.fault, schoolFaults[school.fault]);
  return { path, schoolId: school.id, role: reader.role([...path, "rolle"], roles), isDeleted };
}

type GroupState = ReadState & Context & { sourceId: string; at: RecordPlace };

function readGroups(reader: Reader, state: GroupState): void {
  const { path, schoolId, staging, sourceId, at } = state;
  for (let index = 0, count = reader.list([...path, "gruppen"]); index < count; index++) {
    const entry = [...path, "gruppen", index];
    const groupSourceId = readGroup(reader, [...entry, "gruppe"], state);
    const role = readRoleInGroup(reader, [...entry, "gruppenzugehoerigkeit", "rollen"]);
    if (groupSourceId === "" || schoolId === undefined) continue;
    staging.membership(
      { ...at, groupColumn: at.column },
      { schoolId, personSourceId: sourceId, groupSourceId, role, isDeleted: false },
    );
  }
}

/** The record of each member repeats the group with the same values. */
function readGroup(reader: Reader, path: JsonPath, { schoolId, staging, groups, carryOvers, at }: GroupState): string {
  const sourceId = reader.text([...path, "id"], idLength);
  const name = toName(reader.text([...path, "bezeichnung"]));
  const code = reader.text([...path, "typ"]).toLowerCase();
  const type = groupTypes.get(code as "klasse") ?? null;
  if (type === null && code !== "")
    reader.fault([...path, "typ"], "unknown_group_type", "The code is none of Schulconnex.");
  const values = `${schoolId ?? ""} ${code} ${name}`;
  const before = groups.get(sourceId);
  if (before === undefined && sourceId !== "" && groups.size >= maxGroups) {
    reader.fault([...path, "id"], "too_many_groups", tooManyGroups);
  } else if (before === undefined && sourceId !== "") {
    groups.set(detachText(sourceId), detachText(values));
    staging.group(at, {
      sourceId,
      schoolId: schoolId ?? null,
      name,
      type,
      previousSourceId: carryOvers.get(sourceId) ?? null,
      mayMean: [],
      isDeleted: false,
    });
  } else if (before !== values && sourceId !== "") {
    reader.fault(
      [...path, "id"],
      "group_contradiction",
      "Another record says another name, type or school of this group.",
    );
  }
  return sourceId;
}

function readRoleInGroup(reader: Reader, path: JsonPath): PersonRole | null {
  const roles = Array.from({ length: reader.list(path) }, (_, index) => reader.role([...path, index], rolesInGroup));
  return nearestRole(roles.filter((role) => role !== "OTHER"));
}
