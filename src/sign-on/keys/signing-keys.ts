import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { calculateJwkThumbprint, type JWK } from "jose";
import { valuesOf } from "../../platform/contract-types.ts";
import type { Queryable } from "../../platform/db.ts";
import { DatabaseStartError } from "../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../platform/seal.ts";
import type { JsonWebKey } from "../contract.ts";

export type Algorithm = JsonWebKey["alg"];
export const algorithms = valuesOf<Algorithm>({ RS256: true, ES256: true, EdDSA: true });

/** NEXT is published and does not sign yet; RETIRED is published and signs no more. */
export type SigningKey = { kid: string; algorithm: Algorithm; state: "NEXT" | "ACTIVE" | "RETIRED"; privateJwk: JWK };

type KeyRow = Omit<SigningKey, "privateJwk"> & { encryptedPrivate: Buffer };

/** Newest states first: the library signs with the first key of an algorithm. */
const selectKeys = `
  SELECT kid, algorithm::text, state::text, encrypted_private AS "encryptedPrivate" FROM signing_key
  ORDER BY array_position(ARRAY['ACTIVE', 'NEXT', 'RETIRED'], state::text), created_at DESC, kid`;

export async function listSigningKeys(db: Queryable, keys: EncryptionKeys): Promise<SigningKey[]> {
  const { rows } = await db.query<KeyRow>(selectKeys);
  return rows.map(({ encryptedPrivate, ...row }) => {
    const plain = unseal(keys, purposeOf(row.kid), encryptedPrivate);
    if (!plain)
      throw new DatabaseStartError(
        `None of the encryption keys opens the signing key ${row.kid}. Put the key that was used before into ENCRYPTION_KEYS.`,
      );
    return { ...row, privateJwk: JSON.parse(plain.toString()) as JWK };
  });
}

/** Tells whether anything about the keys has changed, without opening them. */
export async function findKeysVersion(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ version: string | null }>({
    name: "sign-on.findKeysVersion",
    text: "SELECT string_agg(kid || ' ' || state, ',' ORDER BY kid) AS version FROM signing_key",
  });
  return rows[0]?.version ?? "";
}

/** Throws unless there is a key that signs. */
export async function checkSigningKeys(db: Queryable): Promise<void> {
  const { rowCount } = await db.query("SELECT FROM signing_key WHERE state = 'ACTIVE' LIMIT 1");
  if (rowCount === 0) throw new Error("no signing key is active");
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
