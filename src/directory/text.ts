import { AppError } from "../platform/errors.ts";

/** Returns the text without outer white space; refuses what is empty, longer than the record keeps or unprintable. */
export function checkText(field: string, text: string, maxLength = 200): string {
  const trimmed = text.trim();
  if (trimmed === "") throw new AppError("invalid", "text_empty", `${field} must not be empty.`);
  if (Array.from(trimmed).length > maxLength) throw new AppError("invalid", "text_too_long", `${field} is longer than ${maxLength} characters.`);
  if (trimmed.includes("\0")) throw new AppError("invalid", "text_unprintable", `${field} holds a character that cannot be kept.`);
  return trimmed;
}

/** Returns the text as it is; refuses what does not look as it must. */
export function checkShape(field: string, text: string, { shape, like }: { shape: RegExp; like: string }): string {
  if (!shape.test(text)) throw new AppError("invalid", "text_malformed", `${field} must look like ${like}.`);
  return text;
}
