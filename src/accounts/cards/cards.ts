import type { Prisma } from "../../../generated/prisma/client.ts";
import { describeAct, gradeOfNames, type PersonId, personNameOf, type SchoolId } from "../../directory/index.ts";
import { type AuditLine, type Origin, recordAct } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import type { MadeCard } from "./make-card.ts";
import { taughtIn } from "./places.ts";
import type { CardRefusal as StoredRefusal } from "../../../generated/prisma/enums.ts";
import { fields, pick, sql, type Sql, table, type Value } from "../../platform/database/sql.ts";
import { findCardRefusal } from "./allowed.ts";
import { type CardHours, type CardSecondStep, cardSettingsOf, type CardSettingsRow, settingsFrom } from "./settings.ts";
import { classNamesOf } from "../grades.ts";
import { asksPictureCode, pictureCodeOf, type PictureCodeState } from "./picture-code.ts";
import { isOfStaff, mostWrong } from "./use-card.ts";

declare const cardId: unique symbol;
export type CardId = string & { readonly [cardId]: true };

/** Creates cards and revokes earlier cards of these people, whom the caller has locked. Returns the audit lines. */
export async function createCardsIn(
  tx: Transaction,
  { schoolId, cards }: { schoolId: SchoolId; cards: readonly { personId: PersonId; card: MadeCard }[] },
  origin: Origin,
): Promise<AuditLine[]> {
  if (cards.length === 0) return [];
  const revoked = await revokeIn(tx, { schoolId, personIds: cards.map(({ personId }) => personId) }, origin);
  await tx.prisma.loginCard.createMany({
    data: cards.map(({ personId, card: { id, secondStep, tokenHash, secondStepHash } }) => ({
      id,
      personId,
      schoolId,
      secondStep,
      createdAt: origin.at,
      createdByRole: origin.actorRole ?? null,
      tokenHash: new Uint8Array(tokenHash),
      secondStepHash: secondStepHash && new Uint8Array(secondStepHash),
    })),
  });
  const line = { ...origin, action: "login_card_created" as const, schoolId };
  return [...revoked, ...cards.map(({ personId, card }) => ({ ...line, personId, detail: { cardId: card.id } }))];
}

type Revoked = {
  schoolId: SchoolId;
  personIds?: readonly PersonId[];
  id?: CardId;
  /** The groups whose people were asked for. */
  groupIds?: readonly string[] | undefined;
};

/** Revokes cards of a school, with an entry in the audit log and in the history of each person. Returns how many. */
export async function revokeCardsIn(tx: Transaction, revoked: Revoked, origin: Origin): Promise<number> {
  const lines = await revokeIn(tx, revoked, origin);
  const { schoolId, groupIds } = revoked;
  const people = lines.flatMap(({ personId }) => (personId === undefined ? [] : [personId as PersonId]));
  const act = await describeAct(tx, { schoolId, people, groupIds });
  const detail = { ...act, count: lines.length };
  await recordAct(tx, { ...origin, action: "login_cards_revoked", schoolId, detail }, lines);
  return lines.length;
}

async function revokeIn(tx: Transaction, { schoolId, personIds, id }: Revoked, origin: Origin): Promise<AuditLine[]> {
  const among = { ...(personIds && { personId: { in: [...personIds] } }), ...(id && { id }) };
  const where = { schoolId, revokedAt: null, ...among } satisfies Prisma.LoginCardWhereInput;
  const cards = await tx.prisma.loginCard.findMany({ where, select: { id: true, personId: true } });
  await tx.prisma.loginCard.updateMany({
    where: { id: { in: cards.map((card) => card.id) }, revokedAt: null },
    data: { revokedAt: origin.at },
  });
  const line = { ...origin, action: "login_card_revoked" as const, schoolId };
  return cards.map((card) => ({ ...line, personId: card.personId, detail: { cardId: card.id } }));
}

const cardFields = {
  id: true,
  personId: true,
  secondStep: true,
  createdAt: true,
  lastUsedAt: true,
  revokedAt: true,
  affiliation: { select: { person: { select: { firstFull: true, firstCall: true, last: true } } } },
} satisfies Prisma.LoginCardSelect;

type CardFilter = {
  schoolId: SchoolId;
  personId?: PersonId | undefined;
  id?: CardId | undefined;
  taughtBy?: PersonId | undefined;
  after?: string | undefined;
  limit: number;
};

/** Lists the cards of people whose home is a school, latest first. `taughtBy` keeps only students of this teacher. */
export async function listCards(
  { prisma }: RecordStore,
  { schoolId, personId, id, taughtBy, after, limit }: CardFilter,
) {
  const cards = await prisma.loginCard.findMany({
    where: {
      schoolId,
      ...(personId && { personId }),
      AND: [id === undefined ? {} : { id }, after === undefined ? {} : { id: { lt: after } }],
      affiliation: {
        person: { homeSchoolId: schoolId, ...(taughtBy && { role: "STUDENT" }) },
        ...(taughtBy && { memberships: { some: taughtIn(taughtBy) } }),
      },
    },
    select: cardFields,
    orderBy: { id: "desc" },
    take: limit,
  });
  return cards.map(({ affiliation: { person }, ...card }) => ({ ...card, name: personNameOf(person) }));
}

export type CardRefusalReason = StoredRefusal;

/** What a card is good for at this moment; the network is known only when the card is used. */
type CardState = "USABLE" | "STAFF" | Exclude<StoredRefusal, "NETWORK">;

/** The valid card of a person, else the one revoked last. `refused`: the last refused try, unless it worked since. */
export type LastCard = {
  state: CardState;
  createdAt: string;
  revokedAt: string | null;
  hours: CardHours | null;
  refused: { reason: CardRefusalReason; at: string } | null;
  /** Null if the school does not ask this person for pictures. */
  pictures: PictureCodeState | null;
};

export type LastCardRow = {
  createdAt: string;
  revokedAt: string | null;
  refused: LastCard["refused"];
  pictures: PictureCodeState;
  wrongAnswers: number;
  secondStep: CardSecondStep;
  isStaff: boolean;
  classes: string[];
  settings: CardSettingsRow | null;
};

const card = table("loginCard", "card");
const tried = table("loginCard", "tried");
const person = table("person", "holder");

/** SQL value: the `LastCardRow` of a person at their home school, or null. */
export const lastCardOf = (personId: Value, now: Value): Sql => sql`(
  SELECT to_json(last_card) FROM (
    SELECT ${fields<LastCardRow>({
      ...pick(card, "createdAt", "revokedAt", "wrongAnswers", "secondStep"),
      refused: sql`(
        SELECT json_build_object('reason', ${tried.refusedFor}, 'at', ${tried.refusedAt}) FROM ${tried}
        WHERE ${tried.personId} = ${card.personId} AND ${tried.schoolId} = ${card.schoolId}
          AND ${tried.refusedAt} > coalesce(${card.lastUsedAt}, '-infinity')
        ORDER BY ${tried.refusedAt} DESC LIMIT 1)`,
      pictures: pictureCodeOf(card.personId),
      isStaff: isOfStaff(card.personId, now),
      classes: classNamesOf(card),
      settings: cardSettingsOf(card.schoolId),
    })}
    FROM ${card} JOIN ${person} ON ${person.id} = ${card.personId} AND ${person.homeSchoolId} = ${card.schoolId}
    WHERE ${card.personId} = ${personId}
    ORDER BY ${card.revokedAt} DESC NULLS FIRST, ${card.id} DESC LIMIT 1) last_card)`;

function stateOf({ revokedAt, wrongAnswers, secondStep, isStaff, classes, settings }: LastCardRow, at: Date) {
  const isAnsweredOut = secondStep !== "NONE" && wrongAnswers >= mostWrong[secondStep];
  if (revokedAt !== null) return isAnsweredOut ? "ANSWER" : "REVOKED";
  if (isStaff) return "STAFF";
  const anywhere = { ...settingsFrom(settings), networks: [] };
  const refusal = findCardRefusal(anywhere, { grade: gradeOfNames(classes), at, address: "" });
  return refusal === null ? "USABLE" : (refusal.toUpperCase() as CardState);
}

export function readLastCard(row: LastCardRow, now: Date): LastCard {
  const { createdAt, revokedAt, refused } = row;
  const settings = settingsFrom(row.settings);
  const pictures = asksPictureCode(settings, gradeOfNames(row.classes)) ? row.pictures : null;
  return { state: stateOf(row, now), createdAt, revokedAt, hours: settings.hours, refused, pictures };
}
