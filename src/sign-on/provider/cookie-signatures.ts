import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** What the library asks of a Keygrip. */
export type CookieSignatures = {
  sign(data: string): string;
  verify(data: string, signature: string): boolean;
  /** The place of the key that made the signature; -1 for none. */
  index(data: string, signature: string): number;
};

/**
 * Signs the library's cookies with HMAC-SHA-256.
 *
 * The library's own way is SHA-1, and compares by hashing both sides once more with a fresh key, at every request.
 */
export function makeCookieSignatures(key: Buffer): CookieSignatures {
  const secret = createSecretKey(key);
  const digest = (data: string): Buffer => createHmac("sha256", secret).update(data).digest();
  const isSignature = (data: string, signature: string): boolean => {
    const presented = Buffer.from(signature, "base64url");
    const expected = digest(data);
    return presented.length === expected.length && timingSafeEqual(presented, expected);
  };
  return {
    sign: (data) => digest(data).toString("base64url"),
    verify: isSignature,
    index: (data, signature) => (isSignature(data, signature) ? 0 : -1),
  };
}
