import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";
import { makeOperator, runHere } from "./program.ts";

const db = await testDatabase();
const run = runHere({ DATABASE_URL: db.url });
const { ask, refusal } = makeOperator(run);

const address = ["--street", "Schulweg 1", "--zip", "21680", "--city", "Stade", "--state", "NI"];
const makeSchool = async (officialId: string) =>
  (await ask("school", "create", "--name", `Schule ${officialId}`, "--official-id", officialId, ...address)).id;
const [first, second] = [await makeSchool("DE-NI-1"), await makeSchool("DE-NI-2")];
const makeGroup = async (school: string, name: string) =>
  (await ask("group", "create", "--school", school, "--name", name)).id;
const [class5a, other5a, chess] = [
  await makeGroup("DE-NI-1", "5a"),
  await makeGroup("DE-NI-2", "5a"),
  await makeGroup("DE-NI-2", "Schach"),
];

test("an official id stands for a school, a user name for a person, a name for a group of the school", async () => {
  const name = ["--first-full", "Ada Marie", "--last", "Beispiel"];
  const { id } = await ask("person", "create", "--school", "DE-NI-1", "--role", "STUDENT", "--group", "5a", ...name);
  await ask("person", "set-login", id, "--username", "Ada.Beispiel");
  expect(await ask("person", "show", "ada.beispiel")).toMatchObject({
    id,
    homeSchoolId: first,
    groups: [{ id: class5a }],
  });
  expect(await ask("school", "show", "DE-NI-2")).toMatchObject({ id: second });
  await ask("person", "move", "ada.beispiel", "--to", "DE-NI-2");
  await ask("membership", "add", "Schach", "ada.beispiel");
  await ask("membership", "add", "DE-NI-2/5a", "ada.beispiel");
  const people = await ask<{ people: { id: string }[] }>("person", "list", "--school", "DE-NI-2", "--group", "5a");
  expect(people).toMatchObject({ people: [{ id, groups: [{ id: other5a }, { id: chess }] }] });
});

test("a name that stands for several groups is refused with the ids of all", async () => {
  expect(await refusal("group", "show", "5a")).toMatchObject({ exitCode: 3, code: "group_ambiguous" });
  const { error } = await refusal("group", "show", "5a");
  expect(error).toMatch(new RegExp(`${class5a} +DE-NI-1/5a[^]*${other5a} +DE-NI-2/5a`));
});

test("a deleted group gives way to an active one of its name, and is found where it is alone", async () => {
  const old = await makeGroup("DE-NI-1", "6b");
  await ask("group", "delete", "6b");
  expect(await ask("group", "show", "6b")).toMatchObject({ id: old, status: "DELETED" });
  const next = await makeGroup("DE-NI-1", "6b");
  expect(await ask("group", "show", "6b")).toMatchObject({ id: next });
});

test.each([
  [["school", "show", "DE-NI-9"], "school_not_found", "No school has the official id 'DE-NI-9'."],
  [["person", "show", "nobody"], "person_not_found", "Nobody has the user name 'nobody'."],
  [["group", "show", "9z"], "group_not_found", "No group is called '9z'."],
  [["webhook", "show", "no-app"], "webhook_endpoint_not_found", "'no-app' is neither the id of an endpoint"],
])("%j names nothing: the refusal says what was looked for", async (args, code, message) => {
  const refused = await refusal(...args);
  expect(refused).toMatchObject({ exitCode: 3, code });
  expect(refused.error).toContain(message);
});

test("the client id of an app stands for its endpoint while it has one", async () => {
  const { clientId } = await ask("app", "create", "--name", "Lernapp", "--client-id", "lernapp");
  const { id } = await ask("webhook", "add", clientId, "--url", "https://93.184.216.34/a");
  expect(await ask("webhook", "show", "lernapp")).toMatchObject({ id });
  await ask("webhook", "add", clientId, "--url", "https://93.184.216.34/b");
  expect(await refusal("webhook", "show", "lernapp")).toMatchObject({ code: "webhook_endpoint_ambiguous" });
});

test("people are found by parts of their names, logins and sync are shown, the audit log is listed", async () => {
  const name = ["--first-full", "Bo Emil", "--last", "Suchbar"];
  const person = await ask("person", "create", "--school", "DE-NI-1", "--role", "TEACHER", ...name);
  const found = await ask<{ people: { id: string }[] }>("person", "find", "bo such");
  expect(found.people).toMatchObject([{ id: person.id, homeSchool: { officialId: "DE-NI-1" } }]);
  expect(await ask("login", "show", person.id)).toMatchObject({ personId: person.id, hasPassword: false });
  await ask("person", "set-login", person.id, "--username", "bo");
  expect(await ask("login", "show", "bo")).toMatchObject({ personId: person.id, username: "bo", sessions: 0 });
  await ask("app", "create", "--name", "Leser", "--client-id", "leser");
  expect(await refusal("sync", "show", "leser", "DE-NI-1")).toMatchObject({ code: "grant_not_found" });
  await ask("sync", "groups", "leser", "DE-NI-1", "--add", "5a");
  expect(await ask("sync", "show", "leser", "DE-NI-1")).toMatchObject({
    sync: false,
    groups: [{ id: class5a, name: "5a" }],
  });
  const { lines } = await ask<{ lines: { action: string }[] }>("audit", "list", "--person", "bo");
  const changes = lines.filter(({ action }) => action !== "people_searched");
  expect(lines.length).toBeGreaterThan(changes.length);
  // Each command measures the database's clock itself, so the order of their times may differ.
  expect(changes.toSorted((a, b) => a.action.localeCompare(b.action))).toMatchObject([
    { action: "credential_set" },
    { action: "person_created", schoolId: first },
  ]);
  expect(await ask("audit", "list", "--action", "school_created", "--limit", "1")).toMatchObject({
    lines: [{ schoolId: second }],
  });
});

test("a part of a name is changed by itself, and --pkce takes --no-pkce back", async () => {
  const name = ["--first-full", "Cem Can", "--first-call", "Can", "--last", "Alt"];
  const { id } = await ask("person", "create", "--school", "DE-NI-1", "--role", "OTHER", ...name);
  await ask("person", "update", id, "--last", "Neu");
  expect(await ask("person", "show", id)).toMatchObject({
    name: { firstFull: "Cem Can", firstCall: "Can", last: "Neu" },
  });
  await ask("person", "update", id, "--first-full", "Deniz");
  expect(await ask("person", "show", id)).toMatchObject({
    name: { firstFull: "Deniz", firstCall: "Deniz", last: "Neu" },
  });
  const nameless = await ask("person", "create", "--school", "DE-NI-1", "--role", "OTHER");
  expect(await run(["person", "update", nameless.id, "--last", "Neu"])).toMatchObject({ code: 2 });

  await ask("app", "create", "--name", "Alt", "--client-id", "alt", "--no-pkce");
  expect(await ask("app", "show", "alt")).toMatchObject({ pkceRequired: false });
  await ask("app", "update", "alt", "--pkce");
  expect(await ask("app", "show", "alt")).toMatchObject({ pkceRequired: true });
});
