import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of this folder with its variables filled in, as `envsubst` fills them in. */
export function fillIn(file: string, values: Readonly<Record<string, string>>): string {
  return readFileSync(join(import.meta.dirname, file), "utf8").replaceAll(
    /\$\{([A-Z0-9_]+)\}/g,
    (_all, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${file} names ${name}, which has no value.`);
      return value;
    },
  );
}
