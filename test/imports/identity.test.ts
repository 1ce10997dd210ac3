import { expect, test } from "vitest";
import { changeDirectory } from "../../src/access/index.ts";
import { joinSchool, movePerson, setHomeSchool, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fingerprint, makeImporter, origin, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { run, preview, faults } = makeImporter(db);
const header = "id;role;first_name;last_name;classes;status\n";
const filler = [1, 2, 3, 4].map((n) => `f${n};student;Fill;Er;5x;\n`).join("");

type School = { id: SchoolId; officialId: string };
let schools = 0;
async function makeSchool(): Promise<School> {
  const officialId = `DE-ID-${++schools}`;
  return { id: await make.school({ officialId }), officialId };
}
const plain = (school: School, rows: string, mode: "BULK" | "DELTA" = "BULK") =>
  run(header + rows, { school: school.id, mode });

type Pupil = { id: string; name: string; at: School[]; role?: string; isDeleted?: boolean };
/** A district's roster: OneRoster 1.1 of all these schools. */
const district = (of: School[], pupils: Pupil[], mode: "bulk" | "delta" = "bulk") =>
  zip({
    "manifest.csv": `propertyName,value\noneroster.version,1.1\n${["orgs", "users", "classes", "enrollments"].map((file) => `file.${file},${mode}\n`).join("")}`,
    "orgs.csv": `sourcedId,type,identifier\n${of.map(({ officialId }) => `${officialId},school,${officialId}\n`).join("")}`,
    "users.csv": `sourcedId,status,orgSourcedIds,role,givenName,familyName\n${pupils
      .map(
        ({ id, name, at, role = "student", isDeleted }) =>
          `${id},${isDeleted ? "tobedeleted" : ""},"${at.map(({ officialId }) => officialId).join(",")}",${role},${name},Test\n`,
      )
      .join("")}`,
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
  });
const fillersOf = (...of: School[]): Pupil[] =>
  of.flatMap((at) => [1, 2, 3, 4].map((n) => ({ id: `${at.officialId}-f${n}`, name: "Fill", at: [at] })));

type Found = { id: PersonId; home: string; status: string; sourceId: string | null; name: string; at: string[] };
async function find(where: string, values: unknown[]): Promise<Found[]> {
  const { rows } = await db.pool.query<Found>(
    `SELECT p.id, h.official_id AS home, p.status::text, p.source_system_identifier AS "sourceId", p.first_full AS name,
       ARRAY(SELECT s.official_id FROM affiliation a JOIN school s ON s.id = a.school_id WHERE a.person_id = p.id ORDER BY s.official_id) AS at
     FROM person p JOIN school h ON h.id = p.home_school_id WHERE ${where} ORDER BY p.id`,
    values,
  );
  return rows;
}
const personAt = async ({ id }: School, sourceId: string): Promise<Found> =>
  (await find("p.home_school_id = $1 AND p.source_system_identifier = $2", [id, sourceId]))[0]!;
const personOf = async (id: PersonId): Promise<Found> => (await find("p.id = $1", [id]))[0]!;
/** Where a person is: at home and, with the same status, at another school. */
const placed = (home: School, status: string, other?: School) => ({
  home: home.officialId,
  status,
  at: [home, ...(other ? [other] : [])].map(({ officialId }) => officialId).toSorted(),
});
const join = (personId: PersonId, school: School) =>
  changeDirectory(db, origin, (change) => joinSchool(change, { personId, schoolId: school.id }));

test("a whole roster that misses a teacher who is at another school too ends only their time there; they keep id and sign-in", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, `7;teacher;Tom;Test;5x;\n8;teacher;Ann;Test;5x;\n${filler}`);
  const [tom, ann] = [await personAt(a, "7"), await personAt(a, "8")];
  await join(tom.id, b);
  await db.prisma.credential.update({ where: { personId: tom.id }, data: { passwordHash: "$argon2id$test" } });
  const app = await make.app();
  for (const { id } of [a, b]) await make.grant({ app: app.clientId, school: id });
  const { schools: parts } = await plain(a, filler);
  expect(parts[0]!.counts.people).toMatchObject({ removed: 1, leftHome: 1 });
  expect(await personOf(tom.id)).toMatchObject(placed(b, "ACTIVE"));
  expect(await db.prisma.credential.count({ where: { personId: tom.id } })).toBe(1);
  expect(await db.prisma.membership.count({ where: { personId: tom.id } })).toBe(0);
  // Who is at no school left keeps schools and groups for their return.
  expect(await personOf(ann.id)).toMatchObject({ ...placed(a, "SOFT_DELETED"), sourceId: "8" });
  expect(await db.prisma.membership.count({ where: { personId: ann.id } })).toBe(1);
  // The number was one of the school that they left: the other school's roster does not speak of them, and its 7 is
  // somebody else.
  await plain(b, `7;student;Other;Test;5x;\n${filler}`);
  expect(await personOf(tom.id)).toMatchObject({ home: b.officialId, status: "ACTIVE", name: "Tom" });
  await plain(b, filler);
  expect(await personOf(tom.id)).toMatchObject({ home: b.officialId, status: "ACTIVE" });
});

test("of a district's roster that misses somebody, the schools that it speaks of are left, and one that it does not speak of becomes home", async () => {
  const [a, b, c] = [await makeSchool(), await makeSchool(), await makeSchool()];
  const others = fillersOf(a, b);
  const pupils = [
    { id: "tom", name: "Tom", at: [a, b] },
    { id: "eva", name: "Eva", at: [b, a] },
  ];
  await run(await district([a, b], [...pupils, ...others]));
  const [tom, eva] = [await personAt(a, "tom"), await personAt(b, "eva")];
  await join(tom.id, c);
  await run(await district([a, b], others));
  expect(await personOf(tom.id)).toMatchObject({ ...placed(c, "ACTIVE"), sourceId: "tom" });
  expect(await personOf(eva.id)).toMatchObject(placed(b, "SOFT_DELETED", a));
});

test("a delta that deletes somebody who is at another school too ends their time at the school that it is of", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, `7;teacher;Tom;Test;5x;\n${filler}`);
  const tom = await personAt(a, "7");
  await join(tom.id, b);
  await plain(a, "7;teacher;Tom;Test;;deleted\n", "DELTA");
  expect(await personOf(tom.id)).toMatchObject(placed(b, "ACTIVE"));
});

test("a whole roster that would send more than a third of a school away to their other schools is held", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, filler);
  for (const n of [1, 2]) await join((await personAt(a, `f${n}`)).id, b);
  const held = await preview(`${header}f3;student;Fill;Er;5x;\nf4;student;Fill;Er;5x;\n`, { school: a.id });
  expect(held).toMatchObject({ state: "HELD", schools: [{ counts: { people: { removed: 0, leftHome: 2 } } }] });
});

test("within a district's rosters an id is one child, who is written once and keeps our id in every school they move to", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  const others = fillersOf(a, b);
  await db.pool.query(`
    CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'a new person was written again'; END $$;
    CREATE TRIGGER refuse_update BEFORE UPDATE ON person FOR EACH ROW EXECUTE FUNCTION refuse_update()`);
  try {
    await run(await district([a, b], [{ id: "9", name: "Lea", at: [a] }, ...others]));
  } finally {
    await db.pool.query("DROP FUNCTION refuse_update CASCADE");
  }
  const lea = await personAt(a, "9");
  await run(await district([a, b], [{ id: "9", name: "Lea", at: [b] }, ...others]));
  expect(await personOf(lea.id)).toMatchObject({ ...placed(b, "ACTIVE"), name: "Lea", sourceId: "9" });
  await run(await district([a, b], [{ id: "9", name: "Lea", at: [a] }], "delta"));
  expect(await personOf(lea.id)).toMatchObject({ home: a.officialId, at: [a.officialId] });
  const found = await find("p.source_system_identifier = '9' AND p.home_school_id = ANY ($1)", [[a.id, b.id]]);
  expect(found).toHaveLength(1);
});

test("an id of a school's own roster is a child of that school alone, also where a roster of several schools has it", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, `42;student;Lea;Test;5x;\n43;student;Lia;Test;5x;\n${filler}`);
  await plain(b, `43;student;Tim;Test;5x;\n${filler}`);
  const [lea, lia, tim] = [await personAt(a, "42"), await personAt(a, "43"), await personAt(b, "43")];
  expect(lia.id).not.toBe(tim.id);
  const pupils = [
    { id: "42", name: "Tom", at: [b] },
    { id: "43", name: "Tim", at: [b] },
    ...[1, 2, 3, 4].map((n) => ({ id: `f${n}`, name: "Fill", at: [a] })),
  ];
  await run(await district([a, b], pupils));
  for (const { id } of [lea, lia])
    expect(await personOf(id)).toMatchObject({ home: a.officialId, status: "SOFT_DELETED" });
  expect(await personOf(tim.id)).toMatchObject({ name: "Tim", status: "ACTIVE", home: b.officialId });
  expect(await personAt(b, "42")).toMatchObject({ name: "Tom", status: "ACTIVE", at: [b.officialId] });
});

test("an id that could be either of two children is a fault with its place, and neither of them changes", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  const others = fillersOf(a, b);
  await run(await district([a, b], [{ id: "42", name: "Lea", at: [a] }, ...others]));
  await plain(b, "42;student;Tom;Test;;\n", "DELTA");
  const before = await fingerprint(db);
  expect(await faults(await district([a, b], [...others, { id: "42", name: "Lea", at: [b] }]))).toEqual([
    "users.csv:10:1 sourcedId id_ambiguous",
  ]);
  expect(await fingerprint(db)).toBe(before);
});

test("a delta's enrolment of an id that a guest has from their own school's roster is not taken for the guest", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, `42;student;Lea;Test;5x;\n${filler}`);
  const lea = await personAt(a, "42");
  await join(lea.id, b);
  const archive = await zip({
    "manifest.csv": "propertyName,value\nfile.enrollments,delta\nfile.classes,delta\nfile.users,delta\n",
    "orgs.csv": `sourcedId,type,identifier\nb,school,${b.officialId}\n`,
    "users.csv": "sourcedId,orgSourcedIds,role,givenName,familyName\n",
    "classes.csv": "sourcedId,title,classType,schoolSourcedId\nc,5a,homeroom,b\n",
    "enrollments.csv": "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\ne,c,b,42,student\n",
  });
  expect(await faults(archive)).toEqual(["enrollments.csv:2:4 userSourcedId unknown_person"]);
});

test("a school's own id stays behind when somebody is moved by hand, so the next school's roster cannot take them for somebody else", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  await plain(a, `7;student;Tom;Test;5x;\n8;student;Eva;Test;5x;\n${filler}`);
  await plain(b, `7;student;Other;Test;5x;\n${filler}`);
  const [tom, eva, other] = [await personAt(a, "7"), await personAt(a, "8"), await personAt(b, "7")];
  await changeDirectory(db, origin, (change) => movePerson(change, { personId: tom.id, to: b.id }));
  await join(eva.id, b);
  await changeDirectory(db, origin, (change) => setHomeSchool(change, { personId: eva.id, schoolId: b.id }));
  await plain(b, `7;student;Other;Test;5x;\n8;student;Third;Test;5x;\n${filler}`);
  expect(await personOf(tom.id)).toMatchObject({ name: "Tom", status: "ACTIVE", home: b.officialId, sourceId: null });
  expect(await personOf(eva.id)).toMatchObject({ name: "Eva", status: "ACTIVE", home: b.officialId, sourceId: null });
  expect((await personOf(other.id)).name).toBe("Other");
});

test("an id that a district's rosters know goes along when somebody is moved by hand, unless it is taken there", async () => {
  const [a, b] = [await makeSchool(), await makeSchool()];
  const others = fillersOf(a, b);
  const pupils = [
    { id: "7", name: "Tom", at: [a] },
    { id: "8", name: "Eva", at: [a] },
  ];
  await run(await district([a, b], [...pupils, ...others]));
  await plain(b, "8;student;Other;Test;;\n", "DELTA");
  const [tom, eva] = [await personAt(a, "7"), await personAt(a, "8")];
  for (const { id } of [tom, eva])
    await changeDirectory(db, origin, (change) => movePerson(change, { personId: id, to: b.id }));
  expect(await personOf(tom.id)).toMatchObject({ home: b.officialId, sourceId: "7" });
  expect(await personOf(eva.id)).toMatchObject({ home: b.officialId, sourceId: null });
});

test("whatever a guest school's roster says of an id, it leaves what the home school keeps as it is", async () => {
  const [home, guest] = [await makeSchool(), await makeSchool()];
  const ids = ["absent", "deleted", "renamed", "named"];
  await plain(home, ids.map((id) => `${id};teacher;Tom;Test;5x;\n`).join("") + filler);
  const people = await Promise.all(ids.map((id) => personAt(home, id)));
  for (const { id } of people) await join(id, guest);
  const where = { id: { in: people.map(({ id }) => id) } };
  const include = { affiliations: { include: { memberships: true } }, credential: true };
  const read = () => db.prisma.person.findMany({ where, include, orderBy: { id: "asc" } });
  const before = await read();
  await plain(guest, filler);
  expect(await read()).toEqual(before);
  await plain(guest, "deleted;teacher;Tom;Test;;deleted\nrenamed;student;Other;Name;5y;\n", "DELTA");
  expect(await read()).toEqual(before);
  await plain(guest, `named;student;Other;Name;5y;\n${filler}`);
  expect(await read()).toEqual(before);
});
