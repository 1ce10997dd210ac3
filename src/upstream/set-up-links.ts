import { randomBytes } from "node:crypto";
import type { Prisma } from "../../generated/prisma/client.ts";
import type { GroupId, SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { storeOf, type PrismaDb, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { keepClaims, type Claims } from "./claims.ts";
import { connectionNotFound } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId, SetUpLinkId } from "./ids.ts";
import { hashSecret } from "./round-trip.ts";
import { openJson, sealJson } from "./sealed-json.ts";
import { tryRules, type TestedSignIn } from "./test-sign-in.ts";

export type SetUpLink = {
  id: SetUpLinkId;
  connectionId: ConnectionId;
  schoolId: SchoolId;
  createdAt: Date;
  expiresAt: Date;
  openedAt: Date | null;
  closedAt: Date | null;
};

const mostDays = 30;
const mostOpen = 5;

/** The token is shown once. Errors: invalid for the days; not_found; conflict set_up_links_open. */
export async function createSetUpLinkIn(
  tx: Transaction,
  { connectionId, days }: { connectionId: ConnectionId; days: number },
  origin: Origin,
): Promise<{ id: SetUpLinkId; token: string; expiresAt: Date }> {
  if (!Number.isInteger(days) || days < 1 || days > mostDays)
    throw new AppError("invalid", "text_malformed", `days must be between 1 and ${mostDays}.`);
  const { prisma } = tx;
  const connection = await prisma.upstreamConnection.findUnique({
    where: { id: connectionId },
    select: { schoolId: true },
  });
  if (connection === null) throw connectionNotFound();
  const open = { connectionId, closedAt: null, expiresAt: { gt: origin.at } };
  if ((await prisma.upstreamSetUpLink.count({ where: open })) >= mostOpen)
    throw new AppError("conflict", "set_up_links_open", `Close a set-up link first: ${mostOpen} are open.`);
  const [id, token] = [makeUuid(origin.at) as SetUpLinkId, randomBytes(32).toString("base64url")];
  const expiresAt = new Date(origin.at.getTime() + days * 86_400_000);
  const createdByRole = origin.actorRole ?? null;
  const data = { id, connectionId, tokenHash: hashSecret(token), createdAt: origin.at, createdByRole, expiresAt };
  await prisma.upstreamSetUpLink.create({ data });
  const detail = { connectionId, setUpLinkId: id };
  await recordAudit(tx, { ...origin, action: "set_up_link_created", schoolId: connection.schoolId, detail });
  return { id, token, expiresAt };
}

const shown = {
  id: true,
  connectionId: true,
  createdAt: true,
  expiresAt: true,
  openedAt: true,
  closedAt: true,
  connection: { select: { schoolId: true } },
} satisfies Prisma.UpstreamSetUpLinkSelect;

const present = ({ connection, ...row }: Prisma.UpstreamSetUpLinkGetPayload<{ select: typeof shown }>): SetUpLink => ({
  ...row,
  id: row.id as SetUpLinkId,
  connectionId: row.connectionId as ConnectionId,
  schoolId: connection.schoolId as SchoolId,
});

/** Those that have not expired, latest first. */
export async function listSetUpLinks(
  { prisma }: RecordStore,
  connectionId: ConnectionId,
  at: Date,
): Promise<SetUpLink[]> {
  const where = { connectionId, expiresAt: { gt: at } };
  return (await prisma.upstreamSetUpLink.findMany({ where, select: shown, orderBy: { id: "desc" } })).map(present);
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
  const where = { tokenHash, browserHash, ...usableAt(at) };
  const found = await db.prisma.upstreamSetUpLink.findFirst({ where, select: shown });
  return found && present(found);
}

/** As `openSetUpLink`, for the pages after the first. */
export async function findSetUpLink(
  { prisma }: RecordStore,
  { id, browser, at }: { id: SetUpLinkId; browser: string; at: Date },
): Promise<SetUpLink | null> {
  const where = { id, browserHash: hashSecret(browser), ...usableAt(at) };
  const found = await prisma.upstreamSetUpLink.findFirst({ where, select: shown });
  return found && present(found);
}

/** Errors: not_found set_up_link_not_found. */
export async function closeSetUpLinkIn(tx: Transaction, id: SetUpLinkId, origin: Origin): Promise<void> {
  const found = await tx.prisma.upstreamSetUpLink.findFirst({ where: { id, closedAt: null }, select: shown });
  if (found === null) throw new AppError("not_found", "set_up_link_not_found", "The set-up link is not open.");
  await tx.prisma.upstreamSetUpLink.update({ where: { id }, data: { closedAt: origin.at, tested: null } });
  const { connectionId, schoolId } = present(found);
  const detail = { connectionId, setUpLinkId: id };
  await recordAudit(tx, { ...origin, action: "set_up_link_closed", schoolId, detail });
}

const purposeOf = (id: SetUpLinkId): string => `tested:${id}`;

/** An earlier version kept no `moreClaims`. */
type Kept = Omit<TestedSignIn, "moreClaims"> & { moreClaims?: number; arrived: Claims };

const asked = {
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
 * Marks the connection as tested, and keeps what arrived for the browser of the link. Errors: EXPIRED if the link was
 * closed or the connection got another issuer meanwhile.
 */
export async function keepTestedSignIn(
  { prisma }: RecordStore,
  { id, tested, claims }: { id: SetUpLinkId; tested: TestedSignIn; claims: Claims },
  keys: EncryptionKeys,
): Promise<void> {
  const { at, issuer, scopes } = tested;
  const { count } = await prisma.upstreamConnection.updateMany({
    where: { issuer, setUpLinks: { some: { id, closedAt: null } } },
    data: { testedAt: at, scopes, lastSuccessAt: at, failingSince: null },
  });
  if (count === 0) throw new UpstreamError("EXPIRED", "the set-up link was closed or the connection has changed");
  const kept: Kept = { ...tested, arrived: keepClaims(claims) };
  const where = { id, closedAt: null };
  await prisma.upstreamSetUpLink.updateMany({ where, data: { tested: sealJson(keys, purposeOf(id), kept) } });
}

/** What arrived at the last test sign-in of this link, and what the rule of now does with it. */
export async function findTestedSignIn(
  db: PrismaDb,
  id: SetUpLinkId,
  keys: EncryptionKeys,
): Promise<TestedSignIn | null> {
  const found = await db.prisma.upstreamSetUpLink.findFirst({
    where: { id, closedAt: null, tested: { not: null } },
    select: { tested: true, connection: { select: asked } },
  });
  const kept = found && openJson<Kept>(keys, purposeOf(id), found.tested!);
  if (!kept) return null;
  const { arrived: claims, ...tested } = kept;
  const at = new Date(kept.at);
  const { id: connectionId, schoolId, groupIds, ...rule } = found.connection;
  const ids = { id: connectionId as ConnectionId, schoolId: schoolId as SchoolId, groupIds: groupIds as GroupId[] };
  const { moreClaims = 0 } = tested;
  return {
    ...tested,
    moreClaims,
    at,
    ...(await tryRules(storeOf(db), { ...rule, ...ids }, { ...tested, claims, now: at })),
  };
}
