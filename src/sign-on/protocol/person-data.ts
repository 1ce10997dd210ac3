import type { ClientId } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { RecordStore } from "../../platform/database/db.ts";

const nothing = {
  what: null as string | null,
  at: null as Date | null,
  lastUsedAt: null as Date | null,
  until: null as Date | null,
  clientId: null as ClientId | null,
  schoolId: null as SchoolId | null,
};
export type StoredEntry = typeof nothing;

const entry = (of: Partial<StoredEntry>): StoredEntry => ({ ...nothing, ...of });

/** Contains no secret and no hash; earlier user names are kept as keyed hashes only. */
export async function readSignOnData({ prisma }: RecordStore, personId: PersonId) {
  const where = { personId };
  const byTime = { orderBy: { createdAt: "asc" as const } };
  const choices = await prisma.schoolChoice.findMany({ where, select: { clientId: true, schoolId: true } });
  const devices = await prisma.knownDevice.findMany({ where, select: { lastUsedAt: true } });
  const tries = await prisma.signInLimit.findMany({ where, select: { failures: true, forgetAt: true } });
  const wrong = await prisma.wrongPassword.findMany({ where, orderBy: { hour: "asc" } });
  const factors = await prisma.secondFactor.findMany({ where, ...byTime });
  const cards = await prisma.loginCard.findMany({ where, ...byTime });
  const pictures = await prisma.pictureCode.findMany({ where, select: { schoolId: true, chosenAt: true } });
  const links = await prisma.upstreamLink.findMany({
    where,
    select: { issuer: true, subject: true, linkedAt: true, connection: { select: { schoolId: true } } },
    orderBy: { linkedAt: "asc" },
  });
  const requests = await prisma.passwordRequest.findMany({ where, orderBy: { requestedAt: "asc" } });
  const notices = await prisma.logoutNotice.findMany({ where, ...byTime });
  return {
    userNames: await prisma.userName.count({ where }),
    recoveryCodes: await prisma.recoveryCode.count({ where }),
    schoolChoices: choices.map(({ clientId, schoolId }) =>
      entry({ clientId: clientId as ClientId, schoolId: schoolId as SchoolId }),
    ),
    knownDevices: devices.map(({ lastUsedAt }) => entry({ at: lastUsedAt })),
    failedTries: [
      ...tries.map(({ failures, forgetAt }) => entry({ what: String(failures), until: forgetAt })),
      ...wrong.map(({ tries: count, lastAt }) => entry({ what: String(count), at: lastAt, until: addDays(lastAt, 1) })),
    ],
    secondFactors: factors.map(({ kind, label, createdAt, lastUsedAt }) =>
      entry({ what: `${kind} ${label}`, at: createdAt, lastUsedAt }),
    ),
    loginCards: cards.map(({ createdAt, revokedAt, schoolId }) =>
      entry({ at: createdAt, until: revokedAt, schoolId: schoolId as SchoolId }),
    ),
    pictureCodes: pictures.map(({ chosenAt, schoolId }) => entry({ at: chosenAt, schoolId: schoolId as SchoolId })),
    upstreamAccounts: links.map(({ issuer, subject, linkedAt, connection }) =>
      entry({ what: `${issuer} ${subject}`, at: linkedAt, schoolId: connection.schoolId as SchoolId }),
    ),
    passwordRequests: requests.map(({ requestedAt, schoolId }) =>
      entry({ at: requestedAt, schoolId: schoolId as SchoolId }),
    ),
    logoutNotices: notices.map(({ createdAt, clientId }) => entry({ at: createdAt, clientId: clientId as ClientId })),
  };
}
