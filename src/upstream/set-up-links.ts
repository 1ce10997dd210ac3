import { randomBytes } from "node:crypto";
import type { Prisma } from "../../generated/prisma/client.ts";
import type { GroupId, SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { addDays } from "../platform/clock.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { storeOf, withPrismaTransaction } from "../platform/database/db.ts";
import type { PrismaDb, RecordStore, Transaction } from "../platform/database/db.ts";
import { checkLimit, makeRun, sql, table, update, type Queryable } from "../platform/database/sql.ts";
import { AppError, refuseProperty } from "../platform/errors.ts";
import { keepClaims, type Claims } from "./claims.ts";
import { connectionNotFound, findConnection, lockConnection } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId, SetUpLinkId } from "./ids.ts";
import type { ReadyConnection } from "./ready-connection.ts";
import { hashSecret } from "./round-trip.ts";
import { findMentions } from "./mentions.ts";
import { openJson, sealJson } from "./sealed-json.ts";
import { tryRules, type TestedSignIn } from "./test-sign-in.ts";
import { ends } from "./what-changes-end.ts";

type Ids = { id: SetUpLinkId; connectionId: ConnectionId; schoolId: SchoolId };
export type SetUpLink = Ids & Pick<Prisma.UpstreamSetUpLinkModel, "createdAt" | "expiresAt" | "openedAt" | "closedAt">;

const mostDays = 30;
const mostOpen = 5;
/** Limits test sign-ins, because each one reveals whether its claims match somebody at the school. */
const mostTests = 20;

/** The token is shown once. Errors: invalid for the days; not_found; conflict set_up_links_open. */
export async function createSetUpLinkIn(
  tx: Transaction,
  { connectionId, days }: { connectionId: ConnectionId; days: number },
  origin: Origin,
): Promise<{ id: SetUpLinkId; token: string; expiresAt: Date }> {
  if (!Number.isInteger(days) || days < 1 || days > mostDays)
    throw refuseProperty("text_malformed", "days", `must be between 1 and ${mostDays}`);
  const { prisma } = tx;
  await checkLimit({
    lock: () => lockConnection(tx, connectionId),
    count: () => prisma.upstreamSetUpLink.count({ where: { connectionId, ...usableAt(origin.at) } }),
    most: mostOpen,
    full: () => new AppError("conflict", "set_up_links_open", `Close a set-up link first: ${mostOpen} are open.`),
  });
  const connection = await findConnection(tx, connectionId);
  if (connection === null) throw connectionNotFound();
  const [id, token] = [makeUuid(origin.at) as SetUpLinkId, randomBytes(32).toString("base64url")];
  const expiresAt = addDays(origin.at, days);
  const createdByRole = origin.actorRole ?? null;
  const data = { id, connectionId, tokenHash: hashSecret(token), createdAt: origin.at, createdByRole, expiresAt };
  await prisma.upstreamSetUpLink.create({ data });
  const detail = { connectionId, setUpLinkId: id };
  await recordAudit(tx, { ...origin, action: "set_up_link_created", schoolId: connection.schoolId, detail });
  return { id, token, expiresAt };
}

const linkFields = {
  id: true,
  connectionId: true,
  createdAt: true,
  expiresAt: true,
  openedAt: true,
  closedAt: true,
  connection: { select: { schoolId: true } },
} satisfies Prisma.UpstreamSetUpLinkSelect;

const present = ({
  connection,
  ...row
}: Prisma.UpstreamSetUpLinkGetPayload<{ select: typeof linkFields }>): SetUpLink => ({
  ...row,
  id: row.id as SetUpLinkId,
  connectionId: row.connectionId as ConnectionId,
  schoolId: connection.schoolId as SchoolId,
});

/** Lists links that have not expired, latest first. */
export async function listSetUpLinks(
  { prisma }: RecordStore,
  connectionId: ConnectionId,
  at: Date,
): Promise<SetUpLink[]> {
  const where = { connectionId, expiresAt: { gt: at } };
  return (await prisma.upstreamSetUpLink.findMany({ where, select: linkFields, orderBy: { id: "desc" } })).map(present);
}

const usableAt = (at: Date) => ({ closedAt: null, expiresAt: { gt: at } });

/** Binds the link to the first browser. Null for a link that is unknown, closed, expired or another browser's. */
export async function openSetUpLink(
  db: RecordStore,
  { token, browser, at }: { token: string; browser: string; at: Date },
): Promise<SetUpLink | null> {
  const [tokenHash, browserHash] = [hashSecret(token), hashSecret(browser)];
  const unopened = { tokenHash, openedAt: null, ...usableAt(at) };
  await db.prisma.upstreamSetUpLink.updateMany({ where: unopened, data: { openedAt: at, browserHash } });
  return findLink(db, { tokenHash, browserHash, ...usableAt(at) });
}

async function findLink({ prisma }: RecordStore, where: Prisma.UpstreamSetUpLinkWhereInput): Promise<SetUpLink | null> {
  const link = await prisma.upstreamSetUpLink.findFirst({ where, select: linkFields });
  return link && present(link);
}

/** As `openSetUpLink`, for the pages after the first. */
export const findSetUpLink = (db: RecordStore, { id, browser, at }: { id: SetUpLinkId; browser: string; at: Date }) =>
  findLink(db, { id, browserHash: hashSecret(browser), ...usableAt(at) });

/** Errors: not_found set_up_link_not_found. */
export async function closeSetUpLinkIn(tx: Transaction, id: SetUpLinkId, origin: Origin): Promise<void> {
  const link = await findLink(tx, { id, closedAt: null });
  if (link === null) throw new AppError("not_found", "set_up_link_not_found", "The set-up link is not open.");
  await tx.prisma.upstreamSetUpLink.update({ where: { id }, data: { closedAt: origin.at, tested: null } });
  const { connectionId, schoolId } = link;
  const detail = { connectionId, setUpLinkId: id };
  await recordAudit(tx, { ...origin, action: "set_up_link_closed", schoolId, detail });
}

export async function closeSetUpLinksIn(tx: Transaction, connectionId: ConnectionId, origin: Origin): Promise<void> {
  const where = { connectionId, closedAt: null, expiresAt: { gt: origin.at } };
  const open = await tx.prisma.upstreamSetUpLink.findMany({ where, select: { id: true } });
  for (const { id } of open) await closeSetUpLinkIn(tx, id as SetUpLinkId, origin);
}

const link = table("upstreamSetUpLink", "link");

const countOne = makeRun<{ id: SetUpLinkId }>("upstream.countTest")`
    ${update("upstreamSetUpLink", "link", { tests: sql`${link.tests} + 1` })}
    WHERE ${link.id} = ${"id"} AND ${link.tests} < ${mostTests}`;

/** Counts a test sign-in before the roster is looked at. Errors: TEST_LIMIT. */
export async function countTest(db: Queryable, id: SetUpLinkId): Promise<void> {
  if ((await countOne(db, { id })) === 0) throw new UpstreamError("TEST_LIMIT");
}

const purposeOf = (id: SetUpLinkId): string => `tested:${id}`;

/** An earlier version kept no `moreClaims`. */
type StoredTest = Omit<TestedSignIn, "moreClaims"> & { moreClaims?: number; arrived: Claims };

const connectionFields = {
  id: true,
  schoolId: true,
  profile: true,
  schoolClaim: true,
  schoolValue: true,
  groupIds: true,
  ruleClaim: true,
  ruleField: true,
  normalisations: true,
} satisfies Prisma.UpstreamConnectionSelect;

/**
 * Marks the connection as tested, and keeps what arrived for the browser of the link. Scopes that the provider did not
 * release are given up, which staff must confirm as other changes. Errors: EXPIRED if the link was closed meanwhile, or
 * something was changed that must be tested again.
 */
export async function keepTestedSignIn(
  db: PrismaDb,
  params: { id: SetUpLinkId; connection: ReadyConnection; tested: TestedSignIn; claims: Claims },
  keys: EncryptionKeys,
): Promise<void> {
  const { id, connection, tested, claims } = params;
  const { at, scopes } = tested;
  const test: StoredTest = { ...tested, arrived: keepClaims(claims) };
  await withPrismaTransaction(db, async (tx) => {
    const { upstreamConnection, upstreamSetUpLink } = tx.prisma;
    await lockConnection(tx, connection.id);
    const current = await findConnection(tx, connection.id);
    const where = { id, connectionId: connection.id, closedAt: null };
    const { count } = await upstreamSetUpLink.updateMany({
      where,
      data: { tested: sealJson(keys, purposeOf(id), test), mentions: await findMentions(tx, test) },
    });
    if (current === null || count === 0 || ends("test", connection, current))
      throw new UpstreamError("EXPIRED", "the set-up link was closed or the connection has changed");
    const confirmedForStaff = current.confirmedForStaff && !ends("confirmation", current, { ...current, scopes });
    const data = { testedAt: at, scopes, confirmedForStaff, lastSuccessAt: at, failingSince: null };
    await upstreamConnection.update({ where: { id: connection.id }, data });
  });
}

/** What arrived at the last test sign-in of this link, and what the rule of now does with it. */
export async function findTestedSignIn(
  db: PrismaDb,
  id: SetUpLinkId,
  keys: EncryptionKeys,
): Promise<TestedSignIn | null> {
  const link = await db.prisma.upstreamSetUpLink.findFirst({
    where: { id, closedAt: null, tested: { not: null } },
    select: { tested: true, connection: { select: connectionFields } },
  });
  const test = link && openJson<StoredTest>(keys, purposeOf(id), link.tested!);
  if (!test) return null;
  const { arrived: claims, ...tested } = test;
  const at = new Date(test.at);
  const { id: connectionId, schoolId, groupIds, ...rule } = link.connection;
  const ids = { id: connectionId as ConnectionId, schoolId: schoolId as SchoolId, groupIds: groupIds as GroupId[] };
  const { moreClaims = 0 } = tested;
  return {
    ...tested,
    moreClaims,
    at,
    ...(await tryRules(storeOf(db), { ...rule, ...ids }, { ...tested, claims, now: at })),
  };
}
