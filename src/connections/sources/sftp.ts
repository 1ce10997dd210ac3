import { SourceError } from "./failure.ts";
import type { RosterSource } from "./source.ts";

/** A program that sends files (src/connections/drop): each begins a run, and there is nothing to fetch. */
export const sftp: RosterSource = {
  fields: { publicKeys: "required" },
  secret: "none",
  checkSettings({ publicKeys = "" }, refuse) {
    if (readPublicKeys(publicKeys) === null)
      throw refuse(
        "roster_setting_malformed",
        "publicKeys",
        "must be up to 10 public keys of OpenSSH (not RSA below 2048 bits)",
      );
  },
  read: () => Promise.reject(new SourceError("NOT_FOUND", "files are sent over SFTP, none is fetched")),
};

const types = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"];
const leastRsaBits = 2048;
const mostKeys = 10;

/**
 * Reads public keys as OpenSSH writes them, separated by commas; null if one cannot be used.
 *
 * Source: RFC 4253 section 6.6.
 */
export function readPublicKeys(text: string): { type: string; blob: Buffer }[] | null {
  const keys = text.split(",").map((part) => {
    const [type = "", base64 = ""] = part.trim().split(/\s+/);
    const blob = Buffer.from(base64, "base64");
    const [named, first, modulus] = readFields(blob);
    const isLong = type === "ssh-rsa" ? (modulus?.length ?? 0) * 8 >= leastRsaBits : first !== undefined;
    return types.includes(type) && named?.toString() === type && isLong ? { type, blob } : null;
  });
  return keys.length <= mostKeys && keys.every((key) => key !== null) ? keys : null;
}

/** Empty if a field is longer than the rest. */
function readFields(blob: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= blob.length;) {
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return [];
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
