import { beforeAll, describe, expect, test } from "vitest";
import { demoApp, getReader, idm, schulconnex, startDemo, type Reader } from "../support/api.ts";

// The table of demo/README.md, row by row: what each of two apps gets.
const school = (n: number) => `a0000000-0000-4000-8000-00000000000${String(n)}`;
const group = (n: number) => `b0000000-0000-4000-8000-00000000000${String(n)}`;
const person = (n: number) => `c0000000-0000-4000-8000-00000000000${String(n)}`;

const readers: Record<string, Reader> = {};
beforeAll(async () => {
  const service = await startDemo();
  for (const clientId of ["demo-lernapp", "demo-mathe"])
    readers[clientId] = await getReader(service, demoApp(clientId));
});

type Item = Record<string, unknown> & { id: string };
const idsOf = (body: unknown) => (body as Item[]).map(({ id }) => id).toSorted();
const pidsOf = (body: unknown) => (body as { pid: string }[]).map(({ pid }) => pid).toSorted();

const lists: [path: string, app: string, ids: string[]][] = [
  ["/schools", "demo-lernapp", [1, 4].map(school)],
  ["/schools", "demo-mathe", [3].map(school)],
  [`/schools/${school(1)}/users`, "demo-lernapp", [1, 2, 3, 4, 6, 7].map(person)],
  [`/schools/${school(1)}/groups`, "demo-lernapp", [1, 2].map(group)],
  [`/schools/${school(1)}/groups?show-deleted=true`, "demo-lernapp", [1, 2, 4].map(group)],
  [`/schools/${school(1)}/people`, "demo-lernapp", [1, 2, 3, 7].map(person)],
  [`/schools/${school(1)}/people?show-deleted=true`, "demo-lernapp", [1, 2, 3, 5, 7].map(person)],
  [`/schools/${school(4)}/people`, "demo-lernapp", []],
];

test.each(lists)("GET %s shows %s %j", async (path, app, ids) => {
  const { status, body } = await readers[app]!(idm + path);
  expect(status).toBe(200);
  expect(idsOf(body)).toEqual(ids);
});

const both = ["demo-lernapp", "demo-mathe"];
const hidden: [path: string, apps: string[], message: string][] = [
  [`/schools/${school(2)}`, both, "School not found for this app"],
  [`/schools/${school(1)}/users`, ["demo-mathe"], "Organization not found"],
  [`/schools/${school(1)}/groups`, ["demo-mathe"], "Organization not found"],
  [`/schools/${school(1)}/people`, ["demo-mathe"], "Organization not found"],
  [`/schools/${school(4)}/people`, ["demo-mathe"], "Organization not found"],
  [`/groups/${group(1)}`, ["demo-mathe"], "Group not found"],
  [`/groups/${group(3)}`, both, "Group not found"],
  [`/groups/${group(4)}`, both, "Group not found"],
  [`/people/${person(4)}`, both, "User not found"],
  [`/people/${person(5)}`, both, "User not found"],
  [`/users/${person(5)}`, ["demo-mathe"], "User not found"],
  [`/users/${person(8)}`, ["demo-mathe"], "User not found"],
  [`/users/${person(9)}`, ["demo-lernapp"], "User not found"],
];

describe.each(hidden)("GET %s", (path, apps, message) => {
  test.each(apps)(`is hidden from %s: ${message}`, async (app) => {
    expect(await readers[app]!(idm + path)).toMatchObject({ status: 404, body: { status: 404, message } });
  });
});

test("a group shows its members with their roles, one of them without a name", async () => {
  const { body } = await readers["demo-lernapp"]!(`${idm}/groups/${group(1)}`);
  expect(body).toEqual({
    id: group(1),
    name: "Klasse 5a",
    members: [
      { id: person(1), role: "TEACHER", name: { firstFull: "Ada Marie", firstCall: "Ada", last: "Beispiel" } },
      { id: person(2), role: "STUDENT", name: { firstFull: "Bo Emil", firstCall: "Bo", last: "Muster" } },
      { id: person(3), role: "STUDENT", name: null },
    ],
  });
});

test("who signed in once stays a user, soft-deleted or at a school that does not sync", async () => {
  expect(await readers["demo-lernapp"]!(`${idm}/users/${person(5)}`)).toMatchObject({
    status: 200,
    body: { id: person(5), status: "SOFT_DELETED" },
  });
  expect(await readers["demo-lernapp"]!(`${idm}/users/${person(8)}`)).toMatchObject({
    status: 200,
    body: { id: person(8), status: "ACTIVE", groups: [] },
  });
});

test("a user of a school that syncs is there before their first sign-on", async () => {
  expect((await readers["demo-mathe"]!(`${idm}/users/${person(9)}`)).status).toBe(200);
});

test("the list of people carries status only with show-deleted", async () => {
  const people = (await readers["demo-lernapp"]!(`${idm}/schools/${school(1)}/people`)).body as Item[];
  const withDeleted = (await readers["demo-lernapp"]!(`${idm}/schools/${school(1)}/people?show-deleted=true`))
    .body as Item[];
  expect(people.every((item) => !("status" in item))).toBe(true);
  expect(withDeleted.map(({ id, status }) => [id, status])).toContainEqual([person(5), "SOFT_DELETED"]);
});

test("every group in a list carries its status, which some clients read to know what to remove", async () => {
  const list = async (query: string) =>
    ((await readers["demo-lernapp"]!(`${idm}/schools/${school(1)}/groups${query}`)).body as Item[])
      .map(({ id, status }) => [id, status])
      .sort();
  const active = [1, 2].map((n) => [group(n), "ACTIVE"]);
  expect(await list("")).toEqual(active);
  expect(await list("?limit=10")).toEqual(active);
  expect(await list("?show-deleted=true")).toEqual([...active, [group(4), "DELETED"]]);
});

test("personen-info shows the synced people, who is to be deleted with the date", async () => {
  const ofLernapp = (await readers["demo-lernapp"]!(`${schulconnex}/personen-info`)).body as {
    pid: string;
    personenkontexte: { loeschung: unknown }[];
  }[];
  expect(pidsOf(ofLernapp)).toEqual([1, 2, 3, 5, 7].map(person));
  expect(ofLernapp.filter(({ personenkontexte }) => personenkontexte[0]!.loeschung !== null)).toMatchObject([
    { pid: person(5), personenkontexte: [{ loeschung: { zeitpunkt: "2026-03-05T08:00Z" } }] },
  ]);
  expect(pidsOf((await readers["demo-mathe"]!(`${schulconnex}/personen-info`)).body)).toEqual([7, 9].map(person));
});

test("a person of two schools is shown each app through the school that syncs to it", async () => {
  const contextsFor = async (app: string) => {
    const [record] = (await readers[app]!(`${schulconnex}/personen-info?pid=${person(7)}`)).body as {
      person: { stammorganisation: { id: string } };
      personenkontexte: { organisation: { id: string } }[];
    }[];
    return [
      record!.person.stammorganisation.id,
      ...record!.personenkontexte.map(({ organisation }) => organisation.id),
    ];
  };
  expect(await contextsFor("demo-lernapp")).toEqual([school(1), school(1)]);
  expect(await contextsFor("demo-mathe")).toEqual([school(3), school(3)]);
});
