import { AppError } from "../platform/errors.ts";
import { findUnprintable } from "../platform/text/unprintable.ts";

type Fault = { code: string; message: string };

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The one spelling in which a text for people is kept: composed (NFC), without outer white space. */
export const cleanText = (text: string): string => text.trim().normalize("NFC");

/**
 * Says why a text cannot be kept: it is empty, too long, or holds characters that nobody sees; null when it can.
 *
 * Units: `most` in code points of the text as `cleanText` returns it.
 */
export function findTextFault(text: string, most = 200): string | null {
  return findFault(text, most)?.message ?? null;
}

function findFault(text: string, most: number): Fault | null {
  const cleaned = cleanText(text);
  if (cleaned === "") return { code: "text_empty", message: "must not be empty" };
  // No text of more UTF-16 units fits, so a very long one is not counted to its end.
  if (cleaned.length > 2 * most || Array.from(cleaned).length > most)
    return { code: "text_too_long", message: `is longer than ${most} characters` };
  const found = findUnprintable(cleaned);
  if (found !== null) return { code: "text_unprintable", message: `holds a control or invisible character (${found})` };
  return visible.test(cleaned) ? null : { code: "text_empty", message: "must not be empty" };
}

/** Returns the text as `cleanText` does; refuses one that has a fault. */
export function checkText(field: string, text: string, maxLength = 200): string {
  refuseFault(field, text, maxLength);
  return cleanText(text);
}

/** As `checkText`, for what is compared with other systems by its exact characters: nothing is composed. */
export function checkIdentifier(field: string, text: string, maxLength = 255): string {
  refuseFault(field, text, maxLength);
  return text.trim();
}

function refuseFault(field: string, text: string, maxLength: number): void {
  const fault = findFault(text, maxLength);
  if (fault !== null) throw new AppError("invalid", fault.code, `${field} ${fault.message}.`);
}

/** Returns the text as it is; refuses what does not look as it must. */
export function checkShape(field: string, text: string, { shape, like }: { shape: RegExp; like: string }): string {
  if (!shape.test(text)) throw new AppError("invalid", "text_malformed", `${field} must look like ${like}.`);
  return text;
}
