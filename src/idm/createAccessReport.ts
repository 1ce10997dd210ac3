import { recordAccessReport } from "../access/index.ts";
import { checkText } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { answerDone } from "../platform/http/index.ts";
import type { IdmHandler } from "./contract.ts";

const readTime = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);

export const makeCreateAccessReport =
  ({ db, clock }: { db: Db; clock: Clock }): IdmHandler<"createAccessReport"> =>
  ({ caller, body }) =>
    answerDone(async () => {
      const { type, identifier = null, trial = false } = body;
      const [since, until] = [readTime(body.since), readTime(body.until)];
      if (since !== null && until !== null && until < since)
        throw new AppError("invalid", "invalid_request", "The property until must not be before since.", undefined, {
          property: "until",
        });
      const report = {
        clientId: caller.clientId,
        // The operation takes tokens of people alone.
        personId: caller.personId!,
        type,
        identifier: identifier === null ? null : checkText("identifier", identifier, 255),
        since,
        until,
        trial,
      };
      await withTransaction(db, (tx) => recordAccessReport(tx, report, clock()));
      return { status: 204 };
    });
