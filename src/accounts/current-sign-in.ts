import { sql, type Sql, table } from "../platform/database/sql.ts";

const v_credential = table("credential", "v_credential");
const v_card = table("loginCard", "v_card");
const v_settings = table("cardSettings", "v_settings");

/**
 * The artifact belongs to no person, or to one whose sign-ins have not been ended since; and the card that opened it is
 * still good, at a school where cards are switched on.
 *
 * Shape: every statement that finds artifacts asks for it. So what a request writes after the end of the sign-in that
 *        it stands on is void.
 */
export const isCurrent = ({
  personId,
  generation,
  cardId,
}: { readonly [Name in "personId" | "generation" | "cardId"]: Sql }): Sql =>
  sql`(${personId} IS NULL OR EXISTS (SELECT FROM ${v_credential}
      WHERE ${v_credential.personId} = ${personId} AND ${v_credential.generation} = ${generation})
    AND (${cardId} IS NULL OR EXISTS (SELECT FROM ${v_card} JOIN ${v_settings} ON ${v_settings.schoolId} = ${v_card.schoolId}
      WHERE ${v_card.id} = ${cardId} AND ${v_card.revokedAt} IS NULL AND ${v_settings.enabled})))`;
