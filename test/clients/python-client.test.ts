import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import demo from "../../demo/demo.json" with { type: "json" };
import { loadDemoWorld } from "../../demo/load.ts";
import { bundleFolder, operationsOf, readDocument } from "../../openapi/tools/document.ts";
import type { ClientId } from "../../src/access/index.ts";
import { setCredential } from "../../src/sign-on/index.ts";
import { testDatabase } from "../support/database.ts";
import { makeTestClock, startService } from "../support/service.ts";
import { getUserTokens, type TestApp } from "../support/token.ts";
import { runPython } from "./python.ts";

type Entry = { id: string; name: unknown; status?: string; role?: string };
type Seen = Record<
  | "listSchools"
  | "listSchoolUsers"
  | "listSchoolGroups"
  | "listSchoolGroupsWithDeleted"
  | "listSchoolPeople"
  | "listSchoolPeopleWithDeleted",
  Entry[]
> & {
  token: { type: string; expiresIn: number; scope: string };
  getSchool: Entry;
  getUser: Entry;
  getGroup: { members: Entry[] };
  getPerson: Entry;
  listPersonenInfo: { pid: string; personenkontexte: { loeschung: { zeitpunkt: string } | null }[] }[];
  getPersonInfo: { pid: string; person: { name: unknown } };
  listChanges: { changes: Entry[]; next: string; more: boolean };
  hiddenPerson: string;
};

const school = (n: number) => `a0000000-0000-4000-8000-00000000000${n}`;
const group = (n: number) => `b0000000-0000-4000-8000-00000000000${n}`;
const person = (n: number) => `c0000000-0000-4000-8000-00000000000${n}`;
const ids = (entries: { id: string }[]) => entries.map(({ id }) => id).toSorted();
const people = (...numbers: number[]) => numbers.map(person);

let seen: Seen;

beforeAll(async () => {
  const db = await testDatabase();
  const clock = makeTestClock();
  await loadDemoWorld(db, { now: clock(), production: false, restoreWindowDays: 30, setCredential });
  const { url } = await startService({ db, clock });
  const { clientSecret, redirectUris } = demo.apps.find(({ clientId }) => clientId === "demo-lernapp")!;
  const app: TestApp = { clientId: "demo-lernapp" as ClientId, clientSecret, redirectUri: redirectUris[0]! };
  const pupil = { username: "student.goethe", password: "demo-student-goethe" };
  const { access_token: userToken } = await getUserTokens({ url }, app, pupil, { scopes: ["openid", "people:read"] });
  const asked = [url, app.clientId, clientSecret!, school(1), group(1), person(3), person(5), person(4), userToken];
  seen = JSON.parse(await runPython([join(import.meta.dirname, "read_everything.py"), ...asked])) as Seen;
});

test("gets a token with its credentials", () => {
  expect(seen.token.type).toBe("bearer");
  expect(seen.token.expiresIn).toBe(3600);
  expect(seen.token.scope.split(" ")).toHaveLength(4);
});

test("reads the schools that sync to the app", () => {
  expect(ids(seen.listSchools)).toEqual([school(1), school(4)]);
  expect(seen.getSchool).toMatchObject({
    id: school(1),
    name: "Goethe-Gymnasium Musterstadt",
    address: { addressAddition: null },
  });
});

test("reads the users of a school, and one who is soft-deleted", () => {
  expect(ids(seen.listSchoolUsers)).toEqual(people(1, 2, 3, 4, 6, 7));
  expect(seen.getUser).toMatchObject({ id: person(5), status: "SOFT_DELETED" });
});

test("reads the groups of a school, the deleted ones when asked, and the members of one", () => {
  expect(ids(seen.listSchoolGroups)).toEqual([group(1), group(2)]);
  expect(ids(seen.listSchoolGroupsWithDeleted)).toEqual([group(1), group(2), group(4)]);
  expect(ids(seen.getGroup.members)).toEqual(people(1, 2, 3));
  expect(seen.getGroup.members.find(({ id }) => id === person(3))?.name).toBeNull();
});

test("reads the people of a school, the soft-deleted ones when asked, and one without a name", () => {
  expect(ids(seen.listSchoolPeople)).toEqual(people(1, 2, 3, 7));
  expect(ids(seen.listSchoolPeopleWithDeleted)).toEqual(people(1, 2, 3, 5, 7));
  expect(seen.getPerson).toMatchObject({ id: person(3), name: null });
});

test("reads the Schulconnex records, with the planned deletion of one", () => {
  expect(seen.listPersonenInfo.map(({ pid }) => pid).toSorted()).toEqual(people(1, 2, 3, 5, 7));
  const deleted = seen.listPersonenInfo.filter(({ personenkontexte }) => personenkontexte[0]?.loeschung);
  expect(deleted.map(({ pid }) => pid)).toEqual(people(5));
});

test("reads the record of the person who signed in", () => {
  expect(seen.getPersonInfo).toMatchObject({
    pid: person(2),
    person: { name: { vorname: "Bo Emil", familienname: "Muster" } },
  });
});

test("takes the place in the change feed from which to go on", () => {
  expect(seen.listChanges).toMatchObject({ changes: [], more: false, next: expect.any(String) as string });
});

test("leaves no read of the contract out", () => {
  const documents = ["idm", "schulconnex"].map((name) => readDocument(join(bundleFolder, `${name}.yaml`)));
  const operations = documents.flatMap((document) =>
    Object.keys(document.paths).flatMap((path) => Object.values(operationsOf(document, path))),
  );
  const offered = operations.filter(({ responses }) => "200" in responses).map(({ operationId }) => operationId);
  expect(offered).toHaveLength(11);
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(offered));
});

test("meets a typed refusal for a person in no synced group", () => {
  expect(seen.hiddenPerson).toBe("User not found");
});
