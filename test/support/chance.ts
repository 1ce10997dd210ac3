import { createHash } from "node:crypto";

/** A number from 0 up to 1 that looks random and is always the same for the same words. */
export const chanceOf = (...words: (string | number)[]): number =>
  createHash("sha256").update(words.join(" ")).digest().readUInt32BE() / 2 ** 32;
