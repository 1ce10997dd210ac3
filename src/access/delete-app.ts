import { forgetEventsOf, recordAudit, type Origin } from "../events/index.ts";
import { withTransaction, type Db, type Queryable } from "../platform/db.ts";
import { appNotFound } from "./app.ts";
import { againAfterDeadlock } from "./deadlock.ts";
import type { ClientId } from "./token.ts";

/** Removes what rooms that access does not know keep of an app, in the same transaction. */
export type ForgetApp = (tx: Queryable, clientId: ClientId) => Promise<void>;

const retireClientId = "INSERT INTO retired_client_id (client_id, retired_at) VALUES ($1, $2)";

/**
 * Ends an app with all that hangs on its client id, in one transaction: tokens, grants, consents, sign-ins, webhook endpoints and
 * logout notices. The client id stays taken for ever.
 *
 * Shape:  its events go after the commit, in batches, as they may be many; without a token nobody reads them, and those that a change
 *         under way still writes go with age.
 * Errors: not_found.
 */
export async function deleteApp(
  db: Pick<Db, "pool">,
  clientId: ClientId,
  { origin, forget }: { origin: Origin; forget: ForgetApp },
): Promise<void> {
  const end = () =>
    withTransaction(db, async (tx) => {
      // A large app has millions of sign-ins and tokens.
      await tx.query("SET LOCAL statement_timeout = 0");
      await forget(tx, clientId);
      const { rowCount } = await tx.query("DELETE FROM app WHERE client_id = $1", [clientId]);
      if (rowCount === 0) throw appNotFound();
      await tx.query("DELETE FROM announced_sign_in WHERE client_id = $1", [clientId]);
      await forget(tx, clientId);
      await tx.query(retireClientId, [clientId, origin.at]);
      await recordAudit(tx, { ...origin, action: "app_deleted", clientId });
    });
  await againAfterDeadlock(end);
  await forgetEventsOf(db, clientId);
}
