import { randomInt } from "node:crypto";
import type { PasswordKind } from "../sign-in-settings.ts";
import { friendlyWords } from "../user-names/make-base.ts";

/** No look-alikes, and no vowels, so that no words result. */
const signs = "bcdfghjkmnpqrstvwxyz23456789";
const signsOfPassword = 10;
const wordsOfPassword = 3;
const [firstDigit, lastDigit] = [2, 9];

/** WORDS have 31.9 bits (three of 800 words, one of 8 digits), guessed against the limits of tries; LETTERS 48 bits. */
export function makePassword(kind: PasswordKind): string {
  if (kind === "LETTERS")
    return Array.from({ length: signsOfPassword }, () => signs[randomInt(signs.length)]!).join("");
  const words = Array.from({ length: wordsOfPassword }, () => friendlyWords[randomInt(friendlyWords.length)]!);
  return `${words.join("-")}${randomInt(firstDigit, lastDigit + 1)}`;
}
