import { hkdfSync, randomBytes } from "node:crypto";
import { type Db, withPrismaTransaction, type PrismaDb, type Transaction } from "../../../platform/database/db.ts";
import { DatabaseStartError } from "../../../platform/postgres/index.ts";
import { type EncryptionKeys, seal, unseal } from "../../../platform/crypto/seal.ts";
import { fields, insert, makeFind, makeRun, sql, table, update } from "../../../platform/database/sql.ts";
import type { Queryable } from "../../../platform/database/sql.ts";
import { recordAudit, type Origin } from "../../../events/index.ts";
import { totpPurpose } from "../../../accounts/index.ts";
import { purposeOf } from "./signing-keys.ts";
import { AppError } from "../../../platform/errors.ts";
import { forgetSignIns } from "../storage/artifact.ts";

const purposes = {
  cookies: "cookies",
  csrf: "csrf",
  loginHint: "login hint",
  signInTraces: "sign-in traces",
  cardAnswers: "card answers",
  cardCookies: "card cookies",
  replay: "replay",
  newPassword: "new password",
  waitingSignIn: "waiting sign-in",
  secondFactor: "second factor",
  lastSignIn: "last sign-in",
  recoveryCodes: "recovery codes",
  pseudonyms: "pseudonyms",
  sessionIds: "session ids",
  sftpHost: "sftp host key",
};

/** Secrets that all processes share, each derived from one root for one purpose. */
export type SharedSecrets = Record<keyof typeof purposes, Buffer>;

const rootName = "root";
const rootPurpose = (name: string): string => `shared secret ${name}`;

const wrongKeys =
  "None of the encryption keys opens what this database holds. Put the key that was used before into ENCRYPTION_KEYS.";

const secret = table("sharedSecret");
const insertRoot = makeRun<{ name: string; encrypted: Buffer; createdAt: Date }>(
  ({ name, encrypted, createdAt }) =>
    sql`${insert("sharedSecret", { name, encrypted, createdAt })} ON CONFLICT DO NOTHING`,
);
const findRoot = makeFind<{ encrypted: Buffer }, { name: string }>()`
  SELECT ${secret.encrypted} AS encrypted FROM ${secret} WHERE ${secret.name} = ${"name"}`;

/** The first process to start makes the root. Errors: DatabaseStartError if none of the keys decrypts it. */
export async function loadSharedSecrets(db: Db, keys: EncryptionKeys, now: Date): Promise<SharedSecrets> {
  const encrypted = seal(keys, rootPurpose(rootName), randomBytes(32));
  await insertRoot(db.pool, { name: rootName, encrypted, createdAt: now });
  const root = await openRoot(db.pool, keys);
  if (root === null) throw new DatabaseStartError(wrongKeys);
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", root, "", purpose, 32));
  const derived = Object.entries(purposes).map(([name, purpose]) => [name, derive(purpose)]);
  return Object.fromEntries(derived) as SharedSecrets;
}

/** Errors: DatabaseStartError if none of the keys decrypts the secrets. */
export async function checkSecrets(db: Queryable, keys: EncryptionKeys): Promise<void> {
  if (!(await opensSecrets(db, keys))) throw new DatabaseStartError(wrongKeys);
}

/** Whether one of the keys decrypts the secrets of the database; false if it holds none. */
const opensSecrets = async (db: Queryable, keys: EncryptionKeys): Promise<boolean> =>
  (await openRoot(db, keys)) !== null;

async function openRoot(db: Queryable, keys: EncryptionKeys): Promise<Buffer | null> {
  const [root] = await findRoot(db, { name: rootName });
  return root ? unseal(keys, rootPurpose(rootName), root.encrypted) : null;
}

type Sealed = { id: string; sealed: Buffer };

const signingKey = table("signingKey");
const factor = table("secondFactor");

const kinds = [
  {
    rows: sql`${fields<Sealed>({ id: signingKey.kid, sealed: signingKey.encryptedPrivate })} FROM ${signingKey}`,
    write: makeRun<Sealed>()`
      ${({ sealed }) => update("signingKey", "signing_key", { encryptedPrivate: sealed })}
        WHERE ${signingKey.kid} = ${"id"}`,
    purposeOf,
  },
  {
    rows: sql`${fields<Sealed>({ id: secret.name, sealed: secret.encrypted })} FROM ${secret}`,
    write: makeRun<Sealed>()`
      ${({ sealed }) => update("sharedSecret", "shared_secret", { encrypted: sealed })} WHERE ${secret.name} = ${"id"}`,
    purposeOf: rootPurpose,
  },
  {
    rows: sql`
      ${fields<Sealed>({ id: factor.id, sealed: factor.secret })} FROM ${factor} WHERE ${factor.secret} IS NOT NULL`,
    write: makeRun<Sealed>()`
      ${({ sealed }) => update("secondFactor", "second_factor", { secret: sealed })} WHERE ${factor.id} = ${"id"}`,
    purposeOf: totpPurpose,
  },
].map((kind) => ({ ...kind, list: makeFind<Sealed>()`SELECT ${kind.rows} FOR UPDATE` }));

type Deps = { db: PrismaDb; keys: EncryptionKeys; now: Date };

/** Encrypts all stored secrets with the first key and returns how many. Errors: DatabaseStartError for other keys. */
export async function reEncryptSecrets({ db, keys, now }: Deps): Promise<number> {
  return withPrismaTransaction(db, async (tx) => {
    let values = 0;
    for (const { list, write, purposeOf: purpose } of kinds) {
      for (const { id, sealed } of await list(tx, {})) {
        const plain = unseal(keys, purpose(id), sealed);
        if (plain === null) throw new DatabaseStartError(wrongKeys);
        await write(tx, { id, sealed: seal(keys, purpose(id), plain) });
        values += 1;
      }
    }
    await recordAudit(tx, { at: now, action: "secrets_re_encrypted", detail: { values } });
    return values;
  });
}

export type LostSecrets = { authenticators: number; cards: number };

/**
 * Removes what only lost encryption keys decrypt, and ends all sign-ins; passwords and passkeys stay. The next start
 * makes new signing keys and shared secrets. Errors: conflict keys_not_lost.
 */
export async function forgetLostSecrets(tx: Transaction, keys: EncryptionKeys, origin: Origin): Promise<LostSecrets> {
  if (await opensSecrets(tx, keys))
    throw new AppError("conflict", "keys_not_lost", "The encryption keys open what this database holds.");
  await tx.prisma.signingKey.deleteMany();
  await tx.prisma.sharedSecret.deleteMany();
  await tx.prisma.recoveryCode.deleteMany();
  const authenticators = await tx.prisma.secondFactor.deleteMany({ where: { secret: { not: null } } });
  const cards = await tx.prisma.loginCard.updateMany({
    where: { secondStepHash: { not: null }, revokedAt: null },
    data: { revokedAt: origin.at },
  });
  await tx.prisma.pictureCode.deleteMany();
  await tx.prisma.classList.deleteMany();
  await forgetSignIns(tx);
  const lost = { authenticators: authenticators.count, cards: cards.count };
  await recordAudit(tx, { ...origin, action: "lost_keys_replaced", detail: lost });
  return lost;
}
