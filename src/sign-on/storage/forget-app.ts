import type { ClientId } from "../../access/index.ts";
import type { Queryable } from "../../platform/db.ts";

// An index each.
const deletions = {
  "sign-on.forgetClientTokens": "DELETE FROM oidc_artifact WHERE client_id = $1 AND kind = 'ClientCredentials'",
  "sign-on.forgetUserTokens": "DELETE FROM oidc_artifact WHERE client_id = $1 AND kind <> 'ClientCredentials'",
};

/**
 * Removes every code, token and interaction of an app; part of deleting it.
 *
 * What is in a session of the app is of no use once the app is gone, and ends with the session.
 */
export async function forgetApp(tx: Queryable, clientId: ClientId): Promise<void> {
  for (const [name, text] of Object.entries(deletions)) {
    // A refresh that runs at the same time holds the token it uses: the first DELETE waits for it, the next one sees what it gave.
    for (let gone: number | null = 1; gone;) ({ rowCount: gone } = await tx.query({ name, text, values: [clientId] }));
  }
}
