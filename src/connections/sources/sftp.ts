import { readPublicKeys } from "./public-keys.ts";
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
