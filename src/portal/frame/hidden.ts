import type { PersonId } from "../../directory/index.ts";
import { sealRepeatably, unseal, type EncryptionKeys } from "../../platform/crypto/seal.ts";

const purposeFor = (personId: PersonId): string => `address of ${personId}`;

/** Encrypts a text for one reader; "" stays "", and equal texts give equal addresses. */
export const hide = (keys: EncryptionKeys, reader: PersonId, text: string): string =>
  text === "" ? "" : sealRepeatably(keys, purposeFor(reader), Buffer.from(text)).toString("base64url");

/** Returns "" for a text that was not hidden for this reader. */
export const reveal = (keys: EncryptionKeys, reader: PersonId, hidden: string): string =>
  unseal(keys, purposeFor(reader), Buffer.from(hidden, "base64url"))?.toString() ?? "";
