import { open, rm } from "node:fs/promises";

/** Writes a file that only its owner can read; fails before `make` if it exists. If `make` fails, no file is left. */
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
