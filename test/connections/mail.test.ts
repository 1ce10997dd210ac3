import { expect, test } from "vitest";
import { makeStaff } from "../support/admin.ts";
import { readMail, startMailServer } from "../support/mail-server.ts";
import { makeMakers } from "../support/make.ts";
import { oneRosterOf, pupilsOf, startSource, status } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

const server = await startMailServer();
const service = await startService({
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", SMTP_URL: server.url, MAIL_FROM: "schultor@land.example" },
});
const { db, clock } = service;
const make = makeMakers(db);
const start = clock();
const users = "/ims/oneroster/rostering/v1p2/users";

let schools = 0;
/** A connection that is on, its source, and the mail that comes. */
async function makeConnection(given: { applies?: string; notifyAddresses?: string[] } = {}) {
  const officialId = `DE-MAIL-${++schools}`;
  const school = await make.school({ officialId });
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const source = await startSource(oneRosterOf(pupilsOf(5), { identifier: officialId }));
  const address = `${source.address}/ims/oneroster/rostering/v1p2`;
  const body = {
    name: "Untis Überlingen",
    kind: "ONEROSTER",
    schoolIds: [school],
    address,
    secret: "hush",
    applies: "UNLESS_HELD",
    notifyAddresses: ["sekretariat@wald.example", "it@wald.example"],
    ...given,
  };
  const sent = await call("POST", "/roster-connections", { body });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  const { id } = sent.body as { id: string };
  await call("PATCH", `/roster-connections/${id}`, { body: { state: "ON", times: ["02:30"] } });
  return { school, call, id, source, good: source.answers[users]! };
}

async function runJobAt(name: string, time: Date): Promise<void> {
  clock.set(time);
  await service.runJob(name);
  clock.set(start);
}
/** Runs the connection at its next time, then sends what mail is due; returns what came. */
async function nextRun(id: string) {
  const { nextRunAt } = await db.prisma.rosterConnection.findUniqueOrThrow({ where: { id } });
  await runJobAt("connections.run", nextRunAt!);
  return sendMail(nextRunAt!, id);
}
/** The mail about one connection: others may be due at the same time. */
async function sendMail(at: Date, id: string) {
  server.mails.length = 0;
  await runJobAt("connections.mail", at);
  return server.mails.map((mail) => ({ ...mail, ...readMail(mail) })).filter(({ text }) => text.includes(id));
}

test("a failure that somebody must deal with is told once to each address, in German, and names nobody", async () => {
  const { school, id, source, good } = await makeConnection();
  source.answers[users] = status(401);
  const sent = await nextRun(id);
  expect(sent.map(({ from, to }) => [from, to])).toEqual([
    ["schultor@land.example", ["sekretariat@wald.example"]],
    ["schultor@land.example", ["it@wald.example"]],
  ]);
  const [{ subject, text }] = sent as [(typeof sent)[0]];
  expect(subject).toBe(
    "Untis Überlingen: Der Abgleich ist fehlgeschlagen. An den Daten der Schule hat sich nichts geändert.",
  );
  expect(text).toContain(
    "Der Abgleich ist fehlgeschlagen. An den Daten der Schule hat sich nichts geändert. (REFUSED_CREDENTIALS)",
  );
  const page = /http:\S+/.exec(text)![0];
  expect(page).toBe(`${service.url}/admin/schools/${school}/roster-connections/${id}`);
  expect((await fetch(page, { redirect: "manual" })).status).not.toBe(404);

  for (let tries = 0; tries < 3; tries++) expect(await nextRun(id)).toEqual([]);
  source.answers[users] = good;
  const again = await nextRun(id);
  expect(again.map(({ subject: line }) => line)).toEqual([
    "Untis Überlingen: Der Abgleich gelingt wieder.",
    "Untis Überlingen: Der Abgleich gelingt wieder.",
  ]);
  expect(await nextRun(id)).toEqual([]);
});

test("a failure that may be over soon is told after the third, and not at all if it is over before", async () => {
  const { id, source, good } = await makeConnection({ notifyAddresses: ["it@wald.example"] });
  source.answers[users] = status(503);
  expect([await nextRun(id), await nextRun(id)]).toEqual([[], []]);
  source.answers[users] = good;
  expect(await nextRun(id)).toEqual([]);
  source.answers[users] = status(503);
  const counts: number[] = [];
  for (let tries = 0; tries < 4; tries++) counts.push((await nextRun(id)).length);
  expect(counts).toEqual([0, 0, 1, 0]);
});

test("a preview that waits is told, its successor is not, and the mail has no names of people", async () => {
  const { id, source } = await makeConnection({ applies: "PREVIEW", notifyAddresses: ["it@wald.example"] });
  const [mail, ...others] = await nextRun(id);
  expect([mail!.subject, others]).toEqual(["Untis Überlingen: Eine neue Liste wartet auf Ihre Entscheidung.", []]);
  expect(mail!.content + mail!.text).not.toMatch(/Vorname|Nachname/);
  const { officialId } = await db.prisma.school.findFirstOrThrow({
    where: { rosterConnections: { some: { connectionId: id } } },
  });
  Object.assign(source.answers, oneRosterOf(pupilsOf(6), { identifier: officialId }));
  expect(await nextRun(id)).toEqual([]);
});

test("a test of a connection, and a connection without addresses, send no mail", async () => {
  const { id, source } = await makeConnection({ notifyAddresses: [] });
  source.answers[users] = status(401);
  expect(await nextRun(id)).toEqual([]);
  const other = await makeConnection();
  other.source.answers[users] = status(401);
  await other.call("POST", `/roster-connections/${other.id}/tests`);
  expect(await sendMail(start, other.id)).toEqual([]);
});

test("a mail server that refuses is asked again later, nine times in 64 hours at most", async () => {
  const { id, source } = await makeConnection({ notifyAddresses: ["gone@wald.example"] });
  source.answers[users] = status(401);
  server.refused.add("gone@wald.example");
  const { nextRunAt } = await db.prisma.rosterConnection.findUniqueOrThrow({ where: { id } });
  expect(await nextRun(id)).toEqual([]);
  const findRun = () => db.prisma.rosterRun.findFirstOrThrow({ where: { connectionId: id }, orderBy: { id: "desc" } });
  const waits: (number | null)[] = [];
  let now = nextRunAt!;
  for (let tries = 0; tries < 8; tries++) {
    const { noticeDueAt } = await findRun();
    waits.push((noticeDueAt!.getTime() - now.getTime()) / 60_000);
    now = noticeDueAt!;
    await sendMail(now, id);
  }
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 960, 1920]);
  expect((await findRun()).noticeDueAt).toBeNull();
});

test("one address that is refused is tried again, and the others get the mail once", async () => {
  const notifyAddresses = ["away@wald.example", "it@wald.example"];
  const { id, source } = await makeConnection({ notifyAddresses });
  source.answers[users] = status(401);
  server.refused.add("away@wald.example");
  expect((await nextRun(id)).map(({ to }) => to)).toEqual([["it@wald.example"]]);
  server.refused.delete("away@wald.example");
  const findRun = () => db.prisma.rosterRun.findFirstOrThrow({ where: { connectionId: id } });
  const { noticeDueAt, noticeTold } = await findRun();
  expect(noticeTold).toEqual(["it@wald.example"]);
  expect((await sendMail(noticeDueAt!, id)).flatMap(({ to }) => to)).toEqual(["away@wald.example"]);
  expect(await findRun()).toMatchObject({ noticeDueAt: null, noticeTold: [] });
});

test("while the mail server is down no mail is lost, and news that are out of date are not sent", async () => {
  const { id, source, good } = await makeConnection({ notifyAddresses: ["down@wald.example"] });
  source.answers[users] = status(401);
  server.refused.add("down@wald.example");
  expect(await nextRun(id)).toEqual([]);
  source.answers[users] = good;
  expect(await nextRun(id)).toEqual([]);
  server.refused.delete("down@wald.example");
  const [due, ...others] = await db.prisma.rosterRun.findMany({
    where: { connectionId: id, noticeDueAt: { not: null } },
  });
  expect(others).toEqual([]);
  const sent = await sendMail(due!.noticeDueAt!, id);
  expect(sent.map(({ subject }) => subject)).toEqual(["Untis Überlingen: Der Abgleich gelingt wieder."]);
});
