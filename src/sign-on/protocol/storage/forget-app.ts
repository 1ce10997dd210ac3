import type { ClientId } from "../../../access/index.ts";
import { type Queryable, run, sql, statement, table } from "../../../platform/database/sql.ts";

const artifact = table("oidcArtifact");

type Of = { clientId: ClientId };

// One statement per index.
const deleteClientTokens = statement<Of>(
  ({ clientId }) => sql`
    DELETE FROM ${artifact} WHERE ${artifact.clientId} = ${clientId} AND ${artifact.kind} = 'ClientCredentials'`,
  "sign-on.forgetClientTokens",
);
const deleteUserTokens = statement<Of>(
  ({ clientId }) => sql`
    DELETE FROM ${artifact} WHERE ${artifact.clientId} = ${clientId} AND ${artifact.kind} <> 'ClientCredentials'`,
  "sign-on.forgetUserTokens",
);

/** Deletes every code, token and interaction of a deleted app. */
export async function forgetApp(tx: Queryable, clientId: ClientId): Promise<void> {
  // A refresh locks its token's row: the first DELETE waits for it, the next one sees the tokens that it issued.
  for (const deletion of [deleteClientTokens, deleteUserTokens]) while ((await run(tx, deletion, { clientId })) > 0);
}

/** Deletes an app's own access tokens, when a leaked secret is replaced. */
export async function forgetClientTokens(tx: Queryable, clientId: ClientId): Promise<void> {
  await run(tx, deleteClientTokens, { clientId });
}
