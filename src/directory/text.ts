import { AppError } from "../platform/errors.ts";

/** Returns the text without outer white space; refuses what is empty or longer than the record keeps. */
export function checkText(field: string, text: string, maxLength = 200): string {
  const trimmed = text.trim();
  if (trimmed === "") throw new AppError("invalid", "text_empty", `${field} must not be empty.`);
  if (trimmed.length > maxLength) throw new AppError("invalid", "text_too_long", `${field} is longer than ${maxLength} characters.`);
  return trimmed;
}
