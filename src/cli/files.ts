import { openAsBlob } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import { readPublicKeys } from "../access/client-authentication.ts";
import { listKeys, type PublicKey } from "../platform/crypto/public-key.ts";
import { UsageError } from "./option.ts";

/**
 * Writes a file that only its owner can read. If `make` fails, no file is left. Fails before `make` if the file
 * exists.
 */
export async function writeNewFile<Made extends { content: string | Uint8Array | AsyncIterable<Uint8Array> }>(
  file: string,
  make: () => Promise<Made>,
): Promise<Made> {
  const written = await open(file, "wx", 0o600).catch((error: unknown) => {
    const isThere = (error as { code?: string }).code === "EEXIST";
    throw isThere ? new Error(`The file '${file}' exists already. Nothing was written.`, { cause: error }) : error;
  });
  try {
    const made = await make();
    await written.writeFile(made.content);
    await written.close();
    return made;
  } catch (error) {
    await written.close();
    await rm(file);
    throw error;
  }
}

/** Reads a JSON Web Key Set. Errors: UsageError if the file holds none; invalid public_key_refused. */
export async function readKeyFile(file: string): Promise<PublicKey[]> {
  const keys = listKeys(await readFile(file, "utf8"));
  if (keys === null) throw new UsageError(`${file} is not a JSON Web Key Set.`);
  return readPublicKeys(keys);
}

/** Errors: UsageError. */
export async function openFile(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch {
    throw new UsageError(`The file '${path}' cannot be read.`);
  }
}

/** The body of a request that sends a file as it is. */
export const sendFile = (file: Blob) => ({
  // The contract's binary text is the bytes of the file.
  body: file as unknown as string,
  bodySerializer: (body: string) => body,
  headers: { "Content-Type": "application/octet-stream" },
});
