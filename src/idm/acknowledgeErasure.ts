import { acknowledgeErasure, type IdKind } from "../access/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { findRows, statement, table } from "../platform/database/sql.ts";
import { AppError } from "../platform/errors.ts";
import { answerDone } from "../platform/http/index.ts";
import { erasure, type Erasure } from "./erasures.ts";
import { erasureNotFound, type IdmHandler } from "./contract.ts";

const e = table("erasure", "e");

type ErasureQuery = { client: string; id: string; waitDays: number };

const makeFind = (ids: IdKind) =>
  statement<ErasureQuery>(`idm_erasure_${ids}`)`
    SELECT (${({ waitDays }) => erasure(ids, waitDays)})::json AS item FROM ${e} WHERE ${e.id} = ${"id"}
      AND ${e.clientId} = ${"client"}`;

const find = { shared: makeFind("shared"), own: makeFind("own") };

export const makeAcknowledgeErasure =
  ({ db, clock, waitDays }: { db: PrismaDb; clock: Clock; waitDays: number }): IdmHandler<"acknowledgeErasure"> =>
  ({ caller, path: { id }, body, requestId }) =>
    answerDone(async () => {
      const { clientId, ids } = caller;
      const { outcome: state, reason = null } = body;
      if ((state === "kept") !== (reason !== null))
        throw new AppError("invalid", "invalid_request", "A reason is given if the outcome is kept, and only then.");
      const origin = { at: clock(), actorId: `app:${clientId}`, requestId };
      await acknowledgeErasure(db, { id, clientId, state, reason }, origin);
      const [erasure] = await findRows<{ item: Erasure }, ErasureQuery>(db.pool, find[ids], {
        client: clientId,
        id,
        waitDays,
      });
      if (erasure === undefined) throw erasureNotFound();
      return { status: 200, body: erasure.item };
    });
