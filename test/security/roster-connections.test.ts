import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeDataDir } from "../support/data-dir.ts";
import { makeMakers } from "../support/make.ts";
import {
  csvOf,
  json,
  oneRosterOf,
  pupilsOf,
  startSource,
  status,
  token,
  type Answer,
} from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

const folder = makeDataDir();
const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", ROSTER_FOLDER: folder };
const service = await startService({ env });
const { db } = service;
const make = makeMakers(db);
const operator = (await makeStaff(service, "OPERATOR")).call;
const [school, third] = [await make.school({ officialId: "DE-1" }), await make.school({ officialId: "DE-3" })];
const other = await make.school({ officialId: "DE-2", name: "Lessing-Gymnasium Neustadt" });
const [admin, foreign] = [
  (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] })).call,
  (await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] })).call,
];
const district = (await makeStaff(service, "DISTRICT", { schoolIds: [third, other] })).call;

type Run = { outcome: string; failure: string; detail: string | null };
const runNow = async (call: AdminClient, id: string) =>
  (await call("POST", `/roster-connections/${id}/runs`)).body as Run;
async function connect(call: AdminClient, body: object): Promise<string> {
  const given = { name: "Source", schoolIds: [school], applies: "UNLESS_HELD", ...body };
  const sent = await call("POST", "/roster-connections", { body: given });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  return (sent.body as { id: string }).id;
}
const fileAt = (address: string) => ({ kind: "HTTPS_FILE", address: `${address}/roster.csv`, secret: "hush" });
const countPeople = (at: string) => db.prisma.person.count({ where: { homeSchoolId: at } });

test("a secret is not sent to an address that was changed", async () => {
  const [first, second] = [await startSource(), await startSource()];
  second.answers["/roster.csv"] = status(401);
  const id = await connect(admin, fileAt(first.address));
  const moved = { address: `${second.address}/roster.csv` };
  expect((await admin("PATCH", `/roster-connections/${id}`, { body: moved })).status).toBe(204);
  const { body } = await admin("GET", `/roster-connections/${id}`);
  expect(body).toMatchObject({ hasSecret: false, state: "OFF" });
  await runNow(admin, id);
  expect(second.asked.map(({ authorization }) => authorization)).toEqual([undefined]);
});

test("a secret is not sent to an address that was changed in the database", async () => {
  const [first, second] = [await startSource(), await startSource()];
  const id = await connect(admin, fileAt(first.address));
  const settings = { address: `${second.address}/roster.csv` };
  await db.prisma.rosterConnection.update({ where: { id }, data: { settings } });
  expect(await runNow(admin, id)).toMatchObject({ outcome: "FAILED", failure: "SECRET_MISSING" });
  expect(second.asked).toEqual([]);
});

test("a secret is nowhere to be read, neither in answers nor in the audit log", async () => {
  const id = await connect(admin, { ...fileAt("http://127.0.0.1:9"), secret: "very-hush-hush" });
  const answers = [await admin("GET", `/roster-connections/${id}`), await admin("GET", "/roster-connections")];
  const lines = await db.prisma.audit.findMany({
    orderBy: { id: "asc" },
    where: { action: "roster_connection_created" },
  });
  expect(JSON.stringify([answers.map(({ body }) => body), lines])).not.toContain("hush-hush");
});

test("a redirect is not followed, and a link to the next page on another host is refused, so that the token stays", async () => {
  const elsewhere = await startSource();
  const source = await startSource();
  source.answers["/roster.csv"] = status(302, { location: `${elsewhere.address}/roster.csv` });
  const id = await connect(admin, fileAt(source.address));
  expect(await runNow(admin, id)).toMatchObject({ failure: "ANSWERED_BADLY" });
  const orgs = { orgs: [{ sourcedId: "o", identifier: "DE-1", type: "school" }] };
  source.answers["/v1p2/orgs"] = json(orgs, { link: `<${elsewhere.address}/v1p2/orgs?offset=500>; rel="next"` });
  const paged = await connect(admin, { kind: "ONEROSTER", address: `${source.address}/v1p2`, secret: "hush" });
  expect(await runNow(admin, paged)).toMatchObject({ failure: "ANSWERED_BADLY" });
  expect(elsewhere.asked).toEqual([]);
});

test("another school's admin neither reads, changes, tests nor runs a connection, nor one of several schools", async () => {
  const ours = await connect(district, { ...fileAt("http://127.0.0.1:9"), schoolIds: [third] });
  const both = await connect(district, { ...fileAt("http://127.0.0.1:9"), schoolIds: [third, other] });
  const unknown = [404, "roster_connection_not_found"];
  for (const id of [ours, both]) {
    const at = `/roster-connections/${id}`;
    expect(refusalOf(await foreign("GET", at))).toEqual(unknown);
    expect(refusalOf(await foreign("PATCH", at, { body: { name: "Mine" } }))).toEqual(unknown);
    expect(refusalOf(await foreign("POST", `${at}/tests`))).toEqual(unknown);
    expect(refusalOf(await foreign("POST", `${at}/runs`))).toEqual(unknown);
    expect(refusalOf(await foreign("GET", `${at}/runs`))).toEqual(unknown);
    expect(refusalOf(await foreign("DELETE", at))).toEqual(unknown);
  }
  expect((await foreign("GET", `/roster-connections?school=${other}`)).body).not.toContainEqual(
    expect.objectContaining({ id: both }),
  );
  const taken = { ...fileAt("http://127.0.0.1:9"), name: "X", schoolIds: [school] };
  expect(refusalOf(await foreign("POST", "/roster-connections", { body: taken }))).toEqual([404, "school_not_found"]);
  const added = await district("PATCH", `/roster-connections/${ours}`, { body: { schoolIds: [school, third] } });
  expect(refusalOf(added)).toEqual([404, "school_not_found"]);
});

test("a source that sends another school's people changes that school in no way", async () => {
  await make.person({ school: other });
  const source = await startSource({ "/token": token });
  const of = { tokenAddress: `${source.address}/token`, clientId: "us", secret: "hush" };
  const oneRoster = { kind: "ONEROSTER", address: `${source.address}/ims/oneroster/rostering/v1p2`, ...of };
  Object.assign(source.answers, oneRosterOf(pupilsOf(9), { identifier: "DE-2" }));
  const before = [await countPeople(school), await countPeople(other)];
  expect(await runNow(admin, await connect(admin, oneRoster))).toMatchObject({ failure: "OTHER_SCHOOL" });
  const people = pupilsOf(9).map(({ id, first, last }) => ({
    pid: id,
    person: { name: { vorname: first, familienname: last }, stammorganisation: { kennung: "DE-2" } },
    personenkontexte: [{ id: `k-${id}`, organisation: { kennung: "DE-2", typ: "Schule" }, rolle: "Lern" }],
  }));
  source.answers["/personen-info"] = json(people);
  const schulconnex = { kind: "SCHULCONNEX", address: `${source.address}/personen-info`, ...of };
  expect(await runNow(admin, await connect(admin, schulconnex))).toMatchObject({ failure: "OTHER_SCHOOL" });
  const table = `Lessing-Gymnasium Neustadt\n${csvOf(pupilsOf(3))}`;
  source.answers["/roster.csv"] = (_req, res) => res.writeHead(200).end(table);
  const run = await runNow(admin, await connect(admin, fileAt(source.address)));
  expect(run).toMatchObject({ outcome: "HELD" });
  expect([await countPeople(school), await countPeople(other)]).toEqual(before);
});

/** An archive whose one file unpacks to a thousand times its size. */
function bomb(): Buffer {
  const content = deflateRawSync(Buffer.alloc(200 * 2 ** 20));
  const size = 200 * 2 ** 20;
  const name = Buffer.from("users.csv");
  const header = (signature: number, before: number[], after: number[]) => {
    const fields = Buffer.alloc(4 + before.length * 2 + 16 + after.length * 2);
    fields.writeUInt32LE(signature, 0);
    before.forEach((value, at) => fields.writeUInt16LE(value, 4 + 2 * at));
    const middle = 4 + 2 * before.length;
    fields.writeUInt32LE(content.length, middle + 8);
    fields.writeUInt32LE(size, middle + 12);
    after.forEach((value, at) => fields.writeUInt16LE(value, middle + 16 + 2 * at));
    return fields;
  };
  const local = header(0x04034b50, [20, 0, 8], [name.length, 0]);
  const central = header(0x02014b50, [20, 20, 0, 8], [name.length, 0, 0, 0, 0, 0, 0, 0, 0]);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length + name.length, 12);
  end.writeUInt32LE(local.length + name.length + content.length, 16);
  return Buffer.concat([local, name, content, central, name, end]);
}

test("an archive that unpacks to far more than it is, and a stream without end, change nothing", async () => {
  const source = await startSource();
  source.answers["/roster.csv"] = (_req, res) => res.writeHead(200).end(bomb());
  const id = await connect(admin, fileAt(source.address));
  expect(await runNow(admin, id)).toMatchObject({ failure: "FILE_REFUSED", detail: "archive_refused" });
  const endless: Answer = (_req, res) => {
    res.writeHead(200);
    const chunk = Buffer.alloc(2 ** 20, "a;b;c\n");
    const send = (): void => {
      while (!res.destroyed && res.write(chunk));
      if (!res.destroyed) res.once("drain", send);
    };
    send();
  };
  source.answers["/roster.csv"] = endless;
  expect(await runNow(admin, id)).toMatchObject({ failure: "TOO_LARGE" });
  source.answers["/v1p2/orgs"] = endless;
  const paged = await connect(admin, { kind: "ONEROSTER", address: `${source.address}/v1p2`, secret: "hush" });
  expect(await runNow(admin, paged)).toMatchObject({ failure: "TOO_LARGE" });
  const repeated: Answer = json({ orgs: Array.from({ length: 500 }, (_, at) => ({ sourcedId: `o-${at}` })) });
  source.answers["/v1p2/orgs"] = repeated;
  expect(await runNow(admin, paged)).toMatchObject({ failure: "ANSWERED_BADLY" });
});

test("an address that is not public is refused when it is typed, and when its name leads elsewhere later", async () => {
  const strict = await startService({ db });
  const call = (await makeStaff(strict, "SCHOOL_ADMIN", { schoolIds: [other] })).call;
  for (const address of [
    "http://127.0.0.1/x",
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://169.254.169.254/x",
  ]) {
    const body = { name: "X", kind: "HTTPS_FILE", schoolIds: [other], address };
    expect(refusalOf(await call("POST", "/roster-connections", { body }))).toEqual([400, "roster_setting_malformed"]);
  }
  const id = await connect(foreign, { kind: "HTTPS_FILE", schoolIds: [other], address: "http://127.0.0.1:9/x" });
  const settings = { address: "https://localhost:9/x" };
  await db.prisma.rosterConnection.update({ where: { id }, data: { settings } });
  expect(await runNow(call, id)).toMatchObject({ failure: "ADDRESS_REFUSED" });
});

test("a folder gives nothing outside of it, neither by its path nor by a link, and only operators use it", async () => {
  await writeFile(join(folder, "roster.csv"), csvOf(pupilsOf(4)));
  const secret = join(makeDataDir(), "secret.csv");
  await writeFile(secret, csvOf(pupilsOf(4, { from: 50 })));
  await symlink(secret, join(folder, "link.csv"));
  const body = { name: "F", kind: "FOLDER", schoolIds: [other] };
  expect(refusalOf(await foreign("POST", "/roster-connections", { body: { ...body, path: "roster.csv" } }))).toEqual([
    403,
    "role_forbids",
  ]);
  for (const path of ["../secret.csv", "a/../../secret.csv", "/etc/passwd", "."]) {
    const sent = await operator("POST", "/roster-connections", { body: { ...body, path } });
    expect(refusalOf(sent)).toEqual([400, "roster_setting_malformed"]);
  }
  const linked = await connect(operator, { ...body, path: "link.csv" });
  expect(await runNow(operator, linked)).toMatchObject({ failure: "NOT_FOUND" });
  const moved = await foreign("PATCH", `/roster-connections/${linked}`, { body: { path: "roster.csv" } });
  expect(refusalOf(moved)).toEqual([403, "role_forbids"]);
  const good = await connect(operator, { ...body, path: "roster.csv" });
  expect(await runNow(operator, good)).toMatchObject({ outcome: expect.stringMatching(/APPLIED|HELD/) as string });
});
