import { readFile } from "node:fs/promises";
import { readPublicKeys } from "../access/client-authentication.ts";
import { listKeys, type PublicKey } from "../platform/crypto/public-key.ts";
import { UsageError } from "./option.ts";

/** Reads a JSON Web Key Set. Errors: UsageError if the file holds none; invalid public_key_refused. */
export async function readKeyFile(file: string): Promise<PublicKey[]> {
  const keys = listKeys(await readFile(file, "utf8"));
  if (keys === null) throw new UsageError(`${file} is not a JSON Web Key Set.`);
  return readPublicKeys(keys);
}
