import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { calculateJwkThumbprint, type JWK } from "jose";
import { valuesOf } from "../../../platform/contract-types.ts";
import { DatabaseStartError } from "../../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../../platform/crypto/seal.ts";
import { fields, makeFind, makeFindOne, makeRun, sql, table, type Queryable } from "../../../platform/database/sql.ts";
import type { JsonWebKey } from "../contract.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";

export type Algorithm = JsonWebKey["alg"];
export const algorithms = valuesOf<Algorithm>({ RS256: true, ES256: true, EdDSA: true });

/** Only ACTIVE keys sign. RETIRED keys verify hints, also after they are no longer published. */
export type SigningKey = { kid: string; algorithm: Algorithm; state: "NEXT" | "ACTIVE" | "RETIRED"; privateJwk: JWK };

type KeyRow = Omit<SigningKey, "privateJwk"> & { encryptedPrivate: Buffer };

const key = table("signingKey");

// The library signs with the first key of an algorithm, and some clients take the first key of the set.
export const keyOrder = sql`array_position(ARRAY['ACTIVE', 'NEXT', 'RETIRED'], ${key.state}::text), ${key.algorithm},
  ${key.createdAt} DESC, ${key.kid}`;

const findKeys = makeFind<KeyRow>()`
    SELECT ${fields<KeyRow>({
      kid: key.kid,
      algorithm: sql`${key.algorithm}::text`,
      state: sql`${key.state}::text`,
      encryptedPrivate: key.encryptedPrivate,
    })}
    FROM ${key} ORDER BY ${keyOrder}`;

export async function listSigningKeys(db: Queryable, keys: EncryptionKeys): Promise<SigningKey[]> {
  return (await findKeys(db, {})).map(({ encryptedPrivate, ...row }) => {
    const plain = unseal(keys, purposeOf(row.kid), encryptedPrivate);
    if (!plain)
      throw new DatabaseStartError(
        `None of the encryption keys opens the signing key ${row.kid}. ` +
          "Put the key that was used before into ENCRYPTION_KEYS.",
      );
    return { ...row, privateJwk: JSON.parse(plain.toString()) as JWK };
  });
}

const findVersion = makeFindOne<{ version: string }>("sign-on.findKeysVersion")`
    SELECT coalesce(string_agg(${key.kid} || ' ' || ${key.state}, ',' ORDER BY ${key.kid}), '') AS version FROM ${key}`;

export const findKeysVersion = async (db: Queryable): Promise<string> => (await findVersion(db, {})).version;

const countActive = makeRun()`SELECT FROM ${key} WHERE ${key.state} = 'ACTIVE' LIMIT 1`;

export async function checkSigningKeys(db: Queryable): Promise<void> {
  if ((await countActive(db, {})) === 0) throw new Error("no signing key is active");
}

export type NewKey = { kid: string; publicJwk: JWK; encryptedPrivate: Buffer };

export async function makeSigningKey(algorithm: Algorithm, keys: EncryptionKeys): Promise<NewKey> {
  const privateKey = await generate(algorithm);
  const jwk = privateKey.export({ format: "jwk" }) as JWK;
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...publicJwk } = jwk;
  const kid = await calculateJwkThumbprint(publicJwk);
  const privateJwk = { ...jwk, kid, alg: algorithm, use: "sig" };
  return {
    kid,
    publicJwk: { ...publicJwk, kid, alg: algorithm, use: "sig" },
    encryptedPrivate: seal(keys, purposeOf(kid), Buffer.from(JSON.stringify(privateJwk))),
  };
}

export const purposeOf = (kid: string): string => `signing key ${kid}`;
const generatePair = promisify(generateKeyPair);

async function generate(algorithm: Algorithm): Promise<KeyObject> {
  if (algorithm === "RS256") return (await generatePair("rsa", { modulusLength: 2048 })).privateKey;
  if (algorithm === "ES256") return (await generatePair("ec", { namedCurve: "P-256" })).privateKey;
  return (await generatePair("ed25519", {})).privateKey;
}

/** Calls `onChange` in every process when signing keys have changed; old keys stay published meanwhile. */
export function makeKeyWatch(db: Db, version: string, onChange: () => Promise<void>): WorkerJob {
  let known = version;
  return {
    name: "sign-on.watchKeys",
    everySeconds: 5,
    inEveryProcess: true,
    async run() {
      const current = await findKeysVersion(db.pool);
      if (current === known) return;
      await onChange();
      known = current;
    },
  };
}
