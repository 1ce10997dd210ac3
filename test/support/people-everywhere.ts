import type { ClientId } from "../../src/access/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { addDays } from "../../src/platform/clock.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { hashId } from "../../src/sign-on/protocol/storage/artifact.ts";
import { makeConnectionRow } from "./upstream-rows.ts";

type Places = { school: SchoolId; app: ClientId; at: Date };

/** Gives each person a row in every table that holds people, but for those that a soft deletion empties. */
export async function fillTablesOfPeople(
  db: PrismaDb,
  people: readonly PersonId[],
  { school, app: clientId, at }: Places,
): Promise<void> {
  const each = <T>(row: (personId: PersonId) => T) => ({
    data: people.map((personId) => ({ personId, ...row(personId) })),
  });
  await db.prisma.credential.createMany(
    each((id) => ({ username: `user-${id}`, passwordHash: "$argon2id$none", updatedAt: at })),
  );
  await db.prisma.signIn.createMany(each(() => ({ clientId, firstSignInAt: at, lastSignInAt: at })));
  const reported = { clientId, schoolId: school, month: at, reportedAt: at, isNewest: true, trial: false };
  await db.prisma.accessReport.createMany(each(() => ({ ...reported, id: makeUuid(at), type: "SCHOOL" as const })));
  await db.prisma.consent.createMany(each(() => ({ clientId, scopes: ["openid"], grantedAt: at })));
  await db.prisma.retentionExemption.createMany(
    each(() => ({ until: addDays(at, 60), reason: "Repeats an examination.", givenAt: at })),
  );
  await db.prisma.passwordRequest.createMany(each(() => ({ schoolId: school, requestedAt: at })));
  await db.prisma.schoolChoice.createMany(each(() => ({ clientId, schoolId: school })));
  const connectionId = await makeConnectionRow(db, { school, at });
  const upstream = { connectionId, issuer: "https://iserv.example", linkedAt: at, linkedBy: "RULE" as const };
  await db.prisma.upstreamLink.createMany(each((subject) => ({ ...upstream, subject })));
  const session = { connectionId, createdAt: at, checkAt: at };
  await db.prisma.upstreamSession.createMany(each((sub) => ({ ...session, id: makeUuid(at), sub })));
  let place = 0;
  await db.prisma.upstreamRecentSignIn.createMany(
    each(() => ({ connectionId, place: place++, claims: new Uint8Array(32), at })),
  );
  await db.prisma.loginCard.createMany(
    each((id) => ({
      id: makeUuid(at),
      schoolId: school,
      tokenHash: new Uint8Array(hashId(`card ${id}`)),
      secondStep: "NONE" as const,
      createdAt: at,
    })),
  );
  await db.prisma.pictureCode.createMany(
    each((id) => ({ schoolId: school, hash: new Uint8Array(hashId(`pictures ${id}`)), chosenAt: at })),
  );
  const batch = { id: makeUuid(at), schoolId: school, caller: "app:a", newPasswords: true, withQr: false };
  await db.prisma.credentialBatch.create({
    data: { ...batch, onlyMissing: true, createdAt: at, expiresAt: addDays(at, 86_400) },
  });
  await db.prisma.credentialBatchPerson.createMany(each(() => ({ batchId: batch.id })));
  await db.prisma.signInLimit.createMany(
    each((id) => ({ key: new Uint8Array(hashId(id)), failures: 1, waitUntil: at, forgetAt: addDays(at, 60) })),
  );
  const handover = {
    id: makeUuid(at),
    fromSchoolId: school,
    toSchoolId: school,
    state: "OFFERED",
    offered: people.length,
  };
  await db.prisma.handover.create({ data: { ...handover, createdAt: at, expiresAt: addDays(at, 60) } });
  await db.prisma.handoverPerson.createMany(each(() => ({ handoverId: handover.id })));
  const merger = {
    id: makeUuid(at),
    fromSchoolId: school,
    intoSchoolId: school,
    people: people.length,
    groups: 0,
    apps: 0,
  };
  await db.prisma.schoolMerger.create({ data: { ...merger, mergedAt: at, undoUntil: addDays(at, 60) } });
  const came = { mergerId: merger.id, wasHome: true, wasAtBoth: false, sourceSystemIdentifier: "1" };
  await db.prisma.mergedPerson.createMany(each(() => came));
  await db.prisma.logoutNotice.createMany(
    each((id) => ({ id: makeUuid(at), clientId, sid: id, nextAttemptAt: addDays(at, 60), createdAt: at })),
  );
  await db.prisma.secondFactor.createMany(
    each((id) => ({
      id: makeUuid(at),
      kind: "TOTP" as const,
      label: "Phone",
      transports: [],
      createdAt: at,
      secret: new Uint8Array(hashId(`secret ${id}`)),
    })),
  );
  await db.prisma.recoveryCode.createMany(each((id) => ({ hash: new Uint8Array(hashId(`code ${id}`)) })));
  await db.prisma.staffRole.createMany(each(() => ({ id: makeUuid(at), role: "OPERATOR" as const, givenAt: at })));
  await db.prisma.personImport.createMany(
    each(() => ({
      id: makeUuid(at),
      at: at,
      schoolId: school,
      importId: makeUuid(at),
      change: "CLASSES",
      classesBefore: ["5a"],
      classesAfter: ["6a"],
    })),
  );
  await db.prisma.dataRequest.createMany(
    each((closedById) => ({
      id: makeUuid(at),
      schoolId: school,
      askedBy: "PERSON" as const,
      receivedOn: at,
      dueOn: at,
      outcome: "ANSWERED" as const,
      closedAt: at,
      closedById,
    })),
  );
  const importId = makeUuid(at);
  await db.prisma.import.create({
    data: { id: importId, format: "PLAIN", mode: "BULK", state: "APPLIED", fileName: "a.csv", createdAt: at },
  });
  await db.prisma.importChange.createMany(
    each((subjectId) => ({
      importId,
      subjectId,
      schoolId: school,
      after: { id: subjectId },
      keepUntil: addDays(at, 60),
    })),
  );
  await db.prisma.wrongPassword.createMany(
    each((id) => ({ key: new Uint8Array(hashId(id)), hour: at, tries: 1, lastAt: at })),
  );
  for (const kind of ["Session", "RefreshToken", "AccessToken", "Interaction"]) {
    const artifact = { kind, clientId, expiresAt: addDays(at, 60) };
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
}

/**
 * The same for tables that a soft deletion or another change of the person empties, to be called after the last one:
 * what an app was told of first sign-ins, and devices that people signed in on.
 */
export async function fillTablesOfDeleted(
  db: PrismaDb,
  people: readonly PersonId[],
  { app: clientId, at }: Places,
): Promise<void> {
  await db.prisma.announcedSignIn.createMany({
    data: people.map((personId) => ({
      personId,
      clientId,
      at,
      snapshot: { client_id: clientId, type: "person", subject_id: personId },
    })),
  });
  await db.prisma.knownDevice.createMany({
    data: people.map((personId) => ({ personId, device: new Uint8Array(hashId(personId)), lastUsedAt: at })),
  });
}
