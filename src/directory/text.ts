import { AppError, refuseProperty } from "../platform/errors.ts";
import { findMixedWord } from "../platform/text/likeness.ts";
import { findUnprintable } from "../platform/text/unprintable.ts";

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

export const cleanText = (text: string): string => text.trim().normalize("NFC");

export function findTextFault(text: string, most = 200): string | null {
  return findFault(text, most)?.message ?? null;
}

function findFault(text: string, most: number): { code: string; message: string } | null {
  const cleaned = cleanText(text);
  if (cleaned === "") return { code: "text_empty", message: "must not be empty" };
  // A text of more UTF-16 units is too long anyway, and counting its code points would take long.
  if (cleaned.length > 2 * most || Array.from(cleaned).length > most)
    return { code: "text_too_long", message: `is longer than ${most} characters` };
  const unprintable = findUnprintable(cleaned);
  if (unprintable !== null)
    return { code: "text_unprintable", message: `holds a control or invisible character (${unprintable})` };
  return visible.test(cleaned) ? null : { code: "text_empty", message: "must not be empty" };
}

export function checkText(field: string, text: string, maxLength = 200): string {
  refuseFault(field, text, maxLength);
  return cleanText(text);
}

/** As `checkText`, for what people recognise somebody by. Errors: invalid text_* too. */
export function checkName(field: string, text: string, maxLength = 200): string {
  const name = checkText(field, text, maxLength);
  const word = findMixedWord(name);
  if (word === null) return name;
  const message = `${field} mixes letters of several alphabets that look alike, in "${word}". Write each word in one.`;
  throw new AppError("invalid", "text_mixed_alphabets", message);
}

/** As `checkText`, for a text of several lines; empty ones stay. */
export function checkLines(field: string, text: string, maxLength: number): string {
  const lines = text.replace(/\r\n?/g, "\n").trim().split("\n");
  checkText(field, lines.join(" "), maxLength);
  return lines.map((line) => (line.trim() === "" ? "" : checkText(field, line, maxLength))).join("\n");
}

/** Keeps the exact characters, because other systems compare them. Errors: as `checkText`. */
export function checkIdentifier(field: string, text: string, maxLength = 255): string {
  refuseFault(field, text, maxLength);
  return text.trim();
}

function refuseFault(field: string, text: string, maxLength: number): void {
  const fault = findFault(text, maxLength);
  if (fault !== null) throw refuseProperty(fault.code, field, fault.message);
}

function checkShape(field: string, text: string, { shape, like }: { shape: RegExp; like: string }): string {
  if (!shape.test(text)) throw refuseProperty("text_malformed", field, `must look like ${like}`);
  return text;
}

const checks: Readonly<Record<string, (field: string, text: string) => string>> = {
  sourceSystemIdentifier: checkIdentifier,
  officialId: (field, text) => checkIdentifier(field, text, 64),
  zipCode: (field, text) => checkText(field, text, 20),
  country: (field, text) => checkShape(field, text, { shape: /^[A-Z]{2}$/, like: "DE" }),
  state: (field, text) => checkShape(field, text, { shape: /^[A-Z0-9]{1,3}$/, like: "NI" }),
  schoolingLevel: (field, text) => checkShape(field, text, { shape: /^[A-Z][A-Z0-9_]*$/, like: "GYMNASIUM" }),
};

/** Checks each text of a record by the rule of its column; absent ones become null. Only text columns compile. */
export function checkTexts<Texts extends { [Column in keyof Texts]?: string | null | undefined }>(texts: Texts) {
  const checked = Object.entries<string | null | undefined>(texts).map(([name, text]) => [
    name,
    text === null || text === undefined ? null : (checks[name] ?? checkText)(name, text),
  ]);
  return Object.fromEntries(checked) as { [Column in keyof Texts]-?: Exclude<Texts[Column], undefined> };
}
