import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { calculateJwkThumbprint, type JWK } from "jose";
import { valuesOf } from "../../../platform/contract-types.ts";
import type { RecordStore } from "../../../platform/database/db.ts";
import { DatabaseStartError } from "../../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../../platform/crypto/seal.ts";
import { fields, findRows, type Queryable, run, sql, statement, table } from "../../../platform/database/sql.ts";
import type { JsonWebKey } from "../contract.ts";

export type Algorithm = JsonWebKey["alg"];
export const algorithms = valuesOf<Algorithm>({ RS256: true, ES256: true, EdDSA: true });

/** NEXT and RETIRED keys are published but do not sign. */
export type SigningKey = { kid: string; algorithm: Algorithm; state: "NEXT" | "ACTIVE" | "RETIRED"; privateJwk: JWK };

type KeyRow = Omit<SigningKey, "privateJwk"> & { encryptedPrivate: Buffer };

const key = table("signingKey");

// The library signs with the first key of an algorithm, and some clients take the first key of the set.
const selectKeys = statement(
  () => sql`
    SELECT ${fields<KeyRow>({
      kid: key.kid,
      algorithm: sql`${key.algorithm}::text`,
      state: sql`${key.state}::text`,
      encryptedPrivate: key.encryptedPrivate,
    })}
    FROM ${key}
    ORDER BY array_position(ARRAY['ACTIVE', 'NEXT', 'RETIRED'], ${key.state}::text), ${key.algorithm},
      ${key.createdAt} DESC, ${key.kid}`,
);

export async function listSigningKeys(db: Queryable, keys: EncryptionKeys): Promise<SigningKey[]> {
  const rows = await findRows<KeyRow>(db, selectKeys, {});
  return rows.map(({ encryptedPrivate, ...row }) => {
    const plain = unseal(keys, purposeOf(row.kid), encryptedPrivate);
    if (!plain)
      throw new DatabaseStartError(
        `None of the encryption keys opens the signing key ${row.kid}. ` +
          "Put the key that was used before into ENCRYPTION_KEYS.",
      );
    return { ...row, privateJwk: JSON.parse(plain.toString()) as JWK };
  });
}

/** The hour for which apps may cache the key set, and the time in which all processes publish it. */
const publishedSeconds = 3600 + 600;

/** At once if the key set was never read without it. */
const usableFrom = (createdAt: Date, before: Date | undefined): Date =>
  before !== undefined && before < createdAt ? new Date(createdAt.getTime() + publishedSeconds * 1000) : createdAt;

/** `usableAt` is when all apps have a NEXT key; null for other states. */
export async function describeSigningKeys({ prisma }: RecordStore) {
  const select = { kid: true, algorithm: true, state: true, createdAt: true, activatedAt: true, retiredAt: true };
  const places = { ACTIVE: 0, NEXT: 1, RETIRED: 2 };
  const found = await prisma.signingKey.findMany({ select, orderBy: [{ createdAt: "desc" }, { kid: "asc" }] });
  const active = new Map(found.flatMap((one) => (one.state === "ACTIVE" ? [[one.algorithm, one.createdAt]] : [])));
  return found
    .map((one) => ({
      ...one,
      usableAt: one.state === "NEXT" ? usableFrom(one.createdAt, active.get(one.algorithm)) : null,
    }))
    .sort((a, b) => places[a.state] - places[b.state]);
}

const selectVersion = statement(
  () => sql`SELECT string_agg(${key.kid} || ' ' || ${key.state}, ',' ORDER BY ${key.kid}) AS version FROM ${key}`,
  "sign-on.findKeysVersion",
);

export async function findKeysVersion(db: Queryable): Promise<string> {
  const [row] = await findRows<{ version: string | null }>(db, selectVersion, {});
  return row?.version ?? "";
}

const selectActive = statement(() => sql`SELECT FROM ${key} WHERE ${key.state} = 'ACTIVE' LIMIT 1`);

export async function checkSigningKeys(db: Queryable): Promise<void> {
  if ((await run(db, selectActive, {})) === 0) throw new Error("no signing key is active");
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
