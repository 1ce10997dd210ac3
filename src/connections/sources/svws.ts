import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { SourceError, checkShape } from "./failure.ts";
import { readJsonParts } from "./json-parts.ts";
import { basic, toSourceError } from "./requests.ts";
import { writePeople, type GroupOfPerson, type RosterGroup, type RosterPerson } from "./schulconnex-file.ts";
import type { RosterSource, SourceContext, SourceSchool, SourceTools } from "./source.ts";

/**
 * Reads the export for learning platforms of SVWS-Server (North Rhine-Westphalia): the teachers and pupils who agreed
 * to the platform, their classes and courses.
 *
 * Source: docs/roster-connections.md.
 */
export const svws: RosterSource = {
  fields: { address: "required", userName: "required", schema: "required", platform: "optional" },
  secret: "required",
  async read(from, tools) {
    const api = makeApi(from, tools);
    const platform = await api.findPlatform();
    for (const term of await api.listTerms()) {
      const path = await api.fetchExport(platform, term);
      const roster = await readGroups(path, from.schools);
      // A term that begins before the school changed to it has no pupils yet.
      if (roster.pupils > 0) return writePeople(readPeople(path, roster), tools, "svws.json");
    }
    throw new SourceError("EMPTY", "no pupils in the present term and the one before it");
  },
};

const named = z.object({ id: z.int(), bezeichnung: z.string().nullish() });
const termShape = z.object({ id: z.int(), schuljahr: z.int(), abschnitt: z.int() });

function makeApi({ settings, secret }: SourceContext, { requests, makeFile, signal, now }: SourceTools) {
  const { address = "", userName = "", schema = "", platform: wanted } = settings;
  const headers = basic(userName, secret ?? "");
  const toUrl = (path: string) => new URL(`/api/external/${encodeURIComponent(schema)}/v1/${path}`, address);
  const list = async <Item>(path: string, shape: z.ZodType<Item>): Promise<Item[]> => {
    const { value } = await requests.json(toUrl(path), { headers });
    return checkShape(z.array(shape), value, path);
  };
  return {
    /** By its number or name; without one the only one there is. */
    async findPlatform(): Promise<number> {
      const all = await list("lernplattformen/", named);
      const isWanted = ({ id, bezeichnung }: z.infer<typeof named>) =>
        wanted === undefined || [String(id), bezeichnung?.toLowerCase()].includes(wanted.toLowerCase());
      const items = all.filter(isWanted);
      if (items.length !== 1)
        throw new SourceError("NOT_FOUND", `${items.length} of ${all.length} learning platforms fit`);
      return items[0]!.id;
    },
    /** The present one, and the one before it. */
    async listTerms(): Promise<number[]> {
      const begun = listBegun(await list("schuljahresabschnitte/", termShape), now);
      if (begun.length === 0) throw new SourceError("NOT_FOUND", "no term has begun");
      return begun.slice(0, 2);
    },
    async fetchExport(platform: number, term: number): Promise<string> {
      const url = toUrl(`lernplattformen/${platform}/${term}/gzip`);
      const { body } = await requests.open(url, { headers });
      const path = makeFile();
      const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
      await pipeline(body, createGunzip(), requests.countBytes(), file, { signal }).catch((error: unknown) => {
        throw toUnpackingError(error, signal);
      });
      return path;
    },
  };
}

/** Latest first. A school year begins in August, and its terms have the same length. */
export function listBegun(terms: readonly z.infer<typeof termShape>[], now: Date): number[] {
  const perYear = Math.max(2, ...terms.map(({ abschnitt }) => abschnitt));
  const startOf = ({ schuljahr, abschnitt }: z.infer<typeof termShape>) =>
    Date.UTC(schuljahr, 7 + ((abschnitt - 1) * 12) / perYear, 1);
  return terms
    .filter((term) => startOf(term) <= now.getTime())
    .toSorted((a, b) => startOf(b) - startOf(a))
    .map(({ id }) => id);
}

function toUnpackingError(error: unknown, signal: AbortSignal): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return new SourceError("HALF", "the archive ends too early");
  if (code === "Z_DATA_ERROR") return new SourceError("ANSWERED_BADLY", "the archive is no gzip");
  return toSourceError(error, signal);
}

const ids = z.array(z.int().nullable()).transform((ids) => ids.filter((id) => id !== null));
const name = z
  .string()
  .nullish()
  .transform((text) => text ?? "");
const shapes = {
  jahrgaenge: z.object({ id: z.int(), kuerzelAnzeige: name, kuerzel: name }),
  klassen: z.object({ id: z.int(), kuerzelAnzeige: name, kuerzel: name, idsKlassenlehrer: ids }),
  lerngruppen: z.object({
    id: z.int(),
    idIntern: z.int(),
    idFach: z.int(),
    idKursart: z.int().nullish(),
    bezeichnung: name,
    idsLehrer: ids,
  }),
  lehrer: z.object({ id: z.int(), vorname: name, nachname: name }),
  schueler: z.object({
    id: z.int(),
    idJahrgang: z.int(),
    idKlasse: z.int(),
    vorname: name,
    nachname: name,
    idsLerngruppen: ids,
  }),
};
type Item<Name extends keyof typeof shapes> = z.infer<(typeof shapes)[Name]>;
type Class = Item<"klassen">;
type Course = Item<"lerngruppen">;

type Roster = {
  school: string | null;
  pupils: number;
  classes: ReadonlyMap<number, RosterGroup>;
  courses: ReadonlyMap<number, RosterGroup>;
  ofTeachers: ReadonlyMap<number, GroupOfPerson[]>;
};

/** Reads everything but people, whose lists may stand before those of their groups. */
async function readGroups(path: string, schools: readonly SourceSchool[]): Promise<Roster> {
  const lists = { jahrgaenge: [] as Item<"jahrgaenge">[], klassen: [] as Class[], lerngruppen: [] as Course[] };
  const levels = new Map<number, Map<number, number>>();
  let number: unknown;
  let pupils = 0;
  for await (const { name: list, value, isItem } of readJsonParts(path)) {
    if (list === "schulnummer") number = value;
    if (!isItem) continue;
    if (list === "jahrgaenge") lists.jahrgaenge.push(checkShape(shapes.jahrgaenge, value, list));
    if (list === "klassen") lists.klassen.push(checkShape(shapes.klassen, value, list));
    if (list === "lerngruppen") lists.lerngruppen.push(checkShape(shapes.lerngruppen, value, list));
    if (list !== "schueler") continue;
    const { idJahrgang, idsLerngruppen } = checkShape(shapes.schueler, value, list);
    pupils += 1;
    for (const id of idsLerngruppen) {
      const counts = levels.get(id) ?? new Map<number, number>();
      levels.set(id, counts.set(idJahrgang, (counts.get(idJahrgang) ?? 0) + 1));
    }
  }
  if (!Number.isSafeInteger(number)) throw new SourceError("ANSWERED_BADLY", "the export names no school");
  const classes = nameClasses(lists.klassen);
  const courses = nameCourses(lists.lerngruppen, { classes, levelOf: makeLevelOf(levels, lists.jahrgaenge) });
  const ofTeachers = new Map<number, GroupOfPerson[]>();
  const add = (teachers: readonly number[], group: RosterGroup | undefined, role: "KlLeit" | "Lehr") => {
    for (const id of group === undefined ? [] : new Set(teachers))
      ofTeachers.set(id, [...(ofTeachers.get(id) ?? []), { group: group!, role }]);
  };
  for (const { id, idsKlassenlehrer } of lists.klassen) add(idsKlassenlehrer, classes.get(id), "KlLeit");
  for (const { id, idsLehrer } of lists.lerngruppen) add(idsLehrer, courses.get(id), "Lehr");
  return { school: chooseSchool(number as number, schools), pupils, classes, courses, ofTeachers };
}

/** The official id of the school with this number. Errors: SourceError OTHER_SCHOOL, if others are numbered alike. */
function chooseSchool(number: number, schools: readonly SourceSchool[]): string | null {
  const digitsOf = ({ officialId }: SourceSchool) => officialId.replace(/^\D+/, "");
  const match = schools.find((school) => digitsOf(school) === String(number));
  if (match !== undefined) return match.officialId;
  const isAlike = (school: SourceSchool) => /^\d{6}$/.test(digitsOf(school));
  if (schools.length > 1 || schools.some(isAlike))
    throw new SourceError("OTHER_SCHOOL", `the export is of school ${number}`);
  return null;
}

/** The level of most pupils of a course. */
function makeLevelOf(levels: ReadonlyMap<number, ReadonlyMap<number, number>>, all: readonly Item<"jahrgaenge">[]) {
  const names = new Map(all.map(({ id, kuerzelAnzeige, kuerzel }) => [id, kuerzelAnzeige || kuerzel]));
  return (course: number): string => {
    const counts = [...(levels.get(course) ?? [])].toSorted(([a, m], [b, n]) => n - m || a - b);
    return names.get(counts[0]?.[0] ?? -1) ?? "";
  };
}

/** Ids there are new in each term, so that groups are known by what they are called. */
function nameClasses(classes: readonly Class[]): Map<number, RosterGroup> {
  const made = new Map<number, RosterGroup>();
  for (const { id, kuerzelAnzeige, kuerzel } of classes) {
    const called = kuerzelAnzeige || kuerzel;
    if (called !== "") made.set(id, { id: `class:${called}`, name: called, type: "Klasse" });
  }
  return made;
}

/** Courses of different levels may have the same name, and the lessons of classes are named after their subject. */
function nameCourses(
  courses: readonly Course[],
  { classes, levelOf }: { classes: ReadonlyMap<number, RosterGroup>; levelOf(id: number): string },
): Map<number, RosterGroup> {
  const withKeys = courses
    .toSorted((a, b) => a.idIntern - b.idIntern || a.idFach - b.idFach)
    .map((course) => {
      const ofClass = (course.idKursart ?? null) === null ? classes.get(course.idIntern) : undefined;
      const context = ofClass?.name ?? levelOf(course.id);
      return { course, called: course.bezeichnung, context, kind: ofClass === undefined ? "course" : "lesson" };
    })
    .filter(({ called }) => called !== "");
  const isOnly = Map.groupBy(withKeys, ({ called }) => called);
  const used = new Map<string, number>();
  const made = new Map<number, RosterGroup>();
  for (const { course, called, context, kind } of withKeys) {
    const key = `${kind}:${context}:${called}`;
    const count = (used.get(key) ?? 0) + 1;
    used.set(key, count);
    const isPlain = kind === "course" && isOnly.get(called)!.length === 1;
    const full = isPlain ? called : `${context} ${called}`.trim();
    const suffix = count === 1 ? "" : ` (${count})`;
    made.set(course.id, { id: `${key}${suffix}`, name: `${full}${suffix}`, type: "Kurs" });
  }
  return made;
}

/** Teachers and pupils are numbered apart. Logins and first passwords are not read. */
async function* readPeople(path: string, roster: Roster): AsyncGenerator<RosterPerson> {
  const { school, classes, courses, ofTeachers } = roster;
  const at = (role: "Lehr" | "Lern", groups: GroupOfPerson[]) => [{ school, name: null, role, groups }];
  const groupsOf = (groups: (RosterGroup | undefined)[]): GroupOfPerson[] =>
    [...new Set(groups)].filter((group) => group !== undefined).map((group) => ({ group, role: "Lern" }));
  for await (const { name: list, value, isItem } of readJsonParts(path)) {
    if (!isItem) continue;
    if (list === "lehrer") {
      const { id, vorname: first, nachname: last } = checkShape(shapes.lehrer, value, list);
      yield { id: `teacher:${id}`, first, last, home: school, contexts: at("Lehr", ofTeachers.get(id) ?? []) };
    }
    if (list === "schueler") {
      const pupil = checkShape(shapes.schueler, value, list);
      const { id, vorname: first, nachname: last, idKlasse, idsLerngruppen } = pupil;
      const groups = groupsOf([classes.get(idKlasse), ...idsLerngruppen.map((course) => courses.get(course))]);
      yield { id: `pupil:${id}`, first, last, home: school, contexts: at("Lern", groups) };
    }
  }
}
