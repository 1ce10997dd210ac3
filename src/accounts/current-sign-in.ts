import { sql, type Sql, table } from "../platform/database/sql.ts";

const v_credential = table("credential", "v_credential");
const v_card = table("loginCard", "v_card");
const v_settings = table("cardSettings", "v_settings");
const v_upstream = table("upstreamSession", "v_upstream");

/**
 * SQL condition for every statement that finds artifacts: neither the sign-in nor its card or upstream session has
 * ended.
 */
export const isCurrent = ({
  personId,
  generation,
  cardId,
  upstreamSessionId,
}: { readonly [Name in "personId" | "generation" | "cardId" | "upstreamSessionId"]: Sql }): Sql =>
  sql`(${personId} IS NULL OR EXISTS (SELECT FROM ${v_credential}
      WHERE ${v_credential.personId} = ${personId} AND ${v_credential.generation} = ${generation})
    AND (${cardId} IS NULL OR EXISTS (SELECT FROM ${v_card} JOIN ${v_settings} ON ${v_settings.schoolId} = ${v_card.schoolId}
      WHERE ${v_card.id} = ${cardId} AND ${v_card.revokedAt} IS NULL AND ${v_settings.enabled}))
    AND (${upstreamSessionId} IS NULL OR EXISTS (SELECT FROM ${v_upstream}
      WHERE ${v_upstream.id} = ${upstreamSessionId} AND ${v_upstream.endedAt} IS NULL)))`;
