import type { ClientId } from "../../../access/index.ts";
import type { Queryable } from "../../../platform/database/db.ts";
import { run, sql, statement, table } from "../../../platform/database/sql.ts";

const artifact = table("oidcArtifact");

type Of = { clientId: ClientId };

// One for each index.
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

/**
 * Deletes every code, token and interaction of an app; part of deleting the app.
 *
 * Shape: what a session says of the app stays and ends with the session; without the app it is of no use.
 */
export async function forgetApp(tx: Queryable, clientId: ClientId): Promise<void> {
  // A refresh holds the token that it uses: the first DELETE waits for it, the next one sees what it issued.
  for (const deletion of [deleteClientTokens, deleteUserTokens]) while ((await run(tx, deletion, { clientId })) > 0);
}

/** Deletes the access tokens that an app has got for itself; part of replacing a secret that leaked. */
export async function forgetClientTokens(tx: Queryable, clientId: ClientId): Promise<void> {
  await run(tx, deleteClientTokens, { clientId });
}
