import { createECDH, createPrivateKey } from "node:crypto";

/** The host key (P-256) that a secret of 32 bytes makes, so that all processes have the same one. */
export function makeHostKey(secret: Buffer): string {
  const d = Buffer.from(secret);
  // Below the order of the curve.
  d[0]! &= 0x7f;
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(d);
  const point = curve.getPublicKey().subarray(1);
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((part) => part.toString("base64url"));
  const key = { kty: "EC", crv: "P-256", d: d.toString("base64url"), x: x!, y: y! };
  return createPrivateKey({ key, format: "jwk" }).export({ type: "sec1", format: "pem" }).toString();
}
