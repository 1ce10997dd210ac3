import { type Queryable, run, sql, statement, table } from "../../../platform/database/sql.ts";

// TRUNCATE, because there may be millions and nothing else runs.
const forgetArtifacts = statement(() => sql`TRUNCATE ${table("oidcArtifact")}`);
const forgetPrints = statement(() => sql`TRUNCATE ${table("cardPrint")}`);

/** A restored backup does not know which sign-ins were used, revoked or ended since. */
export async function forgetSignIns(tx: Queryable): Promise<void> {
  await run(tx, forgetArtifacts, {});
  await run(tx, forgetPrints, {});
}
