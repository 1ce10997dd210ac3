import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  createHmac,
  createSecretKey,
  type KeyObject,
} from "node:crypto";

const keys = new WeakMap<Buffer, KeyObject>();

/** The secret as a key object. Node imports a Buffer at each use, which takes several times as long as the use. */
export function keyOf(secret: Buffer): KeyObject {
  const known = keys.get(secret);
  if (known) return known;
  const key = createSecretKey(secret);
  keys.set(secret, key);
  return key;
}

export const hmac = (secret: Buffer) => createHmac("sha256", keyOf(secret));

/** 32 bytes each: the first encrypts, all can decrypt. */
export type EncryptionKeys = readonly Buffer[];

const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts with AES-256-GCM. `purpose` is authenticated, so that content cannot move from one row to another. */
export function seal([key]: EncryptionKeys, purpose: string, plain: Buffer): Buffer {
  return sealWith(key, purpose, plain, () => randomBytes(nonceBytes));
}

/** Like `seal`, but equal contents give equal bytes: the nonce is derived from the content. */
export function sealRepeatably([key]: EncryptionKeys, purpose: string, plain: Buffer): Buffer {
  const draw = (secret: Buffer) =>
    hmac(secret).update(purpose).update("\0").update(plain).digest().subarray(0, nonceBytes);
  return sealWith(key, purpose, plain, draw);
}

function sealWith(key: Buffer | undefined, purpose: string, plain: Buffer, draw: (key: Buffer) => Buffer): Buffer {
  if (!key) throw new Error("there is no encryption key");
  const nonce = draw(key);
  const cipher = createCipheriv("aes-256-gcm", keyOf(key), nonce).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function unseal(keys: EncryptionKeys, purpose: string, sealed: Buffer): Buffer | null {
  if (sealed.length < nonceBytes + tagBytes) return null;
  for (const key of keys) {
    try {
      const decipher = createDecipheriv("aes-256-gcm", keyOf(key), sealed.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(sealed.subarray(-tagBytes));
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {}
  }
  return null;
}

/** Derives keys for one purpose, so that one use cannot weaken another. */
export function deriveKeys(keys: EncryptionKeys, purpose: string): EncryptionKeys {
  return keys.map((key) => Buffer.from(hkdfSync("sha256", key, "", purpose, 32)));
}

export type Sealed<Value> = {
  write(value: Value, now: Date): string;
  /** Null if it has expired or was sealed for another purpose. */
  read(text: string, now: Date): Value | null;
};

export function makeSealed<Value extends object>(key: Buffer, purpose: string, seconds: number): Sealed<Value> {
  return {
    write: (value, now) => {
      const sealed = { value, until: now.getTime() + seconds * 1000 };
      return seal([key], purpose, Buffer.from(JSON.stringify(sealed))).toString("base64url");
    },
    read: (text, now) => {
      const plain = unseal([key], purpose, Buffer.from(text, "base64url"));
      if (plain === null) return null;
      const { value, until } = JSON.parse(plain.toString()) as { value: Value; until: number };
      return now.getTime() < until ? value : null;
    },
  };
}
