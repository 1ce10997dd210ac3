import { expect, test } from "vitest";
import { makeRemoteWorld } from "./remote-world.ts";

const { service, local, remote, expectSameReading, expectSameDoing, here, there, make } = await makeRemoteWorld({
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
});

const address = ["--street", "Weg 1", "--zip", "38100", "--city", "Musterstadt", "--state", "NI"];
const createSchool = (id: string) =>
  expectSameDoing(
    ["school", "create", "--name", "Goetheschule", "--official-id", `${id}-1`, ...address],
    ["school", "create", "--name", "Goetheschule", "--official-id", `${id}-2`, ...address],
  );

test("schools", async () => {
  await createSchool("DE-NI-1");
  await expectSameReading("school", "list");
  await expectSameReading("school", "list", "--limit", "1");
  const [first] = (await local.ask<{ schools: { id: string }[] }>("school", "list")).schools;
  await expectSameReading("school", "list", "--limit", "1", "--after", first!.id);
  await expectSameReading("school", "list", "--search", "goethe");
  await expectSameReading("school", "show", "DE-NI-1-2");
  const record = ["school", "processing-record", "DE-NI-1-2", "--output", "csv"];
  const { out } = await there([...record, "--language", "de"]);
  expect(out).toContain("Anmeldung");
  expect(out).toBe((await here([...record, "--language", "de"])).out);
  expect((await here(record)).out).toContain("activity,purpose,people,data,withheld,recipients,kept,agreement");
  const both = (...more: string[]) =>
    expectSameDoing(["school", "update", "DE-NI-1-1", ...more], ["school", "update", "DE-NI-1-2", ...more]);
  await both("--name", "Schillerschule", "--city", "Neustadt", "--schooling-level", "GYMNASIUM", "--addition", "Hof");
  await both("--name", "Schillerschule", "--no-addition");
  await both("--name", "Schillerschule");
  const signIn = ["--passwords", "WORDS", "--own-from", "7", "--must-change", "yes", "--help", "Raum 12"];
  await expectSameDoing(
    ["school", "set-sign-in", "DE-NI-1-1", ...signIn],
    ["school", "set-sign-in", "DE-NI-1-2", ...signIn],
  );
  expect(await there(["school", "set-sign-in", "DE-NI-1-2", "--own-from", "14"])).toMatchObject({ code: 2 });
  expect(
    await there(["school", "create", "--id", first!.id, "--name", "x", "--official-id", "y", ...address]),
  ).toMatchObject({ code: 2, err: expect.stringContaining("--id works only on the local database") as string });
});

test("data requests, and what apps could learn", async () => {
  const school = await make.school();
  const person = await make.person({ school });
  await expectSameReading("person", "disclosures", person);
  expect((await there(["data-request", "list", "--person", person])).out).toBe("No data requests.\n");
  const record = async () =>
    (await remote.ask<{ id: string }>("data-request", "record", person, "--by", "GUARDIAN")).id;
  const [one, two] = [await record(), await record()];
  const { out } = await there(["data-request", "list", "--school", school, "--state", "OPEN"]);
  expect([one, two].map((id) => out.includes(id))).toEqual([true, true]);
  expect(await remote.ask("data-request", "extend", one, "--reason", "MANY")).toMatchObject({ extension: "MANY" });
  for (const [id, outcome] of [
    [one, "ANSWERED"],
    [two, "WITHDRAWN"],
  ] as const)
    expect(await remote.ask("data-request", "close", id, "--outcome", outcome)).toMatchObject({ outcome });
  // The days left of an open one go by the clock, which the tests set for the service alone.
  await expectSameReading("data-request", "list", "--person", person, "--state", "CLOSED");
  await expectSameReading("data-request", "show", one);
});

test("people, their logins and affiliations", async () => {
  const [school, other] = [await make.school(), await make.school()];
  const group = await make.group({ school });
  const name = ["--last", "Muster", "--first-full", "Bo Karl"];
  const create = ["person", "create", "--school", school, "--role", "student", "--group", group, ...name];
  await expectSameDoing([...create, "--source-id", "s1"], [...create, "--source-id", "s2"]);
  const { people } = await local.ask<{ people: { id: string }[] }>("person", "list", "--school", school);
  const [one, two] = people.map(({ id }) => id) as [string, string];
  const both = (verb: string, ...more: string[]) =>
    expectSameDoing(["person", verb, one, ...more], ["person", verb, two, ...more]);
  for (const person of [one, two]) await expectSameReading("person", "show", person);
  await expectSameReading("person", "list", "--school", school, "--group", group, "--status", "active");
  await expectSameReading("person", "list", "--school", school, "--limit", "1", "--after", one);
  await expectSameReading("person", "find", "must bo");
  await both("update", "--last", "Beispiel", "--first-call", "Bo", "--role", "teacher");
  await both("update", "--no-name", "--no-source-id");
  await both("update", "--first-full", "Ada");
  await both("update", "--first-full", "Ada", "--last", "Beispiel");
  await both("update", "--last", "Beispiel");
  const login = async (run: typeof here, person: string, username: string) =>
    JSON.parse((await run(["person", "set-login", person, "--username", username, "--json"])).out) as object;
  expect(await login(there, two, "ada.two")).toEqual({
    ...(await login(here, one, "ada.one")),
    id: two,
    username: "ada.two",
    password: expect.any(String) as string,
  });
  await expectSameReading("person", "show", "ADA.two");
  await expectSameReading("login", "show", "ada.one");
  for (const verb of ["block", "unblock", "sign-out", "remove-second-factors"]) await both(verb);
  for (const verb of ["join", "set-home", "leave"]) {
    const at = verb === "leave" ? school : other;
    await expectSameDoing(["affiliation", verb, one, at], ["affiliation", verb, two, at]);
  }
  await both("move", "--to", school);
  await both("soft-delete");
  await both("soft-delete");
  await both("restore");
  await both("soft-delete");
  await both("delete");
  await both("show");
});

test("passwords of a school and of a group", async () => {
  const school = await make.school();
  const group = await make.group({ school });
  for (let pupil = 0; pupil < 2; pupil++) await make.person({ school, groups: [group] });
  const columns = (text: string) => text.split("\n").map((line) => line.split(",").slice(0, 3).join(","));
  const makeFor = async (run: typeof here, ...of: string[]) =>
    columns((await run(["login", "make", "--school", school, "--all", "--output", "csv", ...of])).out);
  expect(await makeFor(there)).toEqual(await makeFor(here));
  expect(await makeFor(there, "--group", group)).toEqual(await makeFor(here, "--group", group));
  await expectSameDoing(["login", "make", "--school", school]);
});

test("groups and memberships", async () => {
  const school = await make.school();
  const person = await make.person({ school });
  const create = (name: string) => ["group", "create", "--school", school, "--name", name, "--type", "kurs"];
  await expectSameDoing(create("5a"), create("5b"));
  const both = (noun: string, verb: string, ...more: string[]) =>
    expectSameDoing([noun, verb, "5a", ...more], [noun, verb, "5b", ...more]);
  await expectSameReading("group", "show", "5a");
  await expectSameReading("group", "list", "--school", school);
  await both("membership", "add", person);
  await both("membership", "add", person);
  await both("membership", "set-role", person, "--role", "teacher");
  await both("membership", "set-role", person, "--role", "teacher");
  await expectSameReading("person", "list", "--school", school, "--group", "5b");
  await both("membership", "remove", person);
  await both("membership", "remove", person);
  await both("membership", "set-role", person, "--role", "teacher");
  await both("group", "delete");
  await expectSameReading("group", "list", "--school", school, "--with-deleted");
  await both("group", "restore");
  await expectSameDoing(["group", "rename", "5a", "--name", "6a"], ["group", "rename", "5b", "--name", "6b"]);
  await expectSameDoing(["group", "rename", "6a", "--name", "6a"], ["group", "rename", "6b", "--name", "6b"]);
  const twin = await make.group({ school: await make.school(), name: "6a" });
  expect(await remote.refusal("group", "show", "6a")).toEqual(await local.refusal("group", "show", "6a"));
  await expectSameReading("group", "show", twin);
  await make.group({ school, name: "10c", type: "KLASSE" });
  await expectSameReading("group", "sign-ins", "--school", school);
});

test("apps, grants and sync", async () => {
  const [school, other] = [await make.school(), await make.school()];
  const [one, two] = ["app-one", "app-two"];
  const create = (id: string) => [
    ...["app", "create", "--client-id", id, "--name", "App", "--redirect-uri", "https://app.example/callback"],
    ...[
      "--attribute",
      "person_name",
      "--scope",
      "openid,schools:read",
      "--backchannel-logout-uri",
      "http://127.0.0.1:5000/out",
      "--json",
    ],
  ];
  for (const [run, id] of [[here, one] as const, [there, two] as const])
    expect(JSON.parse((await run(create(id))).out)).toEqual({
      clientId: id,
      clientSecret: expect.any(String) as string,
    });
  await expectSameReading("app", "show", two);
  await expectSameReading("app", "list");
  const bothAt = async (noun: string, verb: string, ...more: string[]) => {
    const [wanted, found] = [await here([noun, verb, one, ...more]), await there([noun, verb, two, ...more])];
    const withoutSector = (out: string) => out.replace(/(?<=\nsector +)\S+/, "");
    expect([found.code, withoutSector(found.out.replaceAll(two, one))]).toEqual([
      wanted.code,
      withoutSector(wanted.out),
    ]);
  };
  await bothAt("app", "update", "--name", "Neu", "--no-pkce");
  await bothAt("app", "update");
  await bothAt("app", "update", "--no-attributes");
  await bothAt("app", "update", "--default-scope", "schools:read");
  await bothAt("app", "show");
  await bothAt("app", "update", "--default-scope", "users:read");
  await bothAt("app", "update", "--no-default-scopes");
  await bothAt("app", "show");
  await bothAt("app", "update", "--scope-platform", "old");
  await bothAt("app", "show");
  await bothAt("app", "update", "--scope-platform", "schultor");
  await bothAt("app", "update", "--no-scope-platform");
  await bothAt("app", "show");
  const rotated = await remote.ask("app", "rotate-secret", two, "--keep-old-for", "7d");
  expect(Object.keys(rotated)).toEqual(
    Object.keys(await local.ask("app", "rotate-secret", one, "--keep-old-for", "7d")),
  );
  await bothAt("app", "end-old-secret");
  await bothAt("grant", "show", school);
  await bothAt("grant", "set", school, "--sign-on", "roles", "--role", "student");
  const groups = [await make.group({ school, name: "a" }), await make.group({ school, name: "b" })].sort();
  await bothAt("grant", "set", school, "--sign-on", "groups", "--group", groups[0]!);
  await bothAt("sync", "on", school);
  await bothAt("sync", "on", school);
  await bothAt("sync", "groups", school, "--set", groups.join(","));
  await bothAt("sync", "groups", school, "--remove", groups[0]!);
  await bothAt("sync", "groups", school, "--add", groups[0]!);
  await bothAt("sync", "groups", school, "--add", await make.group({ school: other }));
  for (const id of [one, two]) {
    await expectSameReading("grant", "show", id, school);
    await expectSameReading("sync", "show", id, school);
    await expectSameReading("grant", "list", "--app", id);
  }
  await bothAt("sync", "off", school);
  await bothAt("grant", "withdraw", school);
  await bothAt("grant", "withdraw", school);
  await bothAt("app", "delete", "--yes");
  await bothAt("app", "show");
});

test("moves of apps to ids of their own", async () => {
  const [one, two] = [(await make.app()).clientId, (await make.app()).clientId];
  const school = await make.school();
  for (const app of [one, two]) {
    await make.grant({ app, school, signOn: "NOBODY" });
    await make.signIn({ app, person: await make.person({ school }) });
  }
  const both = (verb: string, ...more: string[]) =>
    expectSameDoing(["id-move", verb, one, ...more], ["id-move", verb, two, ...more]);
  expect(await both("start", "--dry-run")).toContain("1 people would keep their id");
  expect(await both("show")).toBe("");
  expect(await both("start", "--ids", "partner", "--cut-over-at", "2099-01-01T02:00:00Z")).toContain("PREPARING");
  await both("start");
  await both("cut-over");
  await service.runJob("access.moveIds");
  expect(await both("show")).toContain("1 of 1");
  await both("set-date", "--cut-over-at", "2099-02-01T02:00:00Z");
  await both("set-date", "--no-date");
  expect(await there(["id-move", "set-date", two])).toMatchObject({ code: 2 });
  await both("call-off");
  await both("show");
  await service.runJob("access.moveIds");
  await both("start");
  await service.runJob("access.moveIds");
  await both("cut-over");
  expect(await both("show")).toContain("CUT_OVER");
});

test("accounts of staff who are at no school", async () => {
  const { clientId } = await make.app();
  const create = (username: string) => [
    "staff",
    "create",
    "PARTNER",
    "--for-app",
    clientId,
    "--username",
    username,
    "--first",
    "Max",
    "--last",
    "Vogel",
  ];
  const [here, there] = [await local.ask(...create("vogel.1")), await remote.ask(...create("vogel.2"))];
  expect(Object.keys(there)).toEqual(Object.keys(here));
  await expectSameReading("staff", "people");
  await expectSameReading("staff", "people", "--search", "vogel", "--limit", "1");
  const renewed = await remote.ask("staff", "new-password", "vogel.1");
  expect([renewed.id, renewed.password === here.password]).toEqual([here.id, false]);
  await expectSameDoing(["staff", "delete", here.id], ["staff", "delete", there.id]);
});

test("the retention of schools and states, and people who are kept", async () => {
  const [one, two] = [await make.school(), await make.school()];
  const name = { firstFull: "Bo", firstCall: "Bo", last: "Beispiel" };
  // Programs read the time of the database, and the service that of the test.
  const people = [await make.person({ school: one, name }), await make.person({ school: two, name })];
  const leftAt = new Date("2025-01-01T00:00:00Z");
  await service.db.prisma.person.updateMany({ where: { id: { in: people } }, data: { leftAt } });
  const both = (verb: string, ...more: string[]) =>
    expectSameDoing(["retention", verb, one, ...more], ["retention", verb, two, ...more]);
  const bothPeople = (verb: string, ...more: string[]) =>
    expectSameDoing(["retention", verb, people[0]!, ...more], ["retention", verb, people[1]!, ...more]);
  await expectSameReading("retention", "service");
  expect(await both("preview", "--left-months", "3", "--left-reason", "School law")).toContain("1 person now");
  await both("set", "--left-months", "6", "--left-reason", "School law", "--restore-days", "60");
  await both("set", "--left-months", "6", "--left-reason", "School law", "--left-from", "SCHOOL_YEAR_END");
  await both("set", "--inactive-months", "12", "--inactive-reason", "Unused", "--inactive-roster", "yes");
  expect(await both("show")).toMatch(/inactiveMonths +12 \(SCHOOL, includesRoster true\): Unused/);
  await both("set", "--unset", "inactive");
  await expectSameReading("retention", "due", one, "--days", "3650");
  // Two years from the time of the test at most, and in the future of the machine.
  await bothPeople("keep", "--until", "2028-01-31", "--reason", "Examination");
  expect(await bothPeople("show-person")).toContain("2028-01-31: Examination");
  await bothPeople("no-keep");
  await bothPeople("no-keep");
  await both("release", "--people", "1");
  const state = ["--left-months", "12", "--left-reason", "State law"];
  expect(await expectSameDoing(["retention", "preview-state", "DE-BY", ...state])).toBe("No schools.");
  await expectSameDoing(["retention", "set-state", "DE-RP", ...state], ["retention", "set-state", "DE-RP", ...state]);
  await expectSameReading("retention", "show-state", "DE-RP");
});
