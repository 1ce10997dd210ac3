import type { CardRefusal as StoredRefusal } from "../../../generated/prisma/enums.ts";
import { gradeOfNames } from "../../directory/index.ts";
import { fields, sql, table, type Sql, type Value } from "../../platform/database/sql.ts";
import { findCardRefusal } from "./allowed.ts";
import { cardSettingsOf, settingsFrom, type CardHours, type CardSecondStep, type CardSettingsRow } from "./settings.ts";
import { classNamesOf, isOfStaff, mostWrong } from "./use-card.ts";

export type CardRefusalReason = StoredRefusal;

/** What a card is good for at this moment; the network is known only when the card is used. */
export type CardState = "USABLE" | "STAFF" | Exclude<StoredRefusal, "NETWORK">;

/**
 * The valid card of a person, or else the one revoked last. `refused` is the last try, with an older card too, unless
 * this one worked since.
 */
export type LastCard = {
  state: CardState;
  createdAt: string;
  revokedAt: string | null;
  hours: CardHours | null;
  refused: { reason: CardRefusalReason; at: string } | null;
};

export type LastCardRow = {
  createdAt: string;
  revokedAt: string | null;
  refused: LastCard["refused"];
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
      createdAt: card.createdAt,
      revokedAt: card.revokedAt,
      refused: sql`(
        SELECT json_build_object('reason', ${tried.refusedFor}, 'at', ${tried.refusedAt}) FROM ${tried}
        WHERE ${tried.personId} = ${card.personId} AND ${tried.schoolId} = ${card.schoolId}
          AND ${tried.refusedAt} > coalesce(${card.lastUsedAt}, '-infinity')
        ORDER BY ${tried.refusedAt} DESC LIMIT 1)`,
      wrongAnswers: card.wrongAnswers,
      secondStep: card.secondStep,
      isStaff: isOfStaff(card.personId, now),
      classes: classNamesOf(card),
      settings: cardSettingsOf(card.schoolId),
    })}
    FROM ${card} JOIN ${person} ON ${person.id} = ${card.personId} AND ${person.homeSchoolId} = ${card.schoolId}
    WHERE ${card.personId} = ${personId}
    ORDER BY ${card.revokedAt} DESC NULLS FIRST, ${card.id} DESC LIMIT 1) last_card)`;

function stateOf(
  { revokedAt, wrongAnswers, secondStep, isStaff, classes, settings }: LastCardRow,
  at: Date,
): CardState {
  const isAnsweredOut = secondStep !== "NONE" && wrongAnswers >= mostWrong[secondStep];
  if (revokedAt !== null) return isAnsweredOut ? "ANSWER" : "REVOKED";
  if (isStaff) return "STAFF";
  const anywhere = { ...settingsFrom(settings), networks: [] };
  const refusal = findCardRefusal(anywhere, { grade: gradeOfNames(classes), at, address: "" });
  return refusal === null ? "USABLE" : (refusal.toUpperCase() as CardState);
}

export function readLastCard(row: LastCardRow, now: Date): LastCard {
  const { createdAt, revokedAt, refused, settings } = row;
  return { state: stateOf(row, now), createdAt, revokedAt, hours: settingsFrom(settings).hours, refused };
}
