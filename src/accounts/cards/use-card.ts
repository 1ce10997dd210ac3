import { timingSafeEqual } from "node:crypto";
import type { CardRefusal as CardRefusalReason } from "../../../generated/prisma/enums.ts";
import { gradeOfNames, type PersonId, type SchoolId } from "../../directory/index.ts";
import { recordAudit, recordAuditFrom } from "../../events/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import { withPrismaTransaction, type Db, type PrismaDb } from "../../platform/database/db.ts";
import { asynchronous, empty, fields, join, makeRun, pick, sql, table, update } from "../../platform/database/sql.ts";
import type { Parameters, Sql, Value } from "../../platform/database/sql.ts";
import {
  giveBackSteps,
  giveTokensBack,
  makeFindWithBuckets,
  secondsUntil,
  takeSteps,
  undoTake,
  type Bucket,
} from "../../platform/database/token-bucket.ts";
import { bucketsOfAddress, makeKeyMaker } from "../login/known-devices.ts";
import { addressBuckets } from "../login/limits.ts";
import { classNamesOf } from "../grades.ts";
import { findCardRefusal, type CardRefusal } from "./allowed.ts";
import type { CardId } from "./cards.ts";
import { hashAnswer, hashCardToken } from "./make-card.ts";
import { asksPictureCode, pictureCodeOf, type PictureCodeState } from "./picture-code.ts";
import { cardSettingsOf, settingsFrom, type CardHours, type CardSecondStep, type CardSettingsRow } from "./settings.ts";

export type UsableCard = {
  cardId: CardId;
  personId: PersonId;
  schoolId: SchoolId;
  firstName: string | null;
  generation: number;
  secondStep: CardSecondStep;
  secondStepHash: Buffer | null;
  /** Null if the school does not ask this person for pictures. */
  pictures: PictureCodeState | null;
};

type CardCheck =
  | { kind: "usable"; card: UsableCard }
  | { kind: "refused"; reason: "invalid" | "blocked" | Exclude<CardRefusal, "hours"> }
  | { kind: "refused"; reason: "hours"; hours: CardHours | null };

type CardRow = UsableCard & { pictures: PictureCodeState } & {
  /** Not revoked; the person is active, at their home school and not staff. */
  isValid: boolean;
  isRevoked: boolean;
  isBlocked: boolean;
  classes: string[];
  settings: CardSettingsRow | null;
};

/** All null but `taken` for an unknown card; without `generation` the person has no user name. */
type FoundRow = { [Name in keyof CardRow]: CardRow[Name] | null } & { taken: number };

export type Slowed = { kind: "slowed"; retryAfterSeconds: number };

const card = table("loginCard", "card");
const before = table("loginCard", "before");
const person = table("person");
const credential = table("credential");
const role = table("staffRole", "role");

export const isOfStaff = (personId: Sql, now: Value): Sql => sql`EXISTS (SELECT FROM ${role}
  WHERE ${role.personId} = ${personId} AND (${role.endsAt} IS NULL OR ${role.endsAt} > ${now}::timestamptz))`;

// A card of a school that is no longer the home is invalid: nobody there could revoke it.
const selectFound = (of: Sql, { now, taken }: { now: Value; taken: Sql }): Sql => sql`
  SELECT ${fields<FoundRow>({
    taken,
    cardId: card.id,
    ...pick(card, "personId", "schoolId", "secondStep", "secondStepHash"),
    firstName: person.firstCall,
    generation: credential.generation,
    pictures: pictureCodeOf(card.personId),
    isRevoked: sql`${card.revokedAt} IS NOT NULL`,
    isValid: sql`${card.revokedAt} IS NULL AND ${person.homeSchoolId} = ${card.schoolId}
      AND ${person.status} = 'ACTIVE' AND NOT ${isOfStaff(card.personId, now)}`,
    isBlocked: sql`${person.blockedAt} IS NOT NULL`,
    classes: classNamesOf(card),
    settings: cardSettingsOf(card.schoolId),
  })}
  FROM (SELECT) AS once LEFT JOIN ${card} ON ${of}
    LEFT JOIN ${person} ON ${person.id} = ${card.personId}
    LEFT JOIN ${credential} ON ${credential.personId} = ${card.personId}`;

const makeFind = <Params extends object>(name: string, condition: (params: Parameters<Params>) => Sql) =>
  makeFindWithBuckets<FoundRow, Params & { now: Date }>((params, count) => {
    const { steps, count: taken } = takeSteps(params, count);
    const select = selectFound(condition(params), { now: params.now, taken });
    return sql`${count === 0 ? empty : sql`WITH ${join(steps)}`} ${select}`;
  }, name);

const findByToken = makeFind<{ tokenHash: Buffer }>(
  "sign-in-card-find",
  ({ tokenHash }) => sql`${card.tokenHash} = ${tokenHash}`,
);

type CardOf = { personId: PersonId; schoolId: SchoolId };

const findOfPerson = makeFind<CardOf>(
  "sign-in-card-of-person",
  ({ personId, schoolId }) =>
    sql`${card.personId} = ${personId} AND ${card.schoolId} = ${schoolId} AND ${card.revokedAt} IS NULL`,
);

/** Checks whether the valid card of a person would sign them in now. Only a usable card takes from the buckets. */
export async function checkCardOf(
  db: Db,
  { personId, schoolId, buckets, ...use }: CardOf & Omit<Use, "token"> & { buckets: Bucket[] },
): Promise<CardCheck | Slowed> {
  const [row] = await findOfPerson(db.pool, buckets, { personId, schoolId, now: use.at });
  const check = judge(row!, use);
  if (check.kind === "usable") return row!.taken === buckets.length ? check : slow(db, row!, buckets, use.at);
  await giveTokensBack(db.pool, buckets.slice(0, row!.taken));
  return check;
}

async function slow(db: Db, { taken }: FoundRow, buckets: Bucket[], at: Date): Promise<Slowed> {
  return { kind: "slowed", retryAfterSeconds: secondsUntil(await undoTake(db.pool, buckets, taken, at), at) };
}

type Use = { token: string; at: Date; address: string };

/** A revoked card is `invalid`, like an unknown one. */
export async function checkCard(db: Db, use: Use): Promise<CardCheck> {
  return judgeUse(db, await findCard(db, use, []), use);
}

export async function checkCardUse(db: Db, { key, ...use }: Use & { key: Buffer }): Promise<CardCheck | Slowed> {
  const buckets = bucketsOf(use, key);
  const row = await findCard(db, use, buckets);
  return row.taken === buckets.length ? judgeUse(db, row, use) : slow(db, row, buckets, use.at);
}

async function findCard(db: Db, { token, at: now }: Use, buckets: Bucket[]): Promise<FoundRow> {
  const [row] = await findByToken(db.pool, buckets, { tokenHash: hashCardToken(token), now });
  return row!;
}

const recordRefusal = makeRun<{ cardId: CardId; at: Date; reason: CardRefusalReason }>("sign-in-card-refused")`
    ${({ at, reason }) => update("loginCard", "card", { refusedAt: at, refusedFor: reason })}
      WHERE ${card.id} = ${"cardId"}`;

const recordedReasons = new Map<string, CardRefusalReason>([
  ["disabled", "DISABLED"],
  ["grade", "GRADE"],
  ["hours", "HOURS"],
  ["network", "NETWORK"],
]);

/** Records on the card why it was refused, so that staff can tell its holder. */
async function judgeUse(db: Db, row: FoundRow, use: Use): Promise<CardCheck> {
  const check = judge(row, use);
  const { cardId, isRevoked } = row;
  if (check.kind !== "refused" || cardId === null) return check;
  const reason = isRevoked === true ? "REVOKED" : recordedReasons.get(check.reason);
  if (reason !== undefined) await recordRefusal(db.pool, { cardId, at: use.at, reason });
  return check;
}

function judge(row: FoundRow, { at, address }: Omit<Use, "token">): CardCheck {
  if (row.isValid !== true || row.generation === null) return { kind: "refused", reason: "invalid" };
  if (row.isBlocked === true) return { kind: "refused", reason: "blocked" };
  const settings = settingsFrom(row.settings);
  const grade = gradeOfNames(row.classes ?? []);
  const reason = findCardRefusal(settings, { grade, at, address });
  if (reason === "hours") return { kind: "refused", reason, hours: settings.hours };
  if (reason !== null) return { kind: "refused", reason };
  const pictures = asksPictureCode(settings, grade) ? row.pictures : null;
  return { kind: "usable", card: { ...row, pictures } as UsableCard };
}

/** Wrong answers in a row that revoke a card. One in nine guesses of a picture is right. */
export const mostWrong = { PICTURE: 5, PIN: 10 };

/** Compares the PIN or picture; too many wrong ones revoke the card. Tries are counted first, against parallel ones. */
export async function checkAnswer(
  db: PrismaDb,
  card: UsableCard,
  { answer, key, at, requestId }: { answer: string; key: Buffer; at: Date; requestId: string | undefined },
): Promise<"right" | "wrong" | "ended"> {
  const { cardId: id, secondStep, secondStepHash, personId, schoolId } = card;
  if (secondStep === "NONE" || secondStepHash === null) return "right";
  const most = mostWrong[secondStep];
  const counted = await db.prisma.loginCard.updateManyAndReturn({
    where: { id, revokedAt: null, wrongAnswers: { lt: most } },
    data: { wrongAnswers: { increment: 1 }, refusedAt: at, refusedFor: "ANSWER" },
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

type CardUse = { at: Date; triedAt: Date; address: string; key: Buffer; requestId: string | undefined };
type UseParameters = Pick<UsableCard, "cardId" | "personId" | "schoolId"> &
  Pick<CardUse, "at" | "triedAt" | "requestId"> & { auditId: string };

// A success gives back what its try took from the address, so that a school behind one address is not slowed down.
// Pictures can be sent again after the sign-in; a card that was used since its try gives nothing back.
const recordUse = makeFindWithBuckets<Record<string, never>, UseParameters>((params, count) => {
  const { steps } = giveBackSteps(params, count, sql`EXISTS (SELECT FROM used WHERE is_first)`);
  const none = sql`NULL`;
  return sql`
    WITH used AS (
      ${update("loginCard", "card", { lastUsedAt: params.at, wrongAnswers: 0, refusedAt: none, refusedFor: none })}
      FROM (SELECT ${before.id}, coalesce(${before.lastUsedAt} < ${params.triedAt}, true) AS is_first
        FROM ${before} WHERE ${before.id} = ${params.cardId} FOR UPDATE) AS tried
      WHERE ${card.id} = tried.id AND ${card.revokedAt} IS NULL
      RETURNING ${params.auditId}::uuid AS id, ${params.at}::timestamptz AS at, NULL::text AS client_id,
        ${params.personId}::uuid AS person_id, ${params.schoolId}::uuid AS school_id, ${params.requestId}::text AS request_id,
        json_build_object('cardId', ${params.cardId}::uuid) AS detail, is_first),
    ${join([...steps, sql`recorded AS (${recordAuditFrom(sql`used`, "login_card_used", ["schoolId", "detail"])})`])}
    SELECT FROM used WHERE ${asynchronous}`;
}, "sign-in-card-use");

/** Records that a card signs in, after a try that `checkCardUse` counted. Returns false if it was revoked meanwhile. */
export async function recordCardUse(
  db: Db,
  { cardId, personId, schoolId }: UsableCard,
  { at, triedAt, address, key, requestId }: CardUse,
): Promise<boolean> {
  const params = { cardId, personId, schoolId, at, triedAt, requestId, auditId: makeUuid(at) };
  return (await recordUse(db.pool, placesOf(address, key), params)).length === 1;
}

const cardBucket = { capacity: 20, refillSeconds: 600 };

const placesOf = (address: string, key: Buffer): Bucket[] =>
  bucketsOfAddress(address, addressBuckets, (kind, part) => makeKeyMaker(key)(`card ${kind}`, part));

const bucketsOf = ({ token, address }: Use, key: Buffer): Bucket[] => [
  { key: makeKeyMaker(key)("card", hashCardToken(token).toString("hex")), ...cardBucket },
  ...placesOf(address, key),
];
