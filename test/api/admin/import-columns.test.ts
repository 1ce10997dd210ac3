import { expect, test } from "vitest";
import { makeImportSweep } from "../../../src/imports/index.ts";
import { addDays } from "../../../src/platform/clock.ts";
import { makeStaff, refusalOf, type Sent } from "../../support/admin.ts";
import { expectDescribed } from "../../support/described.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const { db } = service;
const make = makeMakers(db);

const school = await make.school({ officialId: "DE-1" });
const office = (await makeStaff(service, "SECRETARY", { schoolIds: [school] })).call;
const support = (await makeStaff(service, "SUPPORT", { schoolIds: [school] })).call;
const foreign = (await makeStaff(service, "SECRETARY", { schoolIds: [await make.school({})] })).call;

type Columns = {
  columns: { heading: string; use: string; samples: string[] }[];
  role: string;
  className: string | null;
  idFromName: boolean;
  mode: string;
  headingLine: number;
  encoding: string;
};
type Made = { id: string; state: string; mode: string; schools: { people: { created: number }; leavers: number }[] };

const handIn = async (text: string | Buffer, query = "", at: string = school) => {
  const headers = { "content-type": "application/octet-stream" };
  const sent = await office("POST", `/imports?school=${at}${query}`, { body: Buffer.from(text), headers });
  return { sent, made: sent.body as Made };
};
const map = (id: string, body: object, call = office) => call("PUT", `/imports/${id}/columns`, { body });
const mappingOf = ({ columns, role, className, idFromName, mode }: Columns) => ({
  uses: columns.map(({ use }) => use),
  role,
  className,
  idFromName,
  mode,
});
const peopleOf = async (schoolId: string) =>
  (
    await db.prisma.person.findMany({
      where: { homeSchoolId: schoolId, sourceSystemIdentifier: { not: null } },
      orderBy: { sourceSystemIdentifier: "asc" },
    })
  ).map(({ sourceSystemIdentifier, role, firstFull, firstCall, last }) =>
    [sourceSystemIdentifier, role, firstFull, firstCall, last].join(" "),
  );
const apply = async (sent: Sent) => office("POST", `/imports/${(sent.body as Made).id}/application`, { body: {} });

const pupils = [
  "Goethe-Gymnasium: Schülerliste",
  "",
  "Lfd. Nr.;Nachname;Vorname;Rufname;Klasse;Geburtsdatum;Schüler-Nr.;Bemerkung",
  "1;Müller;Ada Marie;Ada;5a;31.08.2014;4711;isst kein Fleisch",
  "2;von der Heide;Bo;;5a;2014-02-01;4712;",
];
const pupilsFile = (rows = pupils) => Buffer.from(rows.join("\r\n"), "latin1");

test("a school's own file waits for its columns, is read with them, and the next one needs no question", async () => {
  const { sent, made } = await handIn(pupilsFile(), "&file-name=export.csv");
  expectDescribed("createImport", sent);
  expect(made).toMatchObject({ state: "UNMAPPED", schools: [] });
  const read = await office("GET", `/imports/${made.id}/columns`);
  expectDescribed("getImportColumns", read);
  const columns = read.body as Columns;
  expect(columns).toMatchObject({
    encoding: "windows-1252",
    separator: "SEMICOLON",
    headingLine: 3,
    role: "STUDENT",
    mode: "DELTA",
  });
  expect(columns.columns.map(({ heading, use }) => `${heading}: ${use}`)).toEqual([
    "Lfd. Nr.: IGNORED",
    "Nachname: LAST_NAME",
    "Vorname: FIRST_NAME",
    "Rufname: CALL_NAME",
    "Klasse: CLASSES",
    "Geburtsdatum: BIRTH_DATE",
    "Schüler-Nr.: ID",
    "Bemerkung: IGNORED",
  ]);
  expect(columns.columns[1]!.samples).toEqual(["Müller", "von der Heide"]);
  const mapped = await map(made.id, mappingOf(columns));
  expectDescribed("putImportColumns", mapped);
  expect(mapped.body).toMatchObject({ state: "READY", mode: "DELTA", schools: [{ people: { created: 2 } }] });
  expect(await db.prisma.importPiece.count()).toBe(0);
  expect((await apply(mapped)).status).toBe(200);
  expect(await peopleOf(school)).toEqual(["4711 STUDENT Ada Marie Ada Müller", "4712 STUDENT Bo Bo von der Heide"]);
  const kept = await office("GET", `/schools/${school}/column-mappings`);
  expectDescribed("listColumnMappings", kept);
  expect(kept.body).toMatchObject([{ role: "STUDENT", mode: "DELTA", columns: { 6: { use: "ID" } } }]);
  const next = await handIn(pupilsFile([...pupils, "3;Cramer;Cy;;6b;41000;4713;"]));
  expect(next.made).toMatchObject({ state: "READY", mode: "DELTA", schools: [{ people: { created: 1 }, leavers: 0 }] });
  const { made: asked } = await handIn(pupilsFile(), "&choose-columns=true");
  expect(asked.state).toBe("UNMAPPED");
  const going = await office("PUT", `/imports/${asked.id}/columns?in-background=true`, { body: mappingOf(columns) });
  expectDescribed("putImportColumns", going);
  while (((await office("GET", `/imports/${asked.id}`)).body as Made).state !== "READY");

  const [{ id = "" } = {}] = kept.body as { id?: string }[];
  const mapping = `/schools/${school}/column-mappings/${id}`;
  expect(refusalOf(await foreign("DELETE", mapping))).toEqual([404, "school_not_found"]);
  expect((await support("DELETE", mapping)).status).toBe(403);
  const stale = await office("DELETE", mapping, { headers: { "if-match": '"other"' } });
  expectDescribed("deleteColumnMapping", stale);
  expect(stale.status).toBe(412);
  for (const _ of ["first", "repeated"]) expect((await office("DELETE", mapping)).status).toBe(204);
  expect(await db.prisma.audit.count({ where: { schoolId: school, action: "column_mapping_deleted" } })).toBe(1);
  expect((await handIn(pupilsFile())).made.state).toBe("UNMAPPED");
});

test("a mapping that identifies nobody, or contradicts itself, is refused, and the import still waits", async () => {
  const at = await make.school({});
  const other = (await makeStaff(service, "SECRETARY", { schoolIds: [at] })).call;
  const headers = { "content-type": "application/octet-stream" };
  const sent = await other("POST", `/imports?school=${at}`, { body: pupilsFile(), headers });
  const { id } = sent.body as Made;
  const good = mappingOf((await other("GET", `/imports/${id}/columns`)).body as Columns);
  const without = (use: string) => ({ ...good, uses: good.uses.map((one) => (one === use ? "IGNORED" : one)) });
  const refused: [object, number, string][] = [
    [without("ID"), 400, "id_column_missing"],
    [without("LAST_NAME"), 400, "name_column_missing"],
    [{ ...good, role: "TEACHER", mode: "BULK", people: "STUDENTS" }, 400, "role_of_others"],
    [{ ...good, role: "COLUMN" }, 400, "role_column_missing"],
    [{ ...good, uses: good.uses.map((use) => (use === "IGNORED" ? "ID" : use)) }, 400, "column_used_twice"],
    [{ ...good, uses: good.uses.slice(1) }, 400, "column_count_differs"],
    [{ ...good, sheet: "Tabelle2" }, 400, "sheet_unknown"],
    [{ ...good, idFromName: 7 }, 400, "invalid_request"],
  ];
  for (const [body, status, code] of refused) {
    const answer = await map(id, body, other);
    expect(refusalOf(answer)).toEqual([status, code]);
    expectDescribed("putImportColumns", answer);
  }
  expect(refusalOf(await other("POST", `/imports/${id}/application`, { body: {} }))).toEqual([409, "import_unmapped"]);
  expect((await map(id, good, other)).body).toMatchObject({ state: "READY" });
  const again = await map(id, good, other);
  expect(refusalOf(again)).toEqual([409, "import_mapped"]);
  expectDescribed("putImportColumns", again);
  const read = await other("GET", `/imports/${id}/columns`);
  expect(refusalOf(read)).toEqual([409, "import_mapped"]);
  expectDescribed("getImportColumns", read);
});

test("a list without numbers is read by name and date of birth if the office says so", async () => {
  const at = await make.school({});
  const { call } = await makeStaff(service, "SECRETARY", { schoolIds: [at] });
  const list = (dates: string[]) => [
    "Klassenliste 5a",
    "Nr.,Name,geb.",
    ...["Öz, Ada", "Bo von der Heide"].map((name, n) => `${n + 1},"${name}",${dates[n]}`),
  ];
  const send = async (dates: string[]) => {
    const headers = { "content-type": "application/octet-stream" };
    return call("POST", `/imports?school=${at}`, { body: Buffer.from(list(dates).join("\n")), headers });
  };
  const first = (await send(["31.08.2014", "2014-02-01"])).body as Made;
  const columns = (await call("GET", `/imports/${first.id}/columns`)).body as Columns;
  expect(columns.columns.map(({ use }) => use)).toEqual(["IGNORED", "FULL_NAME", "BIRTH_DATE"]);
  expect(columns).toMatchObject({ role: "STUDENT", className: "5a", mode: "DELTA" });
  expect(refusalOf(await map(first.id, mappingOf(columns), call))).toEqual([400, "id_column_missing"]);
  const mapped = await map(first.id, { ...mappingOf(columns), idFromName: true }, call);
  await call("POST", `/imports/${(mapped.body as Made).id}/application`, { body: {} });
  const people = await peopleOf(at);
  expect(people.map((line) => line.replace(/^name:[0-9a-f]{32} /, "")).toSorted()).toEqual([
    "STUDENT Ada Ada Öz",
    "STUDENT Bo Bo von der Heide",
  ]);
  expect(JSON.stringify(people)).not.toContain("2014");
  // The same dates in other words are the same people; another class's list has the same headings, so it is asked.
  const again = (await send(["2014-08-31", "41671"])).body as Made;
  expect(again.state).toBe("UNMAPPED");
  const same = await map(again.id, { ...mappingOf(columns), idFromName: true }, call);
  expect(same.body).toMatchObject({ state: "READY", schools: [{ people: { created: 0, changed: 0 }, leavers: 0 }] });
});

test("what was kept of a waiting file is gone when it is cancelled or has waited for a week", async () => {
  const [cancelled, expired] = [
    await handIn(pupilsFile(), "&choose-columns=true"),
    await handIn(pupilsFile(), "&choose-columns=true"),
  ];
  expect(await db.prisma.importPiece.count({ where: { importId: cancelled.made.id } })).toBe(1);
  await office("POST", `/imports/${cancelled.made.id}/cancellation`);
  const clock = () => addDays(service.clock(), 8);
  await makeImportSweep({ db, clock }).run(new AbortController().signal);
  for (const { made } of [cancelled, expired]) {
    expect(await db.prisma.importPiece.count({ where: { importId: made.id } })).toBe(0);
    expect(await db.prisma.import.findUnique({ where: { id: made.id } })).toMatchObject({ upload: null });
  }
  expect(((await office("GET", `/imports/${expired.made.id}`)).body as Made).state).toBe("EXPIRED");
});
