import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { listBegun, svws } from "../../src/connections/sources/svws.ts";
import { failureOf, lineOf, readRoster, type Given, type Reply } from "./replayed.ts";
import { makeSvwsExport, replaySvws, type SvwsExport } from "./replayed-svws.ts";

const schools = [
  { id: "0195c0de-0000-7000-8000-000000000001", officialId: "100815", name: "Gymnasium am Lindenplatz" },
];
const gzip = "/api/external/gymlinde/v1/lernplattformen/4/21/gzip";

type Replayed = { exports?: Record<number, object>; answer?: (path: string) => Reply | undefined };

async function read({ exports = { 21: makeSvwsExport() }, answer }: Replayed = {}, given: Partial<Given> = {}) {
  const { url, asked } = await replaySvws({ exports, ...(answer && { answer }) });
  const settings = { address: url, userName: "schultor", schema: "gymlinde", platform: "Schultor", ...given.settings };
  const people = await readRoster(svws, { schools, now: "2026-11-29T12:00:00Z", ...given, settings });
  return { people, asked };
}
const failure = (replayed: Replayed, given?: Partial<Given>) => failureOf(read(replayed, given));

test("teachers and pupils come with their classes, lessons and courses", async () => {
  const { people } = await read();
  expect(people.map(lineOf)).toEqual([
    "teacher:301 Katrin Brandt: Lehr at 100815, 5a (KlLeit), 5a D (Lehr), Chor (Lehr)",
    "teacher:302 Cem Özdemir: Lehr at 100815, Q1 (KlLeit), EF D-GK1 (Lehr)",
    "pupil:12001 Mia Sophie Albrecht: Lern at 100815, 5a (Lern), 5a D (Lern), Chor (Lern)",
    "pupil:12002 Jannik Böhm: Lern at 100815, EF (Lern), EF D-GK1 (Lern), Chor (Lern)",
    "pupil:12003 Leyla Yılmaz: Lern at 100815, Q1 (Lern), Q1 D-GK1 (Lern), Chor (Lern)",
  ]);
});

test("of logins, first passwords, birthdays and addresses nothing is kept", async () => {
  const { people } = await read();
  expect(JSON.stringify(people)).not.toMatch(/vorname\.nachname|Erstpasswort|2015-03-09|@lindenplatz/);
});

test("groups keep their ids in the next term, although the export numbers them anew", async () => {
  const idsOf = async (term: number, now: string) => {
    const { people } = await read({ exports: { [term]: makeSvwsExport({ term }) } }, { now });
    return people.flatMap(({ personenkontexte: [at] }) => at!.gruppen.map(({ gruppe }) => gruppe.id));
  };
  expect(await idsOf(22, "2027-02-01T12:00:00Z")).toEqual(await idsOf(21, "2027-01-31T12:00:00Z"));
});

test("the term is the present one, or the one before it until the school has changed", async () => {
  const empty = { ...makeSvwsExport(), schueler: [] };
  const { people, asked } = await read(
    { exports: { 22: empty, 21: makeSvwsExport() } },
    { now: "2027-02-03T12:00:00Z" },
  );
  expect(people).toHaveLength(5);
  expect(asked.map(({ path }) => path.split("/v1/")[1])).toEqual([
    "lernplattformen/",
    "schuljahresabschnitte/",
    "lernplattformen/4/22/gzip",
    "lernplattformen/4/21/gzip",
  ]);
  const quarters = [1, 2, 3, 4].map((abschnitt) => ({ id: abschnitt, schuljahr: 2026, abschnitt }));
  const at = (day: string) => listBegun(quarters, new Date(day))[0];
  expect(["2026-10-31", "2026-11-02", "2027-02-02", "2027-07-31"].map(at)).toEqual([1, 2, 3, 4]);
});

test("a school with another number, or without one, is noticed where numbers are alike", async () => {
  const other = { exports: { 21: makeSvwsExport({ schulnummer: 165712 }) } };
  const named = (officialId: string) => ({ schools: [{ ...schools[0]!, officialId }] });
  expect(await failure(other)).toBe("OTHER_SCHOOL");
  expect(await failure(other, named("DE-NW-100815"))).toBe("OTHER_SCHOOL");
  const kept = await read({}, named("DE-NW-100815"));
  expect(kept.people[0]!.personenkontexte[0]!.organisation.kennung).toBe("DE-NW-100815");
  const withoutNumber = await read({}, named("LINDENPLATZ"));
  expect(withoutNumber.people[0]!.personenkontexte[0]!.organisation.kennung).toBeNull();
  const { schulnummer: _, ...unnamed } = makeSvwsExport();
  expect(await failure({ exports: { 21: unnamed } })).toBe("ANSWERED_BADLY");
});

test("each way in which the server fails has its name", async () => {
  const archive = gzipSync(JSON.stringify(makeSvwsExport()));
  const json = JSON.stringify(makeSvwsExport());
  const of = (path: string, reply: Reply) => ({ answer: (asked: string) => (asked === path ? reply : undefined) });
  const nobody = { ...makeSvwsExport(), schueler: [], lehrer: [] };
  const list = "/api/external/gymlinde/v1/lernplattformen/";
  const broken = (change: (made: SvwsExport) => unknown) => ({ exports: { 21: change(makeSvwsExport()) as object } });
  const cases: Record<string, Promise<string>> = {
    "wrong password": failure({}, { secret: "falsch" }),
    "no right to the export": failure(of(gzip, { status: 403 })),
    "no such schema": failure({}, { settings: { schema: "gymeiche" } }),
    "no such platform": failure({}, { settings: { platform: "Moodle" } }),
    "no such term": failure(of(gzip, { status: 404 })),
    "server error": failure(of(gzip, { status: 500 })),
    "a page instead of JSON": failure(of(list, { body: "<html>Wartung</html>" })),
    "a list cut short": failure(of(list, { body: `[{"id": 4`, cutAt: 5 })),
    "an archive cut short": failure(of(gzip, { body: archive, cutAt: 200 })),
    "an archive that ends early": failure(of(gzip, { body: archive.subarray(0, -40) })),
    "an archive of half the JSON": failure(of(gzip, { body: gzipSync(json.slice(0, -400)) })),
    "no archive": failure(of(gzip, { body: json })),
    "a longer answer than allowed": failure({}, { bytes: 400 }),
    "a bomb": failure(of(gzip, { body: gzipSync(Buffer.alloc(2 ** 20, " ")) }), { bytes: 2 ** 19 }),
    nobody: failure({ exports: { 21: nobody, 19: nobody } }),
    "a pupil without an id": failure(broken((made) => ({ ...made, schueler: [{ ...made.schueler[0]!, id: null }] }))),
    "ids that are texts": failure(broken((made) => ({ ...made, klassen: [{ ...made.klassen[0]!, id: "5a" }] }))),
  };
  const found = await Promise.all(Object.entries(cases).map(async ([name, code]) => [name, await code]));
  expect(Object.fromEntries(found)).toEqual({
    "wrong password": "REFUSED_CREDENTIALS",
    "no right to the export": "REFUSED_CREDENTIALS",
    "no such schema": "NOT_FOUND",
    "no such platform": "NOT_FOUND",
    "no such term": "NOT_FOUND",
    "server error": "UNREACHABLE",
    "a page instead of JSON": "ANSWERED_BADLY",
    "a list cut short": "HALF",
    "an archive cut short": "HALF",
    "an archive that ends early": "HALF",
    "an archive of half the JSON": "HALF",
    "no archive": "ANSWERED_BADLY",
    "a longer answer than allowed": "TOO_LARGE",
    "a bomb": "TOO_LARGE",
    nobody: "EMPTY",
    "a pupil without an id": "ANSWERED_BADLY",
    "ids that are texts": "ANSWERED_BADLY",
  });
});

test("a server that never answers is too slow", async () => {
  const ending = new AbortController();
  const answer = (path: string) => {
    if (path !== gzip) return undefined;
    ending.abort();
    return null;
  };
  expect(await failure({ answer }, { signal: ending.signal })).toBe("TOO_SLOW");
});
