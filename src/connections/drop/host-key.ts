import { createECDH, createPrivateKey, createPublicKey, hash } from "node:crypto";

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

/** The fingerprint of a host key, as clients show it. Source: RFC 4253 section 6.6, RFC 5656 section 3.1. */
export function fingerprintOf(hostKey: string): string {
  const { x = "", y = "" } = createPublicKey(hostKey).export({ format: "jwk" });
  const point = [Buffer.from([4]), ...[x, y].map((part) => Buffer.from(part, "base64url"))];
  const fields = [Buffer.from("ecdsa-sha2-nistp256"), Buffer.from("nistp256"), Buffer.concat(point)].map((field) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(field.length);
    return Buffer.concat([length, field]);
  });
  return `SHA256:${hash("sha256", Buffer.concat(fields), "base64").replace(/=+$/, "")}`;
}
