import { readFileSync } from "node:fs";

/** Short German words that children know; any two differ in more than one letter. */
export const friendlyWords: readonly string[] = readFileSync(new URL("./words.txt", import.meta.url), "utf8")
  .trim()
  .split(/\s+/);
