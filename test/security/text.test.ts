import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory, createApp, updateApp, type ClientId } from "../../src/access/index.ts";
import {
  checkText,
  createGroup,
  createPerson,
  createSchool,
  findPerson,
  findTextFault,
  listPeople,
  renameGroup,
  updatePerson,
  updateSchool,
  type Change,
} from "../../src/directory/index.ts";
import { makeLog } from "../../src/platform/telemetry/log.ts";
import { escapeUnprintable } from "../../src/platform/text/unprintable.ts";
import { isUnstorable, storeOf, withPrismaTransaction } from "../../src/platform/database/db.ts";
import { setCredential } from "../support/sign-ins.ts";
import { runHere } from "../cli/program.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { walks } from "../support/walks.ts";

const db = await testDatabase();
const make = makeMakers(db);
const origin = { at: new Date("2026-02-03T08:00:00Z"), actorId: "test" };
const change = <T>(work: (it: Change) => Promise<T>) => changeDirectory(db, origin, work);

/** What a terminal or a browser obeys, written out by hand so that the rule is not tested by itself. */
const ranges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x61c, 0x61c],
  [0x200b, 0x200b],
  [0xfeff, 0xfeff],
  [0xd800, 0xdfff],
];
const isBad = (code: number) => ranges.some(([from, to]) => code >= from! && code <= to!);
const bad = fc
  .constantFrom(...ranges)
  .chain(([from, to]) => fc.integer({ min: from!, max: to! }))
  .map((code) => String.fromCharCode(code));
const hasBad = (text: string) => Array.from(text).some((character) => isBad(character.codePointAt(0)!));

test("a text with a control, bidi or lone surrogate character inside is refused, and printed escaped", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 20 }),
      bad,
      fc.string({ unit: "grapheme", maxLength: 20 }),
      (before, sign, after) => {
        const text = `a${before}${sign}${after}b`;
        expect(findTextFault(text)).toMatch(/^holds a control or invisible character \(U\+[0-9A-F]{4,6}\)$/);
        expect(() => checkText("name", text)).toThrow(expect.objectContaining({ code: "text_unprintable" }));
        expect(hasBad(escapeUnprintable(text))).toBe(false);
        expect(JSON.parse(escapeUnprintable(JSON.stringify({ text })))).toEqual({ text });
      },
    ),
    walks(250, 250),
  );
});

test("each such character is refused, and printed escaped", () => {
  for (const [from, to] of ranges) {
    for (let code = from!; code <= to!; code++) {
      const text = `a${String.fromCharCode(code)}b`;
      expect(findTextFault(text), code.toString(16)).not.toBeNull();
      expect(hasBad(escapeUnprintable(text)), code.toString(16)).toBe(false);
    }
  }
});

test("any text is kept without such characters or refused, and what is kept is kept again as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 30 }), (text) => {
      if (findTextFault(text) !== null) return;
      const kept = checkText("name", text);
      expect(hasBad(kept)).toBe(false);
      expect(escapeUnprintable(kept)).toBe(kept);
      expect(checkText("name", kept)).toBe(kept);
      expect(kept).toBe(kept.normalize("NFC"));
    }),
    walks(1000, 1000),
  );
});

test("names of every script are kept, in one spelling", () => {
  const names = ["Łukasz Żółć", "محمد", "می\u200cخواهم", "क्\u200dष", "李小龍", "O’Neill-García", "Nguyễn"];
  for (const name of [...names, "👩\u200d🏫 AG"]) expect(checkText("name", name)).toBe(name);
  expect(checkText("name", " Mu\u0308ller ")).toBe("Müller");
  expect(findTextFault("x".repeat(201))).toBe("is longer than 200 characters");
  for (const empty of ["", " \t", "\u200d", "\u200c\u200c"]) expect(findTextFault(empty)).toBe("must not be empty");
});

test("every entrance refuses them", async () => {
  const evil = "Lea\u001b[2J\u202e";
  const address = { address: "Weg 1", addressAddition: null, city: "Stade", zipCode: "21680" };
  const good = {
    name: "Schule",
    officialId: "DE-NI-TEXT",
    address,
    location: { country: "DE", state: "NI" },
    schoolingLevel: null,
  };
  const school = await change((it) => createSchool(it, good));
  const group = await make.group({ school });
  const person = await make.person({ school });
  const app = await make.app();
  const name = { firstFull: "Lea", firstCall: "Lea", last: "Probe" };
  const inApp = { ...origin, allowLoopbackHttp: true };
  const entrances: Record<string, () => Promise<unknown>> = {
    school: () => change((it) => createSchool(it, { ...good, officialId: "DE-NI-2", name: evil })),
    officialId: () => change((it) => updateSchool(it, { schoolId: school, officialId: evil })),
    street: () => change((it) => updateSchool(it, { schoolId: school, address: { address: evil } })),
    addition: () => change((it) => updateSchool(it, { schoolId: school, address: { addressAddition: evil } })),
    city: () => change((it) => updateSchool(it, { schoolId: school, address: { city: evil } })),
    group: () => change((it) => createGroup(it, { schoolId: school, name: evil, type: "KLASSE" })),
    groupSource: () =>
      change((it) => createGroup(it, { schoolId: school, name: "5a", type: "KLASSE", sourceSystemIdentifier: evil })),
    rename: () => change((it) => renameGroup(it, { groupId: group, name: evil })),
    first: () =>
      change((it) => createPerson(it, { schools: [school], role: "STUDENT", name: { ...name, firstFull: evil } })),
    call: () => change((it) => updatePerson(it, { personId: person, name: { ...name, firstCall: evil } })),
    last: () => change((it) => updatePerson(it, { personId: person, name: { ...name, last: evil } })),
    source: () => change((it) => updatePerson(it, { personId: person, sourceSystemIdentifier: evil })),
    app: () =>
      withPrismaTransaction(db, (tx) =>
        createApp(tx, { name: evil, type: "PUBLIC", scopes: [], redirectUris: [] }, inApp),
      ),
    appName: () =>
      withPrismaTransaction(db, (tx) => updateApp(tx, { clientId: app.clientId as ClientId, name: evil }, inApp)),
    username: () =>
      withPrismaTransaction(db, (tx) =>
        setCredential(tx, { personId: person, username: evil, password: "correct horse", now: origin.at }),
      ),
  };
  for (const [entrance, enter] of Object.entries(entrances)) {
    await expect(enter(), entrance).rejects.toMatchObject({
      kind: "invalid",
      code: "text_unprintable",
      message: expect.stringContaining("U+001B"),
    });
  }
});

test("a name is found however its letters are composed", async () => {
  const school = await make.school();
  const id = await make.person({ school, name: { firstFull: "Zoe\u0308", firstCall: "Zoë", last: "Probe" } });
  expect((await findPerson(db, id))!.name!.firstFull).toBe("Zoë");
  for (const search of ["zoë", "zoe\u0308"])
    expect(await listPeople(storeOf(db), { schoolId: school, search, limit: 9 })).toHaveLength(1);
});

test("what is stored already is printed escaped by the command line, as text and as JSON", async () => {
  const school = await make.school();
  const id = await make.person({ school });
  await db.pool.query("UPDATE person SET last = $2 WHERE id = $1", [
    id,
    "Pro\u001b]0;x\u0007\u202ebe\u009b31m\nroot: done",
  ]);
  const run = runHere({ DATABASE_URL: db.url });
  for (const command of [
    ["person", "list", "--school", school],
    ["person", "show", id],
  ]) {
    const lines = await run(command);
    const json = await run([...command, "--json"]);
    expect(lines.out).toContain("Pro\\u001b]0;x\\u0007\\u202ebe\\u009b31m\\u000aroot: done");
    expect(hasBad(`${lines.out}${json.out}`.replaceAll("\n", ""))).toBe(false);
    expect(json.out).toMatch(/^[^\n]*\n$/);
    expect(JSON.stringify(JSON.parse(json.out))).toContain("be\u009b31m");
  }
  const wrong = await run(["person", "show", "\u001b[31mx"]);
  expect(wrong.code).not.toBe(0);
  expect(wrong.err).toContain("\\u001b[31mx");
  expect(hasBad(wrong.err.replaceAll("\n", ""))).toBe(false);
});

test("log lines are escaped, to be read and as JSON", () => {
  for (const format of ["readable", "json"] as const) {
    let text = "";
    const log = makeLog({ level: "info", format, to: { write: (line: string) => void (text += line) } });
    log.info({ path: "/\u009b31m\u202e" }, "re\u0007quest");
    log.error({ err: new Error("broken \u001b[2J\nsecond line") }, "failed");
    expect(text).toContain("\\u009b31m\\u202e");
    expect(hasBad(text.replaceAll("\n", ""))).toBe(false);
  }
});

test("whatever PostgreSQL refuses as a value is known as that, through Prisma too", async () => {
  const ask = (text: string, value: unknown) => db.pool.query(text, [value]);
  const school = await make.school();
  const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  await db.pool.query("CREATE TABLE indexed (name text UNIQUE)");
  const refused: Record<string, () => Promise<unknown>> = {
    NUL: () => ask("SELECT $1::text", "a\0"),
    "NUL in JSON": () => ask("SELECT $1::jsonb", JSON.stringify("a\0")),
    surrogate: () => ask("SELECT $1::jsonb", JSON.stringify("a\ud800")),
    "nested JSON": () => ask("SELECT $1::jsonb", nested),
    "large number": () => ask("SELECT $1::int", 2 ** 31),
    "no number": () => ask("SELECT $1::int", Number.NaN),
    time: () => ask("SELECT $1::timestamptz", "300000-01-01T00:00:00Z"),
    "no time": () => ask("SELECT $1::timestamptz", "2026-19-39"),
    "no id": () => ask("SELECT $1::uuid", "x"),
    "for an index": () => ask("INSERT INTO indexed VALUES ($1)", randomBytes(9000).toString("hex")),
    "NUL in Prisma": () => db.prisma.school.update({ where: { id: school }, data: { name: "a\0" } }),
  };
  const outcomes = Object.entries(refused).map(async ([what, ask]) => [
    what,
    isUnstorable(await ask().catch((e: unknown) => e)),
  ]);
  expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(
    Object.fromEntries(Object.keys(refused).map((what) => [what, true])),
  );
});
