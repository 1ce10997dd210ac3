import { open, rm } from "node:fs/promises";

/**
 * Writes what `make` answers to a new file that only its owner can read.
 *
 * Errors: where the file exists, before anything is made; what `make` throws, and then there is no file.
 */
export async function writeNewFile<Made extends { content: string | Uint8Array }>(
  file: string,
  make: () => Promise<Made>,
): Promise<Made> {
  const written = await open(file, "wx", 0o600);
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
