import { erasureIsAsked, type IdKind } from "../access/index.ts";
import type { Clock } from "../platform/clock.ts";
import { sql, table } from "../platform/database/sql.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { erasure, type Erasure } from "./erasures.ts";
import type { IdmHandler } from "./contract.ts";

const e = table("erasure", "e");

type ErasuresQuery = { client: string; state: Erasure["state"]; waitDays: number; now: Date };

const makeErasures = (ids: IdKind) =>
  makeListQuery<Erasure, ErasuresQuery>(`idm_erasures_${ids}`, ({ client, state, waitDays, now }) => {
    const where = sql`${e.state} = ${state}::erasure_state`;
    const visible = erasureIsAsked(client, e, { now, waitDays });
    return {
      from: sql`${e}`,
      where,
      visible,
      item: erasure(ids, waitDays),
      sortKey: e.since,
      id: e.id,
      version: sql`(
        SELECT count(*) || '.' ||
          coalesce(sum(hash_record_extended(ROW(${e.id}, ${e.cause}, ${e.since}, ${e.acknowledgedAt}), 0)), 0)
        FROM ${e} WHERE ${where} AND ${visible})`,
    };
  });

const erasures = { shared: makeErasures("shared"), own: makeErasures("own") };

export const makeListErasures =
  ({ clock, waitDays }: { clock: Clock; waitDays: number }): IdmHandler<"listErasures"> =>
  ({ caller, query }) => {
    const params = { client: caller.clientId, state: query.state ?? "open", waitDays, now: clock() };
    return answerList(erasures[caller.ids], params, null, query);
  };
