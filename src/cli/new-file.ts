import { open, rm } from "node:fs/promises";

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
