import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { giveLogin } from "../support/token.ts";
import { makeConfigFolder, makeRemoteWorld } from "./remote-world.ts";

const { service, app, local, remote, expectSameReading, expectSameDoing, there, make } = await makeRemoteWorld({
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
});

test("webhooks and their deliveries", async () => {
  const apps = [(await make.app()).clientId, (await make.app()).clientId] as const;
  const add = ["--url", "http://127.0.0.1:9/hook", "--type", "person,school"];
  const here1 = await local.ask<{ id: string; secret: string }>("webhook", "add", apps[0], ...add);
  const there2 = await remote.ask<{ id: string; secret: string }>("webhook", "add", apps[1], ...add);
  expect(Object.keys(there2)).toEqual(Object.keys(here1));
  const [one, two] = [here1.id, there2.id];
  await expectSameReading("webhook", "list");
  await expectSameReading("webhook", "list", "--app", apps[1]);
  await expectSameReading("webhook", "show", two);
  const both = (verb: string, ...more: string[]) =>
    expectSameDoing(["webhook", verb, one, ...more], ["webhook", verb, two, ...more]);
  await both("update", "--type", "group");
  await both("update");
  const rotated = await remote.ask("webhook", "rotate-secret", two, "--overlap-hours", "2");
  expect(Object.keys(rotated)).toEqual(Object.keys(await local.ask("webhook", "rotate-secret", one)));
  for (const verb of ["pause", "resume"]) await both(verb);
  const { delivery } = await remote.ask<{ delivery: string }>("webhook", "test", two, "--type", "school");
  await local.ask("webhook", "test", one, "--type", "school");
  await expectSameReading("webhook", "log", two);
  await expectSameReading("webhook", "log", two, "--state", "pending", "--limit", "1");
  await expectSameReading("webhook", "delivery", delivery);
  expect(await remote.refusal("webhook", "redeliver", delivery)).toMatchObject({ exitCode: 3 });
  await both("redeliver-failed", "--since", "2026-01-01");
  for (const verb of ["disable", "remove", "show"]) await both(verb);
});

test("staff and the audit log", async () => {
  const school = await make.school();
  const [one, two] = [await make.person({ school }), await make.person({ school })];
  const give = (person: string) => ["staff", "give", "secretary", "--person", person, "--school", school];
  await expectSameDoing(give(one), give(two));
  await expectSameReading("staff", "list");
  await expectSameReading("staff", "list", "--school", school, "--role", "secretary");
  await expectSameReading("staff", "list", "--app", app.clientId);
  const group = await make.group({ school });
  const teachers = [await make.person({ school, role: "TEACHER" }), await make.person({ school, role: "TEACHER" })];
  for (const person of teachers) await make.membership({ group, person, role: "TEACHER" });
  await expectSameReading("staff", "class-teachers", school);
  for (const person of teachers) await giveLogin(service.db, person);
  const giveTo = (run: typeof local, except: string) =>
    run.ask<{ given: object[] }>("staff", "class-teachers", school, "--give", "--except", except);
  expect((await giveTo(local, teachers[1]!)).given).toMatchObject([{ holder: { personId: teachers[0] } }]);
  expect((await giveTo(remote, teachers[1]!)).given).toEqual([]);
  const { given } = await remote.ask<{ given: object[] }>("staff", "class-teachers", school, "--give");
  expect(given).toMatchObject([{ holder: { personId: teachers[1] }, role: "CLASS_TEACHER" }]);
  expect(await there(["staff", "list", "--with-ended"])).toMatchObject({ code: 2 });
  const { roles } = await remote.ask<{ roles: { id: string }[] }>("staff", "list", "--school", school);
  await expectSameDoing(["staff", "withdraw", roles[0]!.id], ["staff", "withdraw", roles[1]!.id]);
  expect(await there(["staff", "give", "operator"])).toMatchObject({ code: 2 });
  await expectSameReading("audit", "list", "--school", school);
  await expectSameReading("audit", "list", "--by", one);
  await expectSameReading("audit", "list", "--action", "staff_role_given", "--limit", "1", "--since", "2026-01-01");
});

test("hand-overs of pupils", async () => {
  const [from, to] = [await make.school({ name: "Alte Schule" }), await make.school({ name: "Neue Schule" })];
  const group = await make.group({ school: to });
  const [one, two] = [await make.person({ school: from }), await make.person({ school: from })];
  await expectSameReading("handover", "schools", from, "--search", "neue schule");
  // Beside the database the command line has the present time, at which offers of the fixed time have expired.
  const offer = async (person: string) =>
    (await remote.ask<{ id: string }>("handover", "offer", from, "--to", to, "--person", person)).id;
  expect(await remote.ask("handover", "withdraw", await offer(one))).toMatchObject({ state: "WITHDRAWN" });
  expect(await remote.ask("handover", "decline", await offer(one))).toMatchObject({ state: "DECLINED" });
  const id = await offer(two);
  const { "hand-overs": listed } = await remote.ask<{ "hand-overs": { id: string }[] }>("handover", "list", to);
  expect(listed.map((one) => one.id)).toHaveLength(3);
  expect(listed).toContainEqual(expect.objectContaining({ id, state: "OFFERED" }));
  expect(await remote.ask("handover", "show", id)).toMatchObject({ state: "OFFERED", pupils: [{ id: two }] });
  const options = ["--group", `${two}=${group}`, "--source-id", `${two}=b2`];
  expect(await remote.ask("handover", "accept", id, ...options)).toMatchObject({ state: "ACCEPTED", moved: 1 });
  expect(await remote.ask("person", "show", two)).toMatchObject({ homeSchoolId: to, sourceSystemIdentifier: "b2" });
  expect(await there(["handover", "accept", id, "--group", "x"])).toMatchObject({ code: 2 });
});

test("rosters, from the file to the confirmation", async () => {
  const [one, two] = [await make.school(), await make.school()];
  const file = join(await makeConfigFolder(), "roster.csv");
  const head = "id;role;first_name;call_name;last_name;classes;courses;groups;status\n";
  const pupil = (id: number) => `${id};student;Bo;;Muster ${id};5a;;;\n`;
  const preview = async (run: typeof local, school: string) =>
    (await run.ask("import", "preview", file, "--school", school)).id;
  const previewBoth = async (text: string) => {
    await writeFile(file, text);
    return [await preview(local, one), await preview(remote, two)] as const;
  };
  await writeFile(file, `${head}1;student;Bo;;;5a;;;\n`);
  const broken = (school: string) => ["import", "preview", file, "--school", school];
  await expectSameDoing(broken(one), broken(two));
  const [first, second] = await previewBoth(head + Array.from({ length: 20 }, (_, at) => pupil(at + 1)).join(""));
  const counts = async (id: string) => {
    const { schools } = await local.ask<{ schools: { id: string; name: string }[] }>("import", "show", id);
    return schools.map(({ id: _id, name: _name, ...numbers }) => numbers);
  };
  expect(await counts(second)).toEqual(await counts(first));
  await expectSameDoing(["import", "apply", first], ["import", "apply", second]);
  await expectSameReading("import", "show", second);
  await expectSameReading("import", "list");
  const [held, heldToo] = await previewBoth(head + pupil(1));
  expect(await remote.refusal("import", "apply", heldToo)).toEqual(await local.refusal("import", "apply", held));
  const leaving = await remote.ask<{ samples: Record<string, { leavers: object[] }> }>("import", "show", heldToo);
  expect(leaving.samples[two]!.leavers).toHaveLength(5);
  await expectSameDoing(["import", "confirm", held], ["import", "confirm", heldToo]);
  const [unwanted, unwantedToo] = await previewBoth(head + pupil(1) + pupil(2));
  await expectSameDoing(["import", "cancel", unwanted], ["import", "cancel", unwantedToo]);
  await expectSameDoing(["import", "apply", unwanted], ["import", "apply", unwantedToo]);
});

test("signing keys", async () => {
  type Active = { active: { algorithm: string; kid: string }[] };
  const algorithms = ({ active }: Active) => active.map(({ algorithm }) => algorithm).sort();
  const wanted = await local.ask<Active>("rotate-signing-keys");
  for (const who of [local, remote])
    expect(await who.refusal("rotate-signing-keys")).toMatchObject({ exitCode: 3, code: "signing_key_too_new" });
  const found = await remote.ask<Active>("rotate-signing-keys", "--force");
  expect(algorithms(found)).toEqual(algorithms(wanted));
});
