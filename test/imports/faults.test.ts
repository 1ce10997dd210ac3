import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { fingerprint, makeImporter, zip } from "./rosters.ts";

const db = await testDatabase();
const make = makeMakers(db);
const { faults, preview, apply, run } = makeImporter(db);
const school = await make.school({ officialId: "DE-XX-1" });
await make.school({ officialId: "DE-XX-2" });
await run("id;role;first_name;last_name;classes\n1;student;Ada;Muster;5a\n", { school });
const before = await fingerprint(db);

const plain = (content: string) => faults(content, { school });

test("a plain CSV file with faults of every kind lists each with its line and column", async () => {
  const content = [
    "id;role;first_name;last_name;classes;status",
    "1;student;Ada;Muster;5a;",
    ";student;No;Id;;",
    "2;wizard;Bo;Beispiel;;",
    '3;student;"Two\r\nlines";Öz;;gone',
    `4;student;${"x".repeat(201)};Long;;`,
    "5;student;;Last only;;",
    "6;student;Too;many;;;;more",
    "1;teacher;Twice;Muster;;",
    '7;student;"Da"na;Quote;;',
    `8;student;Ann;Group;${"g".repeat(201)};`,
    '9;student;Open;"Quote;;',
  ].join("\r\n");
  expect(await plain(content)).toEqual([
    "file:3:1 id value_missing",
    "file:4:2 role unknown_role",
    "file:5:3 first_name value_unreadable",
    "file:5:6 status unknown_status",
    "file:7:3 first_name value_too_long",
    "file:8:3 first_name value_missing",
    "file:9:- - field_count",
    "file:10:1 id id_twice",
    "file:11:3 - quote_misplaced",
    "file:12:5 classes value_too_long",
    "file:13:4 - quote_not_closed",
  ]);
});

test("headings are checked before anything else, and an empty file is a fault", async () => {
  expect(await plain("id,role,first_name,FIRST_NAME,last_name\n1,student,a,b,c\n")).toEqual([
    "file:1:4 FIRST_NAME column_twice",
  ]);
  expect(await plain("\n;;\n")).toEqual(["file:1:- - file_empty"]);
  expect(await plain('"id"|"role"\n')).toEqual(["file:1:1 - quote_misplaced"]);
  await expect(plain("")).rejects.toMatchObject({ code: "file_empty" });
});

const head = {
  orgs: "sourcedId,type,identifier\n",
  users: "sourcedId,status,orgSourcedIds,role,givenName,familyName\n",
  classes: "sourcedId,title,classType,schoolSourcedId,metadata.previousSourcedId\n",
  enrollments: "sourcedId,classSourcedId,schoolSourcedId,userSourcedId,role\n",
};

test("OneRoster files with faults of every kind list each with its file, line and column", async () => {
  const archive = await zip({
    "manifest.csv":
      "propertyName,value\noneroster.version,2.0\nfile.users,bulk\nfile.classes,sometimes\nfile.enrollments,delta\n",
    "orgs.csv": `${head.orgs}o1,school,DE-XX-1\no2,school,DE-XX-2\nd,district,\no3,school,DE-XX-404\n`,
    "users.csv": `${head.users}u1,,o1,student,Ada,Muster\nu2,,nowhere,student,Bo,Bei\nu3,gone,o1,wizard,,Last\nu1,,o1,student,Ada,Again\n`,
    "classes.csv": `${head.classes}c1,5a,homeroom,o1,c0\nc2,,club,o1,c0\nc3,6b,scheduled,d,\nc1,5a again,homeroom,o1,\n`,
    "enrollments.csv": `${head.enrollments}e1,c1,o1,u1,student\ne2,c404,o1,u1,student\ne3,c1,o1,u404,pupil\ne4,c1,o2,u1,student\n`,
  });
  expect(await faults(archive)).toEqual([
    "classes.csv:3:1 sourcedId carried_over_twice",
    "classes.csv:3:2 title value_missing",
    "classes.csv:4:4 schoolSourcedId org_is_no_school",
    "classes.csv:5:1 sourcedId id_twice",
    "enrollments.csv:3:2 classSourcedId unknown_group",
    "enrollments.csv:4:4 userSourcedId unknown_person",
    "enrollments.csv:4:5 role unknown_role",
    "enrollments.csv:5:2 classSourcedId group_of_other_school",
    "enrollments.csv:5:2 classSourcedId group_of_other_school",
    "enrollments.csv:5:4 userSourcedId person_not_at_school",
    "manifest.csv:2:2 value unknown_version",
    "manifest.csv:4:2 value unknown_mode",
    "manifest.csv:5:2 value mixed_modes",
    "orgs.csv:5:3 identifier unknown_school",
    "users.csv:3:3 orgSourcedIds unknown_org",
    "users.csv:4:2 status unknown_status",
    "users.csv:4:4 role unknown_role",
    "users.csv:4:5 givenName value_missing",
    "users.csv:5:1 sourcedId id_twice",
  ]);
});

test("OneRoster files that are missing, of another school or without a role are faults", async () => {
  const users12 = "sourcedId,givenName,familyName\nu1,Ada,Muster\nu2,Bo,Bei\n";
  const roles =
    "sourcedId,userSourcedId,roleType,role,orgSourcedId\nr1,u1,primary,student,o1\nr3,u3,primary,student,o1\n";
  const orgs = `${head.orgs}o1,school,DE-XX-1\no2,school,DE-XX-2\n`;
  expect(await faults(await zip({ "users.csv": users12, "roles.csv": roles, "orgs.csv": orgs }), { school })).toEqual([
    "classes.csv:1:- - file_missing",
    "enrollments.csv:1:- - file_missing",
    "orgs.csv:3:3 identifier other_school",
    "roles.csv:3:2 userSourcedId unknown_person",
    "users.csv:3:1 sourcedId role_missing",
  ]);
});

test("a Schulconnex record over several lines, at another school and with an unknown role, has these two faults", async () => {
  const record = { pid: "p1", personenkontexte: [{ organisation: { kennung: "DE-XX-2" }, rolle: "Zauberer" }] };
  expect(await faults(JSON.stringify([record], null, 1), { school })).toEqual([
    "file:7:17 personenkontexte.0.organisation.kennung other_school",
    "file:9:14 personenkontexte.0.rolle unknown_role",
  ]);
});

test("Schulconnex records with faults of every kind list each with the line and column of its place", async () => {
  const records = `[
  {"pid": "p1", "person": {"name": {"vorname": "Ada", "familienname": 7}},
   "personenkontexte": [{"organisation": {"kennung": "DE-XX-1", "typ": "Schule"}, "rolle": "Zauberer",
     "gruppen": [{"gruppe": {"id": "g1", "bezeichnung": "5a", "typ": "Klasse"}, "gruppenzugehoerigkeit": {"rollen": ["Lern", "Chef"]}}]}]},
  {"pid": "", "personenkontexte": [{"organisation": {"kennung": "DE-XX-404"}, "rolle": "LERN", "gruppen": {}}]},
  {"pid": "p3", "personenkontexte": [{"organisation": {"kennung": "DE-XX-1"}, "rolle": "LERN",
     "gruppen": [{"gruppe": {"id": "g1", "bezeichnung": "5b", "typ": "Bande"}}]}]},
  {"pid": "p3", "personenkontexte": [{"organisation": {"kennung": "DE-XX-1"}, "rolle": "LERN"}]},
  {"pid": "p4", "personenkontexte": [{"organisation" {}}]},
  "p5",
  {"pid": "p6", "personenkontexte": [{"organisation": {"kennung": "DE-XX-1"}, "rolle": "LERN", "loeschung": false}]}
]`;
  expect(await faults(records)).toEqual([
    "file:2:71 person.name.familienname value_unreadable",
    "file:3:92 personenkontexte.0.rolle unknown_role",
    "file:4:126 personenkontexte.0.gruppen.0.gruppenzugehoerigkeit.rollen.1 unknown_role",
    "file:5:11 pid value_missing",
    "file:5:65 personenkontexte.0.organisation.kennung unknown_school",
    "file:5:107 personenkontexte.0.gruppen value_unreadable",
    "file:7:36 personenkontexte.0.gruppen.0.gruppe.id group_contradiction",
    "file:7:70 personenkontexte.0.gruppen.0.gruppe.typ unknown_group_type",
    "file:8:3 pid id_twice",
    "file:9:54 - json_broken",
    "file:10:3 - json_broken",
    "file:11:109 personenkontexte.0.loeschung value_unreadable",
  ]);
});

test("a file that is no array, or ends too early, says where", async () => {
  expect(await faults('{"pid": "p1"}')).toEqual(["file:1:1 - not_an_array"]);
  expect(await faults('[{"pid": "p1", "personenkontexte": []},\n {"pid": ')).toEqual(["file:2:9 - json_broken"]);
  expect(await faults("[1 2]")).toEqual(["file:1:4 - json_broken"]);
});

test("a broken file cannot be applied, and nothing of all this has changed anything", async () => {
  const broken = await preview("id;role;first_name;last_name\n1;student;Ada;Changed\n2;wizard;Bo;Bei\n", { school });
  expect(broken).toMatchObject({ state: "BROKEN", errorCount: 1, schools: [] });
  await expect(apply(broken.id)).rejects.toMatchObject({ code: "import_broken" });
  expect(await fingerprint(db)).toBe(before);
  expect(await db.prisma.stagedPerson.findMany()).toMatchObject([{ importId: broken.id, line: 2 }]);
});
