// @module-tag slow
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPdf } from "../support/read-cards.ts";
import { makeTestClock } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";
import { makeRemoteWorld } from "./remote-world.ts";

// The command line beside the database has the clock of the system, and sees no sessions that have ended by it.
const world = await makeRemoteWorld({ clock: makeTestClock(new Date()) });
const { app, service, folder, local, remote, here, there, make, expectSameReading, expectSameDoing } = world;
const school = await make.school({ officialId: "DE-NI-9", name: "Deichschule" });
const group = await make.group({ school, name: "5a" });
const lernapp = await make.app({ name: "Lernapp", scopes: ["openid", "offline_access", "profile"] });
await make.grant({ app: lernapp.clientId, school, groups: [group] });

test("login cards of a class are printed to a file that is not overwritten, listed and revoked", async () => {
  const school = await make.school({ officialId: "DE-NI-10" });
  const group = await make.group({ school, name: "5a" });
  const lists = { grades: [], networks: [], weekdays: [] };
  const rules = { enabled: true, secondStep: "NONE", printSecondStep: false, updatedAt: service.clock() } as const;
  await service.db.prisma.cardSettings.create({ data: { schoolId: school, ...rules, ...lists } });
  for (const pupil of [1, 2].map(() => make.person({ school, groups: [group] })))
    await giveLogin(service.db, await pupil);
  const file = join(folder, "cards.pdf");
  const printed = await remote.ask<{ cards: number }>("card", "print", "DE-NI-10/5a", "--file", file);
  expect(printed).toEqual({ file, cards: 2, skipped: [] });
  expect((await readFile(file)).subarray(0, 5).toString()).toBe("%PDF-");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expectSameReading("card", "list", "--school", school);
  await expectSameReading("card", "list", "--school", school, "--limit", "1");
  const { cards } = await local.ask<{ cards: { personId: string }[] }>("card", "list", "--school", school);
  expect(await there(["card", "print", group, "--file", file])).toMatchObject({
    code: 1,
    err: `The file '${file}' exists already. Nothing was written.\n`,
  });
  expect((await local.ask<{ cards: object[] }>("card", "list", "--school", school)).cards).toHaveLength(2);
  const [first, second] = cards.map(({ personId }) => personId);
  const one = ["card", "replace", first!, "--school", "DE-NI-10", "--file", join(folder, "one.pdf")];
  expect(await there(one)).toMatchObject({ code: 0 });
  const cardsOf = async (person: string) =>
    (await local.ask<{ cards: { revokedAt: string | null }[] }>("card", "list", "--school", school, "--person", person))
      .cards;
  expect((await cardsOf(first!)).map(({ revokedAt }) => revokedAt !== null).toSorted()).toEqual([false, true]);
  expect((await cardsOf(second!)).map(({ revokedAt }) => revokedAt !== null)).toEqual([false]);
  const none = ["card", "print", group, "--file", join(folder, "none.pdf"), "--no-qr"];
  expect(await there([...none, "--new-passwords"])).toMatchObject({ code: 0 });
  const revoke = (person: string) => ["card", "revoke", "--school", school, "--person", person];
  await expectSameDoing(revoke(cards[0]!.personId), revoke(cards[1]!.personId));
  await expectSameDoing(["card", "revoke", "--school", school, "--everybody"]);
  expect(await there(["card", "revoke", "--school", school, "--yes"])).toMatchObject({ code: 2 });
});

test("a school is written to a file that is not overwritten, here and remotely the same", async () => {
  const school = await make.school({ officialId: "DE-NI-11" });
  await make.person({ school, sourceSystemIdentifier: "4711", groups: [await make.group({ school, name: "5a" })] });
  const write = async (by: typeof local, name: string) => {
    const file = join(folder, name);
    expect(await by.ask("school", "export", "DE-NI-11", "--format", "csv", "--file", file)).toEqual({ file });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    return readFile(file, "utf8");
  };
  const text = await write(remote, "school-remote.csv");
  expect(text).toMatch(/^\ufeffid;role;.*\n4711;student;/);
  expect(await write(local, "school-local.csv")).toBe(text);
  const again = ["school", "export", "DE-NI-11", "--format", "csv", "--file", join(folder, "school-local.csv")];
  expect(await there(again)).toMatchObject({ code: 1, err: expect.stringContaining("exists already") });
  expect(await there(["school", "export", "DE-NI-11", "--file", "x"])).toMatchObject({ code: 2 });
});

test("passwords of a class are prepared by a job, and written to a file once", async () => {
  const person = await make.person({ school, groups: [await make.group({ school, name: "6b" })] });
  const prepare = ["card", "prepare", "DE-NI-9", "--group", "DE-NI-9/6b"];
  expect(await there(prepare)).toMatchObject({ code: 2 });
  const { id, people } = await remote.ask<{ id: string; people: number }>(...prepare, "--new-passwords");
  expect(people).toBe(1);
  await service.runJob("accounts.prepareCredentials");
  const { batches } = await remote.ask<{ batches: object[] }>("card", "prepared", "DE-NI-9");
  expect(batches).toContainEqual(expect.objectContaining({ id, state: "READY", prepared: 1 }));
  const file = join(folder, "passwords.csv");
  const fetching = ["card", "fetch", "DE-NI-9", id, "--format", "csv", "--file"];
  expect(await remote.ask(...fetching, file)).toEqual({ file });
  const { username } = await service.db.prisma.credential.findUniqueOrThrow({ where: { personId: person } });
  expect(await readFile(file, "utf8")).toContain(username);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await there([...fetching, join(folder, "again.csv")]);
  expect([again.code, again.err]).toEqual([3, expect.stringContaining("was fetched before")]);
});

test("the letter to parents is printed, changed from a file, and put above the cards of a class", async () => {
  const person = await make.person({ school, groups: [await make.group({ school, name: "6c" })] });
  const letter = ["school", "letter", "DE-NI-9"];
  const setting = ["school", "set-letter", "DE-NI-9"];
  const file = join(folder, "letter.txt");
  expect((await there(letter)).out).toMatch(/^Dear parents,\n[^]*\{username\}/);
  expect(await there(setting)).toMatchObject({ code: 2 });
  expect(await there([...setting, "--file", file])).toMatchObject({ code: 1 });
  await writeFile(file, "Hello,\n\n{name} is {username} here, or {nobody}.\n");
  expect(await there([...setting, "--file", file])).toMatchObject({
    code: 3,
    err: expect.stringContaining("{nobody}"),
  });
  await writeFile(file, Buffer.from("Grüße", "latin1"));
  expect(await there([...setting, "--file", file])).toMatchObject({ code: 1, err: expect.stringContaining("utf-8") });
  await writeFile(file, "Hello,\n\n{name} is {username} here.\n");
  expect(await there([...setting, "--file", file])).toMatchObject({ code: 0 });
  expect((await there(letter)).out).toBe("Hello,\n\n{name} is {username} here.\n");

  const { id } = await remote.ask<{ id: string }>("card", "prepare", "DE-NI-9", "--group", "DE-NI-9/6c", "--letters");
  await service.runJob("accounts.prepareCredentials");
  const pdf = join(folder, "letters.pdf");
  expect(await remote.ask("card", "fetch", "DE-NI-9", id, "--file", pdf)).toEqual({ file: pdf });
  const { username } = await service.db.prisma.credential.findUniqueOrThrow({ where: { personId: person } });
  expect(readPdf(await readFile(pdf)).pages.join()).toContain(`is ${username} here.`);
  await expectSameDoing([...setting, "--default"]);
  expect((await there(letter)).out).toContain("Dear parents,");
});

test("what only a running service answers: its health, what an app sees, and why somebody cannot sign in", async () => {
  const person = await make.person({ school, groups: [group] });
  await giveLogin(service.db, person);
  expect(await remote.ask("health")).toMatchObject({ isWell: true, heldImports: 0 });
  expect((await there(["health"])).out).toMatch(/^service +healthy$/m);
  const view = ["app", "view", lernapp.clientId, "DE-NI-9"];
  expect(await remote.ask(...view, "users")).toMatchObject({ status: 403 });
  expect((await there(["app", "view", app.clientId, school, "school"])).out).toMatch(/^status +403$/m);
  expect(await there([...view, "nothing"])).toMatchObject({ code: 2 });
  const explain = ["person", "explain", person, lernapp.clientId];
  expect(await remote.ask(...explain)).toMatchObject({ isAllowed: true, reason: "none" });
  await remote.ask("person", "block", person);
  const out = expect.stringContaining("The person cannot sign in: person_blocked") as string;
  expect(await there(explain)).toMatchObject({ code: 1, out });
  const file = join(folder, "data.json");
  await remote.ask("person", "data", person, "--file", file);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ isComplete: true, person: { id: person } });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const data = ["person", "data", person, "--file", file];
  expect(await there(data)).toMatchObject({ code: 1 });
  for (const args of [["health"], [...view, "users"], explain, data, ["card", "print", group, "--file", "x"]])
    expect(await local.refusal(...args)).toMatchObject({ exitCode: 3, code: "remote_only" });
});

test("a sandbox is made, played and deleted", async () => {
  type Made = { sandbox: { id: string }; accounts: { kind: string; username: string; password: string }[] };
  const { clientId } = await make.app({ name: "Lernapp" });
  const { sandbox, accounts } = await local.ask<Made>("sandbox", "create", "--app", clientId);
  expect(accounts.map(({ kind }) => kind)).toContain("UMLAUTS");
  for (const { username, password } of accounts) expect(username.length * password.length).toBeGreaterThan(0);
  await expectSameReading("sandbox", "show", sandbox.id);
  await expectSameReading("sandbox", "list", "--app", clientId);
  type Played = { steps: { doneAt: string | null }[] };
  const { steps } = await remote.ask<Played>("sandbox", "play", sandbox.id, "--up-to", "leave");
  expect(steps.filter(({ doneAt }) => doneAt !== null)).toHaveLength(3);
  await remote.ask("sandbox", "delete", sandbox.id);
  await expectSameReading("sandbox", "show", sandbox.id);
  expect(await here(["sandbox", "create"])).toMatchObject({ code: 2 });
  expect(await there(["sandbox", "create", "--app", "none"])).toMatchObject({ code: 3 });
});
