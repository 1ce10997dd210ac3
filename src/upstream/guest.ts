import { changeDirectory } from "../access/index.ts";
import { giveUserNames } from "../accounts/index.ts";
import { createPerson, findTextFault, type PersonName } from "../directory/index.ts";
import { recordAudit } from "../events/index.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { readDisplayName, readText, type Claims } from "./claims.ts";
import type { Account } from "./find-link.ts";
import { lockConnection } from "./connection.ts";
import type { ReadyConnection } from "./ready-connection.ts";

/**
 * Makes a person without a class for an account that the roster does not know. They are blocked: staff look at them and
 * unblock them, and until then nobody is signed in. Returns false for an account that is linked, as by another tab.
 */
export async function createGuest(
  db: PrismaDb,
  { connection, account }: { connection: ReadyConnection; account: Account },
  { now, requestId }: { now: Date; requestId: string | undefined },
): Promise<boolean> {
  const { id: connectionId, schoolId } = connection;
  const { issuer, subject } = account;
  const origin = { at: now, actorId: "upstream", requestId };
  return changeDirectory(db, origin, async (change) => {
    const { prisma } = change.tx;
    await lockConnection(change.tx, connectionId);
    if ((await prisma.upstreamLink.count({ where: { connectionId, issuer, subject } })) > 0) return false;
    const name = readName(account.claims);
    const personId = await createPerson(change, { role: "OTHER", name, schools: [schoolId] });
    await prisma.person.update({ where: { id: personId }, data: { blockedAt: now } });
    await giveUserNames(change.tx, { schoolId, people: [personId] }, now);
    const link = { connectionId, issuer, subject, personId, linkedAt: now, linkedBy: "STAFF" as const };
    await prisma.upstreamLink.create({ data: link });
    const detail = { connectionId };
    await recordAudit(change.tx, { ...origin, action: "upstream_guest_created", personId, schoolId, detail });
    return true;
  });
}

function readName(claims: Claims): PersonName | null {
  const whole = readDisplayName(claims)?.split(" ") ?? [];
  const first = readText(claims, "given_name") ?? whole.slice(0, -1).join(" ");
  const last = readText(claims, "family_name") ?? whole.at(-1) ?? "";
  const name = { firstFull: first, firstCall: first, last };
  return Object.values(name).every((part) => findTextFault(part) === null) ? name : null;
}
