import type { Prisma } from "../../generated/prisma/client.ts";
import { giveUserNames } from "../accounts/index.ts";
import { personNameOf, type PersonId, type PersonName, type SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { refusalOf } from "./find-link.ts";
import type { ConnectionId, RefusalId } from "./ids.ts";
import { openDetails, refusalNotFound } from "./refusals.ts";
import { findPersonFacts, toRuleParameters } from "./roster.ts";
import { endSessionsIn } from "./sessions.ts";

export type Link = Omit<Prisma.UpstreamLinkModel, "connectionId" | "personId" | "lacksClaim"> & {
  connectionId: ConnectionId;
  connectionName: string;
  schoolId: SchoolId;
  personId: PersonId;
  name: PersonName | null;
};

/** In the order of the people's ids; `after` is the last person of the page before. */
export async function listLinks(
  { prisma }: RecordStore,
  of: { connectionId?: ConnectionId; personId?: PersonId; after?: PersonId | undefined; limit: number },
): Promise<Link[]> {
  const { connectionId, personId, after, limit } = of;
  const links = await prisma.upstreamLink.findMany({
    where: {
      ...(connectionId !== undefined && { connectionId }),
      ...(personId !== undefined && { personId }),
      ...(after !== undefined && { AND: { personId: { gt: after } } }),
    },
    include: {
      connection: { select: { name: true, schoolId: true } },
      person: { select: { firstFull: true, firstCall: true, last: true } },
    },
    orderBy: [{ personId: "asc" }, { connectionId: "asc" }],
    take: limit,
  });
  return links.map(({ connection, person, ...link }) => ({
    ...link,
    connectionId: link.connectionId as ConnectionId,
    connectionName: connection.name,
    schoolId: connection.schoolId as SchoolId,
    personId: link.personId as PersonId,
    name: personNameOf(person),
  }));
}

/** Links a refused account to a person of the school. Errors: not_found; conflict upstream_link_exists. */
export async function linkByHandIn(
  tx: Transaction,
  { refusalId, personId }: { refusalId: RefusalId; personId: PersonId },
  { keys, origin }: { keys: EncryptionKeys; origin: Origin },
): Promise<void> {
  const row = await tx.prisma.upstreamRefusal.findUnique({ where: { id: refusalId }, include: { connection: true } });
  const details = row && openDetails(keys, row);
  if (row === null || details === null || details.subject === null || details.issuer !== row.connection.issuer)
    throw refusalNotFound();
  const { id: connectionId, schoolId } = row.connection;
  const school = schoolId as SchoolId;
  const params = { ...toRuleParameters(row.connection), schoolId: school, groupIds: [], value: null, now: origin.at };
  const facts = await findPersonFacts(tx, { ...params, personId });
  if (facts === null || refusalOf(facts) === "NOBODY_MATCHES")
    throw new AppError("not_found", "person_not_found", "The person does not exist.");
  const { issuer, subject } = details;
  const linked = { connectionId, issuer, subject, personId, linkedAt: origin.at, linkedBy: "STAFF" as const };
  const lacksClaim = details.ruleClaim !== null && details.ruleValue === null;
  const data = [{ ...linked, lacksClaim }];
  const { count } = await tx.prisma.upstreamLink.createMany({ data, skipDuplicates: true });
  if (count === 0)
    throw new AppError(
      "conflict",
      "upstream_link_exists",
      "The person or the account is linked already. Remove that link first.",
    );
  if (facts.generation === null) await giveUserNames(tx, { schoolId: school, people: [personId] }, origin.at);
  await tx.prisma.upstreamRefusal.deleteMany({ where: { connectionId, subjectHash: row.subjectHash } });
  const detail = { connectionId, by: "staff" };
  await recordAudit(tx, { ...origin, action: "upstream_linked", personId, schoolId, detail });
}

/** Ends also what was opened with the link. Errors: not_found upstream_link_not_found. */
export async function unlinkIn(
  tx: Transaction,
  { connectionId, personId }: { connectionId: ConnectionId; personId: PersonId },
  origin: Origin,
): Promise<void> {
  const where = { connectionId, personId };
  const link = await tx.prisma.upstreamLink.findFirst({
    where,
    select: { connection: { select: { schoolId: true } } },
  });
  const { count } = await tx.prisma.upstreamLink.deleteMany({ where });
  if (link === null || count === 0)
    throw new AppError("not_found", "upstream_link_not_found", "The person has no link with this login.");
  await endSessionsIn(tx, where, origin.at);
  // What the account brought says whom it belonged to.
  await tx.prisma.upstreamRecentSignIn.deleteMany({ where });
  const { schoolId } = link.connection;
  await recordAudit(tx, { ...origin, action: "upstream_unlinked", personId, schoolId, detail: { connectionId } });
}
