import { userHandleOf } from "../../src/accounts/second-factor/passkeys.ts";
import { readConfig } from "../../src/config/index.ts";
import type { PersonId } from "../../src/directory/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { loadSharedSecrets } from "../../src/sign-on/protocol/keys/shared-secrets.ts";

/** By which an authenticator knows a person of a service that has the keys of development. */
export async function makeUserHandles(db: PrismaDb): Promise<(personId: PersonId) => string> {
  const { encryptionKeys } = readConfig({ NODE_ENV: "development" });
  const secrets = await loadSharedSecrets(db, encryptionKeys, new Date());
  return (personId) => userHandleOf({ secrets }, personId).toString("base64url");
}
