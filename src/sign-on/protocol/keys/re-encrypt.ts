import { recordAudit } from "../../../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../../../platform/database/db.ts";
import { DatabaseStartError } from "../../../platform/postgres/index.ts";
import { seal, unseal, type EncryptionKeys } from "../../../platform/crypto/seal.ts";
import { fields, findRows, run, sql, statement, table, update } from "../../../platform/database/sql.ts";
import { totpPurpose } from "../../../accounts/index.ts";
import { rootPurpose, wrongKeys } from "./shared-secrets.ts";
import { purposeOf } from "./signing-keys.ts";

type Sealed = { id: string; sealed: Buffer };

const signingKey = table("signingKey");
const secret = table("sharedSecret");
const factor = table("secondFactor");

const kinds = [
  {
    rows: sql`${fields<Sealed>({ id: signingKey.kid, sealed: signingKey.encryptedPrivate })} FROM ${signingKey}`,
    write: statement<Sealed>(
      ({ id, sealed }) =>
        sql`${update("signingKey", "signing_key", { encryptedPrivate: sealed })} WHERE ${signingKey.kid} = ${id}`,
    ),
    purposeOf,
  },
  {
    rows: sql`${fields<Sealed>({ id: secret.name, sealed: secret.encrypted })} FROM ${secret}`,
    write: statement<Sealed>(
      ({ id, sealed }) =>
        sql`${update("sharedSecret", "shared_secret", { encrypted: sealed })} WHERE ${secret.name} = ${id}`,
    ),
    purposeOf: rootPurpose,
  },
  {
    rows: sql`
      ${fields<Sealed>({ id: factor.id, sealed: factor.secret })} FROM ${factor} WHERE ${factor.secret} IS NOT NULL`,
    write: statement<Sealed>(
      ({ id, sealed }) =>
        sql`${update("secondFactor", "second_factor", { secret: sealed })} WHERE ${factor.id} = ${id}`,
    ),
    purposeOf: totpPurpose,
  },
].map((kind) => ({ ...kind, list: statement(() => sql`SELECT ${kind.rows} FOR UPDATE`) }));

type Deps = { db: PrismaDb; keys: EncryptionKeys; now: Date };

/** Encrypts all stored secrets with the first key and returns how many. Errors: DatabaseStartError for other keys. */
export async function reEncryptSecrets({ db, keys, now }: Deps): Promise<number> {
  return withPrismaTransaction(db, async (tx) => {
    let values = 0;
    for (const { list, write, purposeOf: purpose } of kinds) {
      for (const { id, sealed } of await findRows<Sealed>(tx, list, {})) {
        const plain = unseal(keys, purpose(id), sealed);
        if (plain === null) throw new DatabaseStartError(wrongKeys);
        await run(tx, write, { id, sealed: seal(keys, purpose(id), plain) });
        values += 1;
      }
    }
    await recordAudit(tx, { at: now, action: "secrets_re_encrypted", detail: { values } });
    return values;
  });
}
