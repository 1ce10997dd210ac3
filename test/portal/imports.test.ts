import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { GroupId, SchoolId } from "../../src/directory/index.ts";
import remedies from "../../src/imports/rows/remedies.json" with { type: "json" };
import { rosterFormats, type RosterFormat } from "../../src/connections/index.ts";
import german from "../../src/portal/imports/locales/de.json" with { type: "json" };
import english from "../../src/portal/imports/locales/en.json" with { type: "json" };
import { zip } from "../imports/rosters.ts";
import type { Browser, Shown } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser } from "../support/portal.ts";
import { makeTestClock, startService } from "../support/service.ts";

const clock = makeTestClock();
const service = await startService({ clock });
const make = makeMakers(service.db);
const { prisma } = service.db;

const header = "id;role;first_name;last_name;classes";
const csv = (...rows: string[]) => [header, ...rows, ""].join("\n");
const pupils = (many: number, group: string, first = 1) =>
  Array.from({ length: many }, (_, n) => `${first + n};student;Kind;Nr${first + n};${group}`);

const textOf = ({ html }: Pick<Shown, "html">): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<[^>]+>/g, " ")
    .replace(/&quot;/g, '"')
    .replace(/\s+/g, " ");

type World = { school: SchoolId; base: string; office: Browser };

let schools = 0;
const secretary = await makePortalUser(service, null);

/** A school of its own. One secretary works at all of them. */
async function makeWorld(): Promise<World> {
  const school = await make.school({ officialId: `DE-I${(schools += 1)}` });
  await giveRoleTo(service, secretary.personId, "SECRETARY", { schoolIds: [school] });
  return { school, base: `/admin/schools/${school}/imports`, office: secretary.browser };
}

async function handIn(
  { office, base }: Pick<World, "office" | "base">,
  content: string | Buffer,
  { name = "liste.csv", fields = {} }: { name?: string; fields?: Record<string, string> } = {},
): Promise<Shown> {
  return office.sendFile(await office.open(base), "/imports", { name, content }, fields);
}

const peopleOf = ({ school }: World) =>
  prisma.person.findMany({ where: { homeSchoolId: school, status: "ACTIVE", sourceSystemIdentifier: { not: null } } });

const groupsOf = ({ school }: World) => prisma.group.findMany({ where: { schoolId: school, status: "ACTIVE" } });

describe("the school as a file", () => {
  test("the page names what each format lacks, by the table of the formats, and hands out a file that changes nothing", async () => {
    const world = await makeWorld();
    const { school, base, office } = world;
    await make.person({
      school,
      sourceSystemIdentifier: "1",
      groups: [await make.group({ school, name: "5a", sourceSystemIdentifier: "class:5a" })],
    });
    expect((await office.open(base)).html).toContain(`href="${base}/export"`);
    const page = await office.open(`${base}/export`);
    const said = Object.entries(rosterFormats).map(([name, { lacks }]) => {
      const parts = lacks.map((part) => german.export.parts[part]).join(", ");
      return [
        german.export.formats[name as RosterFormat],
        german.export.lacks.replace("{{parts}}", parts),
        lacks.length > 0,
      ] as const;
    });
    for (const [title, lacks, isShown] of said) {
      expect(textOf(page)).toContain(title);
      expect([title, textOf(page).includes(lacks)]).toEqual([title, isShown]);
    }
    const file = await office.submit(page, "/export", { format: "csv" });
    expect(file.headers.get("content-disposition")).toContain("schule.csv");
    expect(textOf(await handIn(world, file.html))).toContain(german.figures.nothing);
    expect((await office.submit(page, "/export", { format: "xlsx" })).status).toBe(400);
  });
});

describe("handing in a file", () => {
  test("a CSV file is shown with what it does, and applied", async () => {
    const world = await makeWorld();
    const template = await world.office.once(`${world.base}/template`);
    expect(template.headers.get("content-disposition")).toContain("Vorlage.csv");
    expect(await template.text()).toContain("id;role;first_name;");
    const shown = await handIn(world, csv(...pupils(3, "5a")));
    expect(shown.status).toBe(200);
    expect(shown.url).toMatch(/\/imports\/[0-9a-f-]{36}$/);
    expect(textOf(shown)).toMatch(/liste\.csv.*Wartet auf Sie.*Neue Personen 3.*Neue Klassen und Gruppen 1/);
    expect(await peopleOf(world)).toHaveLength(0);
    const changes = await world.office.open(`${shown.url}/changes`);
    expect(textOf(changes)).toMatch(/5a wird angelegt, 3 neue/);
    const done = await world.office.submit(shown, "/apply");
    expect(textOf(done)).toMatch(/Der Import ist übernommen\..*Übernommen.*Zugänge anlegen und Anmeldekarten drucken/);
    expect(done.html).toContain(`href="/admin/schools/${world.school}/classes"`);
    const again = await world.office.submit(shown, "/apply");
    expect([again.status, await peopleOf(world)]).toMatchObject([200, { length: 3 }]);
    const list = await world.office.open(world.base);
    expect(textOf(list)).toMatch(/liste\.csv .* Übernommen/);
  });

  test("a school's own export is mapped by choosing, and the next one needs no question", async () => {
    const world = await makeWorld();
    const lines = ["Liste;;;", "Name;Vorname;Kl.;Nr. im Programm", "Müller;Ada;5a;4711", ";;;", "Ölçer;Bo;5b;4712"];
    const file = Buffer.from(lines.join("\r\n"), "latin1");
    const mapping = await handIn(world, file, { name: "export.csv" });
    expect(mapping.url).toMatch(/\/columns$/);
    expect(textOf(mapping)).toMatch(/Spalten zuordnen.*Welche Spalte nummeriert die Personen\?.*Müller/);
    expect(mapping.html).toMatch(/name="use0"[^]*?<option value="LAST_NAME" selected>Nachname/);
    const names = { use0: "LAST_NAME", use1: "FIRST_NAME" };
    const look = (from: Shown, encoding: string, separator: string) =>
      world.office.submit(from, "/columns", { look: "again", encoding, separator });
    const utf8 = await look(mapping, "utf-8", "SEMICOLON");
    expect(textOf(utf8)).toMatch(/Spalten zuordnen.*M\ufffdller/);
    const oneColumn = await look(utf8, "utf-8", "TAB");
    expect([oneColumn.status, textOf(oneColumn)]).toEqual([400, expect.stringContaining("hat nur eine Spalte")]);
    const unsure = await handIn(world, Buffer.from("Name;Vorname;Nr.\nM\x9aller;Ada;7\n", "latin1"));
    expect(textOf(unsure)).toMatch(/richtig geschrieben\?.*Windows-1252: Mšller Mac OS Roman: Möller/);
    const right = await look(oneColumn, "windows-1252", "SEMICOLON");
    expect(textOf(right)).toContain("Müller");
    const refused = await world.office.submit(right, "/columns", { ...names, use2: "CLASSES" });
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining("Keine Spalte nummeriert die")]);
    expect(refused.html).toMatch(/name="use2"[^]*?<option value="CLASSES" selected>Klasse/);
    const shown = await world.office.submit(refused, "/columns", {
      ...names,
      use2: "CLASSES",
      use3: "ID",
      role: "STUDENT",
      mode: "BULK",
    });
    expect(textOf(shown)).toMatch(/export\.csv.*Wartet auf Sie.*Neue Personen 2/);
    await world.office.submit(shown, "/apply");
    expect((await peopleOf(world)).map(({ last }) => last).toSorted()).toEqual(["Müller", "Ölçer"]);
    const next = await handIn(world, file);
    expect(textOf(next)).toMatch(/Wartet auf Sie.*Alles ist schon so/);
    expect((await handIn(world, file, { name: "neu.csv", fields: { chooseColumns: "yes" } })).url).toMatch(
      /\/columns$/,
    );
    const list = await world.office.open(world.base);
    const waiting = await world.office.open(/href="([^"]+)">neu\.csv/.exec(list.html)![1]!);
    expect(textOf(waiting)).toMatch(/Spalten offen.*Sagen Sie uns, was in den Spalten/);

    expect(textOf(list)).toMatch(
      /Gemerkte Spaltenzuordnungen \(1\).*Name → Nachname, Vorname → Vorname, Kl\. → Klasse,/,
    );
    const [, forget = ""] = /action="[^"]*(\/column-mappings\/[^"]+)"/.exec(list.html) ?? [];
    const forgotten = await world.office.submit(list, forget);
    expect(textOf(forgotten)).toContain("Die Zuordnung ist gelöscht.");
    expect(textOf(forgotten)).not.toContain("Gemerkte Spaltenzuordnungen");
    expect((await handIn(world, file)).url).toMatch(/\/columns$/);
  });

  test("a list of all students is chosen once: teachers stay, and the next such list is read alike", async () => {
    const world = await makeWorld();
    const first = await handIn(world, csv("1;student;Ada;Öz;5a", "2;student;Bo;Ek;5a", "T;teacher;Jörg;Groß;5a"));
    await world.office.submit(first, "/apply");
    const file = Buffer.from("Name;Vorname;Klasse;Schüler-Nr.\r\nÖz;Ada;5a;1\r\n", "latin1");
    const mapping = await handIn(world, file, { fields: { mode: "STUDENTS" } });
    expect(mapping.html).toMatch(/name="mode" value="STUDENTS" checked/);
    const shown = await world.office.submit(mapping, "/columns", {
      use0: "LAST_NAME",
      use1: "FIRST_NAME",
      use2: "CLASSES",
      use3: "ID",
      role: "STUDENT",
      mode: "STUDENTS",
    });
    expect(textOf(shown)).toMatch(/Tabelle \(CSV oder Excel\), alle Schülerinnen und Schüler.*Personen, die gehen 1/);
    const again = await handIn(world, file);
    expect(textOf(again)).toMatch(/alle Schülerinnen und Schüler.*Personen, die gehen 1/);
    const part = await handIn(world, file, { fields: { mode: "DELTA" } });
    expect(textOf(part)).toMatch(/, nur ein Teil.*Alles ist schon so/);
    const teachers = csv("T;teacher;Jörg;Groß;5a", "1;student;Ada;Öz;5a");
    const refused = await handIn(world, teachers, { fields: { mode: "TEACHERS" } });
    expect(textOf(await world.office.open(`${refused.url}/faults`))).toMatch(
      /liste\.csv, Zeile 3.*diese Person hat eine andere Rolle.*wählen Sie „die ganze Schule“ oder „nur ein Teil“/,
    );
  });

  test("without a choice a file is read as the page says, also where another choice is remembered", async () => {
    const world = await makeWorld();
    const file = (...rows: string[]) => ["Name;Vorname;Kl.;ID", ...rows].join("\n");
    const choiceOf = (page: Shown) => /name="mode" value=""[^>]*>([^<]+)</.exec(page.html)![1]!.trim();
    const usual = await world.office.open(world.base);
    expect(choiceOf(usual)).toBe("Wie die Datei es sagt, sonst die ganze Schule");
    const mapping = await handIn(world, file("A;Ada;5a;1", "B;Bo;5a;2"));
    const chosen = {
      use0: "LAST_NAME",
      use1: "FIRST_NAME",
      use2: "CLASSES",
      use3: "ID",
      role: "STUDENT",
      mode: "DELTA",
    };
    const shown = await world.office.submit(mapping, "/columns", chosen);
    await world.office.submit(shown, "/apply");
    const list = await world.office.open(world.base);
    expect(choiceOf(list)).toMatch(/bei Überschriften, die wir kennen, wie beim letzten Mal/);
    expect(textOf(list)).toMatch(/Gemerkte Spaltenzuordnungen \(1\).*Zuletzt: Nur ein Teil/);
    expect(textOf(await handIn(world, file("A;Ada;5a;1")))).toMatch(/nur (?:ein Teil|Änderungen).*Alles ist schon so/);
    const whole = await handIn(world, file("A;Ada;5a;1"), { fields: { mode: "BULK" } });
    expect(textOf(whole)).toMatch(/ganze Schule.*Personen, die gehen 1/);
    expect(choiceOf(await world.office.open(world.base))).toBe(choiceOf(usual));
  });

  test("of very many columns the page shows the first and those with a meaning, and the others stay ignored", async () => {
    const world = await makeWorld();
    const table = (cells: string[]) => [...Array.from({ length: 200 }, () => "x"), ...cells].join(";");
    const file = Buffer.from([table(["Name", "Vorname", "Kl.", "ID"]), table(["A", "B", "5a", "1"])].join("\n"));
    const mapping = await handIn(world, file, { name: "breit.csv" });
    expect(mapping.html.match(/name="use\d+"/g)).toHaveLength(104);
    expect(textOf(mapping)).toContain("100 weitere Spalten werden nicht gezeigt");
    const shown = await world.office.submit(mapping, "/columns", {
      use200: "LAST_NAME",
      use201: "FIRST_NAME",
      use202: "CLASSES",
      use203: "ID",
      role: "STUDENT",
      mode: "DELTA",
    });
    expect(textOf(shown)).toMatch(/Neue Personen 1/);
  });

  test("a form that is sent twice makes one import", async () => {
    const world = await makeWorld();
    const form = await world.office.open(world.base);
    const file = { name: "a.csv", content: csv(...pupils(1, "5a")) };
    const both = [
      await world.office.sendFile(form, "/imports", file),
      await world.office.sendFile(form, "/imports", file),
    ];
    expect(new Set(both.map(({ url }) => url)).size).toBe(1);
    const other = await world.office.sendFile(form, "/imports", { ...file, content: csv(...pupils(2, "5a")) });
    expect([other.status, textOf(other)]).toEqual([422, expect.stringContaining("schon eine andere Datei abgegeben")]);
  });

  test("a refusal keeps what was chosen, and says why", async () => {
    const world = await makeWorld();
    const form = await world.office.open(world.base);
    const none = await world.office.sendFile(form, "/imports", null, { mode: "DELTA" });
    expect([none.status, textOf(none)]).toEqual([400, expect.stringContaining("Bitte wählen Sie eine Datei.")]);
    expect(none.html).toMatch(/<input[^>]*name="mode"[^>]*value="DELTA"[^>]*checked/);
    const other = await world.office.sendFile(
      none,
      "/imports",
      { name: "a.csv", content: csv(...pupils(1, "5a")) },
      { format: "ONEROSTER" },
    );
    expect([other.status, textOf(other)]).toEqual([400, expect.stringContaining("ein anderes Format")]);
    const archive = await world.office.sendFile(other, "/imports", {
      name: "a.zip",
      content: await zip({ "a.csv": "a" }),
    });
    expect([archive.status, textOf(archive)]).toEqual([400, expect.stringContaining("keine OneRoster-Dateien")]);
  });
});

async function applied(world: World, content: string): Promise<Shown> {
  const shown = await handIn(world, content);
  return world.office.submit(shown, "/apply", numbersOf(shown));
}

/** What the page asks somebody to type, by the names of its fields. */
function numbersOf({ html }: Shown): Record<string, string> {
  const asked = html.matchAll(/Tippen Sie zur Bestätigung die Zahl (\d+).*?name="(hold_\w+)"/gs);
  return Object.fromEntries([...asked].map(([, number, name]) => [name!, number!]));
}

describe("a file with faults", () => {
  test("changes nothing and shows each fault with its line, what is wrong and what to do", async () => {
    const world = await makeWorld();
    const rows = ["7;gäste;Jörg;<b>Müßig</b>;5a", "8;student;Zoë;Ö;5a", "8;student;Än;Ö;5a", "9;student;;Ö;5a;b"];
    const shown = await handIn(world, csv(...rows));
    expect(textOf(shown)).toMatch(/Fehlerhaft.*Die Datei hat 4 Fehler/);
    expect(shown.html).not.toMatch(/\/(apply|cancel)"/);
    const faults = await world.office.open(`${shown.url}/faults`);
    expect(textOf(faults)).toMatch(
      /Zeile 2, Feld „role“ Diese Rolle kennen wir nicht\. 7;gäste;Jörg;.*Was zu tun ist: .*Schüler, Lehrkraft oder Personal/,
    );
    expect(faults.html).toContain("&lt;b&gt;Müßig");
    expect(textOf(faults)).toMatch(/Zeile 4, Feld „id“ Die Nummer steht schon in Zeile 3\./);
    expect(textOf(faults)).toMatch(/Zeile 5 Die Zeile hat nicht so viele Felder/);
    const english = await world.office.open(`${shown.url}/faults?lang=en`);
    expect(textOf(english)).toMatch(/Unknown role\..*How to fix it:/);
    await world.office.open(`${shown.url}/faults?lang=de`);
    expect(await groupsOf(world)).toHaveLength(0);
  });

  test("of single rows goes on without these, which are kept as a list that is an addition when it is handed in again", async () => {
    const world = await makeWorld();
    await applied(world, csv(...pupils(9, "5a")));
    const shown = await handIn(world, csv(...pupils(8, "5a"), "9;zauberer;Kind;=Nr9;5a", "10;student;Kind;Nr10;5A"));
    expect(textOf(shown)).toMatch(/Eine Zeile ist fehlerhaft\. Den Rest \(9\) übernehmen\?/);
    const warnings = await world.office.open(`${shown.url}/warnings`);
    expect(textOf(warnings)).toMatch(/Klassen oder Gruppen in zwei Schreibweisen 5a \(Zeile 2\), auch: 5A/);
    const file = await world.office.once(`${shown.url}/left-out/file`);
    expect(file.headers.get("content-disposition")).toContain("liste - ausgelassen.csv");
    const list = await file.text();
    expect(list).toContain("id;role;first_name;last_name;classes;ausgelassen_weil");
    expect(list).toContain("9;zauberer;Kind;'=Nr9;5a;role: Diese Rolle kennen wir nicht.");
    const ready = await world.office.submit(shown, "/left-out");
    expect(textOf(ready)).toMatch(/Die fehlerhaften Zeilen sind ausgelassen\..*Neue Personen 1.*Ausgelassene Zeilen/);
    expect(textOf(ready)).not.toContain("Personen, die gehen");
    expect(textOf(await world.office.open(`${shown.url}/left-out`))).toMatch(
      /10 9; zauberer; Kind; =Nr9; 5a Diese Rolle/,
    );
    await world.office.submit(ready, "/apply");
    expect(await peopleOf(world)).toHaveLength(10);
    const again = await handIn(world, list.replace("zauberer", "student").replace("'=Nr9", "Neu"), {
      name: "nachtrag.csv",
    });
    expect(textOf(again)).toMatch(/Wartet auf Sie.*Personen mit neuen Angaben 1/);
    expect(textOf(again)).not.toContain("Personen, die gehen");
    await world.office.submit(again, "/apply");
    expect(await peopleOf(world)).toHaveLength(10);
  });

  test("has its faults in pages", async () => {
    const world = await makeWorld();
    const shown = await handIn(world, csv(...pupils(60, "5a").map((row) => row.replace("student", "guest"))));
    expect(textOf(shown)).toContain("Zeilen lassen sich hier nicht auslassen");
    const first = await world.office.open(`${shown.url}/faults`);
    const next = /class="pager"><a[^>]*href="([^"]+)"/.exec(first.html)![1]!.replaceAll("&amp;", "&");
    const rest = await world.office.open(next);
    const count = ({ html }: Shown) => html.match(/kennen wir nicht/g)?.length;
    expect([count(first), count(rest)]).toEqual([50, 10]);
  });

  test("each code that the reader of rosters knows is said in words", () => {
    const sources = globSync("src/imports/**/*.ts").map((file) => readFileSync(file, "utf8"));
    const named = sources.flatMap((source) => [
      ...source.matchAll(/(?:fault\((?:[^"()]|\([^()]*\))*?"[A-Za-z]*",|makeCheck\()\s*"([a-z]+(?:_[a-z]+)+)"/g),
    ]);
    const codes = new Set([...named.map(([, code]) => code!), ...Object.keys(remedies)]);
    expect(codes.size).toBeGreaterThan(35);
    for (const { faults } of [german, english])
      for (const code of codes) expect([code, Object.hasOwn(faults, code)]).toEqual([code, true]);
  });

  test("is explained in German without the words of the template, but for values that a file must have", () => {
    const [headings] = readFileSync("src/imports/template.csv", "utf8").replace("\ufeff", "").split("\n");
    const template = new Set(headings!.trim().split(";"));
    const values = ["student", "teacher", "other", "active", "deleted", "bulk", "delta"];
    const textsIn = (tree: object, path: string[] = []): [path: string, text: string][] =>
      Object.entries(tree).flatMap(([key, value]: [string, unknown]) =>
        typeof value === "string" ? [[[...path, key].join("."), value]] : textsIn(value as object, [...path, key]),
      );
    const found = textsIn(german).flatMap(([path, text]) => {
      const said = text.replaceAll(/\{\{.*?\}\}/g, "").match(/[\p{L}_]+/gu) ?? [];
      return said.filter((word) => template.has(word) || values.includes(word)).map((word) => `${path}: ${word}`);
    });
    expect(found).toEqual([
      "remedies.unknown_mode: bulk",
      "remedies.unknown_mode: delta",
      "remedies.unknown_status: active",
      "remedies.unknown_status: deleted",
      "columns.use.STATUS: active",
      "columns.use.STATUS: deleted",
    ]);
  });
});

describe("a file of other schools", () => {
  const archiveOf = (...officialIds: string[]) =>
    zip({
      "orgs.csv": ["sourcedId,name,type,identifier", ...officialIds.map((id, n) => `o${n},S,school,${id}`), ""].join(
        "\n",
      ),
      "users.csv": [
        "sourcedId,orgSourcedIds,role,givenName,familyName",
        ...officialIds.map((_, n) => `u${n},o${n},student,Ada,B${n}`),
        "",
      ].join("\n"),
      "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
      "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
    });
  const officialIdOf = async (id: SchoolId) => (await prisma.school.findUniqueOrThrow({ where: { id } })).officialId;

  test("is taken for several schools of a district, each with a page of its own, and refused beyond them", async () => {
    const [one, two, three] = [await makeWorld(), await makeWorld(), await makeWorld()];
    const office = (await makePortalUser(service, "DISTRICT", { schoolIds: [one.school, two.school] })).browser;
    const [a, b, c] = await Promise.all([one, two, three].map(({ school }) => officialIdOf(school)));
    const fields = { schools: "many" };
    const refused = await handIn({ office, base: one.base }, await archiveOf(a!, c!), { name: "a.zip", fields });
    expect([refused.status, textOf(refused)]).toEqual([403, expect.stringContaining("für die Sie keine Rolle haben")]);
    const forOne = await handIn({ office, base: one.base }, await archiveOf(a!, b!), { name: "b.zip" });
    expect(textOf(forOne)).toContain("Bei OneRoster lassen sich einzelne Zeilen nicht auslassen");
    expect(textOf(await office.open(`${forOne.url}/faults`))).toMatch(
      /orgs\.csv, Zeile 3.*andere Schule als die, für die Sie die Datei abgeben/,
    );
    const shown = await handIn({ office, base: one.base }, await archiveOf(a!, b!), { name: "b.zip", fields });
    expect(textOf(shown)).toMatch(/Neue Personen 1.*Weitere Schulen dieser Datei/);
    const id = shown.url.split("/").at(-1)!;
    expect(shown.html).toContain(`href="${two.base}/${id}"`);
    expect((await office.open(`${two.base}/${id}/changes`)).status).toBe(200);
    for (const { school } of [one, three]) {
      const { browser } = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
      expect((await browser.open(`${one.base}/${id}`)).status).toBe(404);
    }
    await office.submit(shown, "/apply");
    expect([await peopleOf(one), await peopleOf(two)]).toMatchObject([{ length: 1 }, { length: 1 }]);
  });
});

describe("a file that takes much away", () => {
  test("is held until the number of those who leave is typed, and names each of them", async () => {
    const world = await makeWorld();
    await applied(world, csv(...pupils(4, "5a"), ...pupils(4, "5b", 41)));
    const shown = await handIn(world, csv(...pupils(2, "5a")));
    expect(textOf(shown)).toMatch(/Angehalten.*würden 6 die Schule verlassen/);
    const list = /href="([^"]+)">Ansehen, wer geht</.exec(shown.html)![1]!;
    const leavers = await world.office.open(list);
    expect(textOf(leavers)).toMatch(/Gehen \(6\).*Kind Nr3 3 5a geht, kein Zugang mehr/);
    expect(new Set(leavers.html.match(/Kind Nr\d+/g)).size).toBe(6);
    const changes = await world.office.open(`${shown.url}/changes`);
    expect(textOf(changes)).toMatch(/5a 2 gehen Wer\? 4 2 .*5b endet, 4 gehen Wer\? 4 0/);
    for (const typed of ["5", "alle", ""]) {
      const wrong = await world.office.submit(shown, "/apply", {
        ...numbersOf(shown),
        hold_LEAVERS: typed,
      });
      expect([wrong.status, textOf(wrong)]).toEqual([409, expect.stringContaining("Eine Zahl stimmt nicht")]);
      expect(wrong.html).toContain(`value="${typed}"`);
    }
    expect(await peopleOf(world)).toHaveLength(8);
    const done = await world.office.submit(shown, "/apply", { ...numbersOf(shown), hold_LEAVERS: " 6 " });
    expect(textOf(done)).toMatch(/Der Import ist übernommen.*lässt sich eine Zeit lang wiederherstellen/);
    expect(await peopleOf(world)).toHaveLength(2);
  });

  test("shows by each of its numbers whom or what it counts, and who leaves a class", async () => {
    const world = await makeWorld();
    await applied(world, csv(...pupils(5, "5a"), ...pupils(3, "5b", 41), "90;student;Paul;Müller;5b"));
    const shown = await handIn(
      world,
      csv(
        ...pupils(2, "5a"),
        "3;student;Kind;Nr3;5b",
        ...pupils(3, "5b", 41),
        "90;teacher;Ruth;Zabel;",
        "91;student;Mia;Neu;",
      ),
    );
    const links = [...shown.html.matchAll(/<dt>([^<]+)<\/dt><dd><a href="([^"]+)"><strong>(\d+)/g)];
    const rows = ({ html }: Shown) => html.match(/<th scope="row">/g)?.length ?? 0;
    const counted = await Promise.all(
      links.map(async ([, name, address, count]) => [name, Number(count), rows(await world.office.open(address!))]),
    );
    expect(counted).toEqual([
      ["Neue Personen", 1, 1],
      ["Personen mit neuen Angaben", 1, 1],
      ["Personen mit ganz anderem Namen", 1, 1],
      ["Personen, die gehen", 2, 2],
      ["Personen, die die Klasse wechseln", 2, 2],
      ["Schülerinnen und Schüler, die danach in keiner Klasse sind", 1, 1],
      ["Klassen, die Mitglieder verlieren", 2, 2],
      ["Geänderte Zugehörigkeiten zu Klassen und Gruppen", 3, 2],
    ]);
    const losing = await world.office.open(`${shown.url}/changes?losing=yes`);
    const who = await world.office.open(/href="([^"]+)" aria-label="Wer die 5a verlässt"/.exec(losing.html)![1]!);
    expect(textOf(who)).toMatch(/Kind Nr3 3 5a → 5b .*Kind Nr4 4 5a geht, kein Zugang mehr Kind Nr5/);
    const found = await world.office.submit(who, "/people", { group: "", search: "Müller, Paul" });
    expect([found.url.includes("M%C3%BCller"), textOf(found)]).toEqual([
      false,
      expect.stringMatching(
        /Ruth Zabel 90 5b → keine hieß bisher Paul Müller; bisher Schülerin oder Schüler, jetzt Lehrkraft/,
      ),
    ]);
  });

  test("that waits while the school changes says from when its numbers are, and makes them anew at a click", async () => {
    const world = await makeWorld();
    const shown = await handIn(world, csv(...pupils(3, "5a")));
    expect(textOf(shown)).toMatch(/Zahlen von [^ ]+.*Neue Personen 3/);
    expect(shown.html).not.toContain('id="outdated"');
    await applied(world, csv(...pupils(3, "5a"), ...pupils(1, "5b", 9)));
    const outdated = await world.office.open(shown.url);
    expect(textOf(outdated)).toMatch(
      /Diese Zahlen sind von .* geändert; die Zahlen können jetzt andere sein.*Neue Personen 3/,
    );
    const compared = await world.office.submit(outdated, "/comparison");
    expect(textOf(compared)).toMatch(/Die Zahlen sind neu berechnet.*Von 2 Klassen und Gruppen würde eine enden/);
    expect(textOf(compared)).not.toMatch(/Neue Personen|können jetzt andere sein/);
    await make.group({ school: world.school, name: "6x" });
    expect(textOf(await world.office.open(world.base))).toMatch(/Angehalten Eine Person geht Zahlen von früher/);
  });

  test("is confirmed by the number of groups that end where groups end and nobody leaves", async () => {
    const world = await makeWorld();
    await applied(world, csv(...pupils(4, "5a|5b|5c")));
    const shown = await handIn(world, csv(...pupils(4, "5a")));
    expect(textOf(shown)).toMatch(/würden 2 enden.*Wie viele Klassen und Gruppen enden\?/);
    expect((await world.office.submit(shown, "/apply")).status).toBe(409);
    expect(await groupsOf(world)).toHaveLength(3);
    await world.office.submit(shown, "/apply", { hold_GROUPS_ENDED: "2" });
    expect(await groupsOf(world)).toMatchObject([{ name: "5a" }]);
  });

  test("is discarded, once", async () => {
    const world = await makeWorld();
    const shown = await handIn(world, csv(...pupils(3, "5a")));
    const cancelled = await world.office.submit(shown, "/cancel");
    expect(textOf(cancelled)).toMatch(/Der Import ist verworfen\..*Verworfen/);
    expect((await world.office.submit(shown, "/cancel")).status).toBe(200);
    const late = await world.office.submit(shown, "/apply");
    expect([late.status, textOf(late)]).toEqual([409, expect.stringContaining("Der Import wurde verworfen")]);
    expect(await groupsOf(world)).toHaveLength(0);
  });
});

describe("classes", () => {
  test("a class that looks like one made by hand is joined with it, also when the form is sent twice", async () => {
    const world = await makeWorld();
    const byHand = await make.group({ school: world.school, name: "Klasse 5 A", type: "KLASSE" });
    const shown = await handIn(world, csv(...pupils(2, "5a")));
    const pairs = await world.office.open(`${shown.url}/look-alikes`);
    expect(textOf(pairs)).toContain("„5a“ in der Datei sieht aus wie „Klasse 5 A“, von Hand angelegt.");
    const joined = await world.office.submit(pairs, "/look-alikes");
    expect(textOf(joined)).toContain("Die Klassen sind zusammengeführt.");
    expect((await world.office.submit(pairs, "/look-alikes")).status).toBe(200);
    const other = await world.office.submit(pairs, "/look-alikes", { source: "class:9z" });
    expect([other.status, textOf(other)]).toEqual([409, expect.stringContaining("nicht mehr zusammengeführt werden")]);
    await world.office.submit(joined, "/apply");
    expect(await groupsOf(world)).toMatchObject([{ id: byHand, name: "5a" }]);
  });

  const lastYear = csv(...pupils(4, "5a"), ...pupils(4, "5b", 11), ...pupils(4, "6a", 21), ...pupils(4, "9c", 31));
  const nextYear = csv(...pupils(4, "6a"), ...pupils(4, "6b", 11), ...pupils(2, "9c", 31), ...pupils(4, "5a", 41));
  const pairOf = (from: string, to: string) => JSON.stringify([`class:${from}`, `class:${to}`]);

  test("go on as others at the change of the school year with their grants, as far as they are ticked, by one button", async () => {
    const world = await makeWorld();
    await applied(world, lastYear);
    const idOf = new Map((await groupsOf(world)).map(({ id, name }) => [name, id as GroupId]));
    const { clientId } = await make.app({ name: "Lernapp" });
    await make.grant({ app: clientId, school: world.school, groups: [idOf.get("5a")!] });
    const shown = await handIn(world, nextYear);
    const text = textOf(shown);
    expect(text).toMatch(
      /Klassen, die weitergeführt werden 2.*Wechsel des Schuljahrs.*5a → 6a \(4 Personen wechseln\) Die Freigabe für Lernapp gilt danach für die 6a\..*5b → 6b/,
    );
    expect(shown.html.match(/ checked/g)).toHaveLength(2);
    expect(shown.html.indexOf('id="moves"')).toBeLessThan(shown.html.indexOf('id="people"'));
    expect(shown.html.match(/<button class="(primary|danger)"[^>]*>Import übernehmen/g)).toHaveLength(1);
    const broken = await world.office.submit(shown, "/apply", { leavers: "6", move: "x" });
    expect(broken.status).toBe(400);
    const fewer = await world.office.submit(shown, "/apply", { ...numbersOf(shown), move: pairOf("5a", "6a") });
    expect([textOf(fewer), fewer.html.match(/ checked/g)?.length]).toEqual([
      expect.stringMatching(/Der Vergleich ist neu gemacht.*Klassen, die weitergeführt werden 1/),
      1,
    ]);
    const byButton = { ...fewer, html: fewer.html.replace('/apply" class', '/moves" class') };
    expect(textOf(await world.office.submit(byButton, "/moves"))).not.toContain("weitergeführt werden");
    const again = await world.office.submit(byButton, "/moves", { move: pairOf("5a", "6a") });
    const wrong = await world.office.submit(again, "/apply", { move: pairOf("5a", "6a"), hold_LEAVERS: "1" });
    expect(wrong.status).toBe(409);
    const done = await world.office.submit(again, "/apply", { ...numbersOf(again), move: pairOf("5a", "6a") });
    expect(textOf(done)).toMatch(
      /Der Import ist übernommen\..*Klassen, die weitergeführt werden 1.*5a → 6a \(4 Personen\) Die Freigabe für Lernapp gilt jetzt für die 6a\./,
    );
    const after = new Map((await groupsOf(world)).map(({ id, name }) => [name, id]));
    expect([after.get("6a"), after.get("6b") === idOf.get("5b"), after.get("9c")]).toEqual([
      idOf.get("5a"),
      false,
      idOf.get("9c"),
    ]);
  });

  test("that keep their pupils give their place to none, and of two that become one the larger goes on", async () => {
    const world = await makeWorld();
    const all = [...pupils(5, "5a"), ...pupils(3, "5b", 11), ...pupils(2, "5x", 21), ...pupils(6, "7a", 31)];
    await applied(world, csv(...all));
    const idOf = new Map((await groupsOf(world)).map(({ id, name }) => [name, id]));
    const next = [...pupils(5, "6a"), ...pupils(3, "6a", 11), ...pupils(2, "7a", 21), ...pupils(6, "7a", 31)];
    const shown = await handIn(world, csv(...next));
    expect(textOf(shown)).toMatch(/5a → 6a.*5b → 6a.*5x → 7a/);
    expect(shown.html.match(/ checked/g)).toHaveLength(1);
    await world.office.submit(shown, "/apply", { leavers: "0", move: pairOf("5a", "6a") });
    const after = new Map((await groupsOf(world)).map(({ id, name }) => [name, id]));
    expect([after.get("6a"), after.get("7a")]).toEqual([idOf.get("5a"), idOf.get("7a")]);
  });

  test("that are all deselected are not applied before what ends is confirmed", async () => {
    const world = await makeWorld();
    await applied(world, csv(...pupils(4, "5a"), ...pupils(4, "5b", 11)));
    const shown = await handIn(world, csv(...pupils(4, "6a"), ...pupils(4, "6b", 11)));
    expect(textOf(shown)).toContain("Wartet auf Sie");
    const held = await world.office.submit(shown, "/apply");
    expect(textOf(held)).toMatch(/Der Vergleich ist neu gemacht.*Angehalten/);
    expect((await groupsOf(world)).map(({ name }) => name).sort()).toEqual(["5a", "5b"]);
    await world.office.submit(held, "/apply", numbersOf(held));
    expect((await groupsOf(world)).map(({ name }) => name).sort()).toEqual(["6a", "6b"]);
  });
});

test("the page of an import that is being read asks for itself again, and has a link without scripts", async () => {
  const world = await makeWorld();
  const { url } = await handIn(world, csv(...pupils(2, "5a")));
  const id = url.split("/").at(-1)!;
  const under = { state: "READING", progressPhase: "READING", progressPercent: 40, progressAt: service.clock() };
  await prisma.import.update({ where: { id }, data: under });
  const shown = await world.office.open(url);
  expect(shown.html).toMatch(/id="import" hx-get="[^"]*" hx-trigger="every 2s"/);
  expect(shown.html).toMatch(/<progress[^>]* value="40"/);
  expect(textOf(shown)).toMatch(/verglichen: 40 %.*Stand neu laden/);
  const refused = await world.office.submit({ ...shown, html: shown.html.replace("/cancel", "/apply") }, "/apply", {
    leavers: "0",
  });
  expect([refused.status, textOf(refused)]).toEqual([409, expect.stringContaining("wird noch gelesen")]);
});

describe("undoing", () => {
  test("the page says what would come back and what stays, and undoes the rest once that is confirmed", async () => {
    const world = await makeWorld();
    clock.forwardSeconds(60);
    await applied(world, csv(...pupils(3, "5a")));
    clock.forwardSeconds(60);
    const second = await handIn(world, csv(...pupils(2, "6a"), "9;student;Neu;Neuer;6a"));
    const held = await world.office.submit(second, "/apply", numbersOf(second));
    const moving = await world.office.submit(held, "/apply", numbersOf(held));
    expect(textOf(moving)).toMatch(/Import rückgängig machen Bis .* können Sie/);
    const moved = await prisma.person.findFirstOrThrow({ where: { homeSchoolId: world.school, last: "Nr1" } });
    await prisma.membership.deleteMany({ where: { personId: moved.id } });
    const shown = await world.office.open(`${second.url}/undo`);
    expect(textOf(shown)).toMatch(/Personen, die wiederkommen 1 Personen, die wieder gelöscht werden 1/);
    expect(textOf(shown)).toContain("Ein Eintrag lässt sich nicht rückgängig machen");
    expect(textOf(await world.office.open(`${second.url}/undo-kept`))).toMatch(
      /Kind Nr1 .*Klasse oder Gruppe seitdem geändert/,
    );
    expect(textOf(await world.office.open(`${second.url}/undo-changes`))).toMatch(
      /5a kommt wieder .*Kind Nr2 .*6a → 5a/,
    );
    const refused = await world.office.submit(shown, "/undo");
    expect([refused.status, textOf(refused)]).toEqual([409, expect.stringContaining("Prüfen Sie die Liste")]);
    const done = await world.office.submit(shown, "/undo", { kept: "1" });
    expect(textOf(done)).toMatch(/Der Import ist rückgängig gemacht\..*Rückgängig gemacht/);
    expect((await peopleOf(world)).map(({ sourceSystemIdentifier }) => sourceSystemIdentifier).sort()).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect(textOf(await world.office.open(`${second.url}/undo`))).toContain("schon rückgängig gemacht");
  });
});
