import { timingSafeEqual } from "node:crypto";
import { gradeOfNames, type PersonId, type SchoolId } from "../../directory/index.ts";
import { recordAudit } from "../../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../platform/database/db.ts";
import { secondsUntil, takeTokens } from "../../platform/database/token-bucket.ts";
import { listRolesOf } from "../../staff/index.ts";
import { countedAddress, countedSite, makeKeyMaker } from "../login/known-devices.ts";
import { findCardRefusal, type CardRefusal } from "./allowed.ts";
import type { CardId } from "./cards.ts";
import { hashAnswer, hashCardToken } from "./make-card.ts";
import { readCardSettings, type CardHours, type CardSecondStep } from "./settings.ts";

/** A card that signs its person in, here and now. Shape: `cardId` is its id, as a sign-in names it. */
export type UsableCard = {
  cardId: CardId;
  personId: PersonId;
  schoolId: SchoolId;
  firstName: string | null;
  generation: number;
  secondStep: CardSecondStep;
  secondStepHash: Buffer | null;
};

export type CardCheck =
  | { kind: "usable"; card: UsableCard }
  | { kind: "refused"; reason: "invalid" | "blocked" | Exclude<CardRefusal, "hours"> }
  | { kind: "refused"; reason: "hours"; hours: CardHours | null };

const included = {
  affiliation: {
    include: {
      person: { include: { credential: { select: { generation: true } } } },
      memberships: {
        where: { group: { type: "KLASSE" as const, status: "ACTIVE" as const } },
        select: { group: { select: { name: true } } },
      },
    },
  },
};

/** Finds out whether a card signs somebody in. Shape: one that is revoked is `invalid`, as one that never was. */
export async function checkCard(
  db: PrismaDb,
  { token, at, address }: { token: string; at: Date; address: string },
): Promise<CardCheck> {
  const tokenHash = new Uint8Array(hashCardToken(token));
  const row = await db.prisma.loginCard.findUnique({ where: { tokenHash }, include: included });
  if (row === null || row.revokedAt !== null) return { kind: "refused", reason: "invalid" };
  const { person, memberships } = row.affiliation;
  const [personId, schoolId] = [row.personId as PersonId, row.schoolId as SchoolId];
  const isStaff = (await listRolesOf(db, { personIds: [personId], now: at })).has(personId);
  // A card of a school that is no longer the home is not one: nobody there could revoke it.
  const isOfHome = person.homeSchoolId === schoolId;
  if (!isOfHome || person.status !== "ACTIVE" || person.credential === null || isStaff)
    return { kind: "refused", reason: "invalid" };
  if (person.blockedAt !== null) return { kind: "refused", reason: "blocked" };
  const settings = await readCardSettings(db, schoolId);
  const grade = gradeOfNames(memberships.map(({ group }) => group.name));
  const reason = findCardRefusal(settings, { grade, at, address });
  if (reason === "hours") return { kind: "refused", reason, hours: settings.hours };
  if (reason !== null) return { kind: "refused", reason };
  const { secondStep, secondStepHash } = row;
  const card = { cardId: row.id as CardId, personId, schoolId, firstName: person.firstCall, secondStep };
  const { generation } = person.credential;
  return {
    kind: "usable",
    card: { ...card, generation, secondStepHash: secondStepHash && Buffer.from(secondStepHash) },
  };
}

/** How many wrong answers in a row end a card: a picture is guessed one time in nine. */
const mostWrong = { PICTURE: 5, PIN: 10 };

export type CardAnswer = "right" | "wrong" | "ended";

/**
 * Compares the PIN or picture, and ends the card after too many wrong ones.
 *
 * Shape: a try is counted before it is compared, so that tries at the same time cannot slip through.
 */
export async function checkAnswer(
  db: PrismaDb,
  card: UsableCard,
  { answer, key, at, requestId }: { answer: string; key: Buffer; at: Date; requestId: string | undefined },
): Promise<CardAnswer> {
  const { cardId: id, secondStep, secondStepHash, personId, schoolId } = card;
  if (secondStep === "NONE" || secondStepHash === null) return "right";
  const most = mostWrong[secondStep];
  const counted = await db.prisma.loginCard.updateManyAndReturn({
    where: { id, revokedAt: null, wrongAnswers: { lt: most } },
    data: { wrongAnswers: { increment: 1 } },
    select: { wrongAnswers: true },
  });
  const [count] = counted;
  if (count === undefined) return "ended";
  if (timingSafeEqual(hashAnswer(key, id, answer), secondStepHash)) return "right";
  if (count.wrongAnswers < most) return "wrong";
  await withPrismaTransaction(db, async (tx) => {
    await tx.prisma.loginCard.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: at } });
    const line = { at, requestId, personId, schoolId, detail: { cardId: id, reason: "wrong_answers" } };
    await recordAudit(tx, { ...line, action: "login_card_revoked" });
  });
  return "ended";
}

/** Records that a card signs in. Shape: false where it was revoked meanwhile. */
export async function recordCardUse(
  db: PrismaDb,
  { cardId: id, personId, schoolId }: UsableCard,
  { at, requestId }: { at: Date; requestId: string | undefined },
): Promise<boolean> {
  return withPrismaTransaction(db, async (tx) => {
    const data = { lastUsedAt: at, wrongAnswers: 0 };
    const { count } = await tx.prisma.loginCard.updateMany({ where: { id, revokedAt: null }, data });
    if (count === 0) return false;
    await recordAudit(tx, { at, requestId, personId, schoolId, action: "login_card_used", detail: { cardId: id } });
    return true;
  });
}

const addressBucket = { capacity: 500, refillSeconds: 300 };
const siteBucket = { capacity: 1000, refillSeconds: 300 };
const cardBucket = { capacity: 20, refillSeconds: 600 };

/** Counts one use of a card. Shape: seconds to wait, null where it goes on. */
export async function limitCardUse(
  db: PrismaDb,
  { token, address, key, at }: { token: string; address: string; key: Buffer; at: Date },
): Promise<number | null> {
  const makeKey = makeKeyMaker(key);
  const site = countedSite(address);
  const buckets = [
    { key: makeKey("card", hashCardToken(token).toString("hex")), ...cardBucket },
    ...(site === null ? [] : [{ key: makeKey("card site", site), ...siteBucket }]),
    { key: makeKey("card address", countedAddress(address)), ...addressBucket },
  ];
  const wait = await takeTokens(db.pool, buckets, at);
  return wait === null ? null : secondsUntil(wait, at);
}
