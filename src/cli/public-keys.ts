import { readFile } from "node:fs/promises";
import { listKeys } from "../platform/text/key-set.ts";
import { UsageError } from "./option.ts";

/** Reads a JSON Web Key Set. Errors: UsageError if the file holds none. */
export async function readKeyFile(file: string): Promise<object[]> {
  const keys = listKeys(await readFile(file, "utf8"));
  if (keys === null) throw new UsageError(`${file} is not a JSON Web Key Set.`);
  return keys;
}
