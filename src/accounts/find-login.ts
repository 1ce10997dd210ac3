import type { PersonId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";

/** `sessions` are browsers that are signed in. */
export async function findLogin({ prisma }: RecordStore, personId: PersonId, now: Date) {
  const credential = await prisma.credential.findUnique({
    where: { personId },
    select: {
      username: true,
      passwordHash: true,
      updatedAt: true,
      generation: true,
      person: { select: { blockedAt: true } },
    },
  });
  if (credential === null) return null;
  const { username, passwordHash, updatedAt, generation, person } = credential;
  const sessions = await prisma.oidcArtifact.count({
    where: { kind: "Session", personId, generation, expiresAt: { gt: now } },
  });
  const { blockedAt } = person;
  return { personId, username, hasPassword: passwordHash !== null, changedAt: updatedAt, blockedAt, sessions };
}

export type UserName = { username: string; hasPassword: boolean };

export async function listUserNames(
  { prisma }: RecordStore,
  personIds: readonly PersonId[],
): Promise<ReadonlyMap<PersonId, UserName>> {
  const logins = await prisma.credential.findMany({
    where: { personId: { in: [...personIds] } },
    select: { personId: true, username: true, passwordHash: true },
  });
  return new Map(
    logins.map(({ personId, username, passwordHash }) => [
      personId as PersonId,
      { username, hasPassword: passwordHash !== null },
    ]),
  );
}
