import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { changeDirectory, type ClientId } from "../../src/access/index.ts";
import { softDeletePerson, type GroupId, type PersonId, type SchoolId } from "../../src/directory/index.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { hashId } from "../../src/sign-on/protocol/storage/artifact.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { startProgram } from "../support/program.ts";
import { findTraces, listTablesOfPeople } from "../support/traces.ts";

const db = await testDatabase();
const make = makeMakers(db);
const kills = 6;
const start = new Date("2026-02-03T08:00:00Z");
const later = (days: number): Date => new Date(start.getTime() + days * 86_400_000);
const now = later(31);
/** What is kept on purpose of somebody who is gone: ids and times, and never a name. */
const kept = {
  app_event: "apps read in the change feed that the person is gone",
  tombstone: "the id and the date of the deletion, which the contract answers with",
};

const softDelete = (people: readonly PersonId[], at: Date) =>
  changeDirectory(db, { at }, async (change) => {
    for (const personId of people) await softDeletePerson(change, { personId, restoreWindowDays: 30 });
  });

type Places = { school: SchoolId; groups: GroupId[]; app: ClientId };

/** People who have a row in every table that holds people. */
async function makePeople(count: number, { school, groups, app: clientId }: Places): Promise<PersonId[]> {
  const people = await make.people({ school, groups, count });
  const each = <T>(row: (personId: PersonId) => T) => ({
    data: people.map((personId) => ({ personId, ...row(personId) })),
  });
  await db.prisma.credential.createMany(
    each((id) => ({ username: `user-${id}`, passwordHash: "$argon2id$none", updatedAt: start })),
  );
  await db.prisma.signIn.createMany(each(() => ({ clientId, firstSignInAt: start, lastSignInAt: start })));
  await db.prisma.consent.createMany(each(() => ({ clientId, scopes: ["openid"], grantedAt: start })));
  await db.prisma.passwordRequest.createMany(each(() => ({ schoolId: school, requestedAt: start })));
  await db.prisma.schoolChoice.createMany(each(() => ({ clientId, schoolId: school })));
  await db.prisma.loginCard.createMany(
    each((id) => ({
      id: makeUuid(start),
      schoolId: school,
      tokenHash: new Uint8Array(hashId(`card ${id}`)),
      secondStep: "NONE" as const,
      createdAt: start,
    })),
  );
  const batch = { id: makeUuid(start), schoolId: school, caller: "app:a", newPasswords: true, withQr: false };
  await db.prisma.credentialBatch.create({
    data: { ...batch, onlyMissing: true, createdAt: start, expiresAt: later(86_400) },
  });
  await db.prisma.credentialBatchPerson.createMany(each(() => ({ batchId: batch.id })));
  await db.prisma.signInLimit.createMany(
    each((id) => ({ key: new Uint8Array(hashId(id)), failures: 1, waitUntil: start, forgetAt: later(60) })),
  );
  const handover = { id: makeUuid(start), fromSchoolId: school, toSchoolId: school, state: "OFFERED", offered: count };
  await db.prisma.handover.create({ data: { ...handover, createdAt: start, expiresAt: later(60) } });
  await db.prisma.handoverPerson.createMany(each(() => ({ handoverId: handover.id })));
  await db.prisma.logoutNotice.createMany(
    each((id) => ({ id: makeUuid(start), clientId, sid: id, nextAttemptAt: later(60), createdAt: start })),
  );
  await db.prisma.secondFactor.createMany(
    each((id) => ({
      id: makeUuid(start),
      kind: "TOTP" as const,
      label: "Phone",
      transports: [],
      createdAt: start,
      secret: new Uint8Array(hashId(`secret ${id}`)),
    })),
  );
  await db.prisma.recoveryCode.createMany(each((id) => ({ hash: new Uint8Array(hashId(`code ${id}`)) })));
  await db.prisma.staffRole.createMany(
    each(() => ({ id: makeUuid(start), role: "OPERATOR" as const, givenAt: start })),
  );
  await db.prisma.personImport.createMany(
    each(() => ({
      id: makeUuid(start),
      at: start,
      schoolId: school,
      importId: makeUuid(start),
      change: "CLASSES",
      classesBefore: ["5a"],
      classesAfter: ["6a"],
    })),
  );
  const importId = makeUuid(start);
  await db.prisma.import.create({
    data: { id: importId, format: "PLAIN", mode: "BULK", state: "APPLIED", fileName: "a.csv", createdAt: start },
  });
  await db.prisma.importChange.createMany(
    each((subjectId) => ({ importId, subjectId, schoolId: school, after: { id: subjectId }, keepUntil: later(60) })),
  );
  await db.prisma.wrongPassword.createMany(
    each((id) => ({ key: new Uint8Array(hashId(id)), hour: start, tries: 1, lastAt: start })),
  );
  for (const kind of ["Session", "RefreshToken", "AccessToken", "Interaction"]) {
    const artifact = { kind, clientId, expiresAt: later(60) };
    await db.prisma.oidcArtifact.createMany(
      each((id) => ({
        ...artifact,
        idHash: new Uint8Array(hashId(kind + id)),
        payload: { accountId: id },
        grantId: id,
        sessionUid: id,
      })),
    );
  }
  return people;
}

/**
 * What an app was told of first sign-ins; a change of the person takes these rows, so they are made after the last one.
 */
const announceSignIns = (people: readonly PersonId[], clientId: ClientId) =>
  db.prisma.announcedSignIn.createMany({
    data: people.map((personId) => ({
      personId,
      clientId,
      at: start,
      snapshot: { client_id: clientId, type: "person", subject_id: personId },
    })),
  });

/** Devices that people signed in on; a soft deletion forgets them, so they are made after the last one. */
const makeDevices = (people: readonly PersonId[]) =>
  db.prisma.knownDevice.createMany({
    data: people.map((personId) => ({ personId, device: new Uint8Array(hashId(personId)), lastUsedAt: start })),
  });

type Progress = { left: number; credentials: number; tombstones: number; told: number };

/** How far the purge is, as one statement sees it. */
async function readProgress(due: readonly PersonId[]): Promise<Progress> {
  const { rows } = await db.pool.query<Progress>(
    `SELECT (SELECT count(*)::int FROM person WHERE id = ANY ($1)) AS left, (SELECT count(*)::int FROM credential WHERE person_id = ANY ($1)) AS credentials,
       (SELECT count(*)::int FROM tombstone) AS tombstones, (SELECT count(DISTINCT subject_id)::int FROM app_event WHERE at = $2) AS told`,
    [due, now],
  );
  return rows[0]!;
}

test(`kill -9 ${kills} times in the middle of the purge: whoever is due is gone for good, each app is told of it once, and nobody else is touched`, async () => {
  const [synced, signedIn, stranger] = (await Promise.all([make.app(), make.app(), make.app()])).map(
    ({ clientId }) => clientId,
  ) as [ClientId, ClientId, ClientId];
  const school = await make.school();
  const groups = [await make.group({ school })];
  await make.grant({ app: synced, school, groups });
  await make.grant({ app: signedIn, school, sync: false });
  await make.grant({ app: stranger, school: await make.school() });
  const places = { school, groups, app: signedIn };
  const due = await makePeople(100, places);
  const others = await makePeople(3, places);
  await softDelete(due, start);
  // Two are within their restore window, the third was never deleted.
  await softDelete(others.slice(0, 2), later(10));
  await announceSignIns([...due, ...others], signedIn);
  await makeDevices([...due, ...others]);
  const untouched = await findTraces(db, others);
  const tables = (await listTablesOfPeople(db)).filter((table) => !(table in kept));
  expect(Object.keys(await findTraces(db, due))).toEqual(expect.arrayContaining(tables));

  const run = () => startProgram(["test/faults/purge-subject.ts"], { SUBJECT: JSON.stringify({ url: db.url, now }) });
  for (let kill = 0; kill < kills; kill++) {
    const before = await readProgress(due);
    const { child, ended } = run();
    while ((await readProgress(due)).left > before.left - 5) await sleep(2);
    // Each time a little further into the next transaction.
    await sleep(kill);
    child.kill("SIGKILL");
    expect((await ended).signal).toBe("SIGKILL");
    const { left, ...progress } = await readProgress(due);
    expect(progress).toEqual({ credentials: left, tombstones: due.length - left, told: due.length - left });
  }
  expect((await readProgress(due)).left).toBeGreaterThan(0);
  expect((await run().ended).code).toBe(0);

  expect(Object.keys(await findTraces(db, due))).toEqual(Object.keys(kept));
  expect((await readProgress(due)).tombstones).toBe(due.length);
  const { rows: told } = await db.pool.query<{ text: string }>(
    "SELECT concat_ws(' ', client_id, subject_id, type, action, reason, updated_properties::text) AS text FROM app_event WHERE at = $1",
    [now],
  );
  const gone = [synced, signedIn].flatMap((app) => due.map((person) => `${app} ${person} person delete deleted {}`));
  expect(told.map(({ text }) => text).toSorted()).toEqual(gone.toSorted());
  expect(await db.prisma.audit.count({ where: { action: "person_deleted", personId: null } })).toBe(due.length);
  expect(await findTraces(db, others)).toEqual(untouched);
});
