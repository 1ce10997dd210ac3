import { cleanText, findTextFault } from "../../directory/index.ts";
import { lostByte } from "./text.ts";
import { foldText } from "../../platform/text/likeness.ts";

export const idLength = 255;
export const nameLength = 200;

/** An id without what spreadsheets write around it: `="007"`, `'007`, `12345.0`, and spaces between thousands. */
export const cleanId = (text: string): string =>
  text
    .replace(/^="(.*)"$/, "$1")
    .replace(/^'(?=\d)/, "")
    .replace(/^(\d+)[.,]0+$/, "$1")
    .replace(/^\d{1,3}([\u00a0\u2009\u202f]\d{3})+$/, (digits) => digits.replace(/\D/g, ""))
    .trim();

const rounded = /^-?\d([.,]\d+E\+?|E\+)\d+$/i;
const spreadsheetError =
  /^#(n\/a|nv|ref!|bezug!|value!|wert!|name\?|div\/0!|num!|zahl!|null!|calc!|spill!|überlauf!|#+)$/i;

export function findValueFault(value: string, maxLength: number): [code: string, message: string] | null {
  if (value === "") return ["value_missing", "A value is missing."];
  if (value.length > maxLength) return ["value_too_long", `The value is longer than ${maxLength} characters.`];
  if (maxLength === idLength && rounded.test(value))
    return ["id_rounded", "A spreadsheet has rounded the number. Format the column as text and export it again."];
  if (spreadsheetError.test(value))
    return [
      "value_is_error",
      "The cell shows an error of the spreadsheet, or a formula that was not calculated. Correct it and save the file again.",
    ];
  // U+FFFD in a name is a warning.
  if (value.includes(lostByte) || (maxLength === idLength && value.includes("\ufffd")))
    return [
      "value_unreadable",
      "The value has bytes that are not UTF-8, unlike the rest of the file. Export it again, or save it as UTF-8.",
    ];
  const fault = findTextFault(value, maxLength);
  return fault === null ? null : ["value_unreadable", `The value ${fault}.`];
}

export const toName = cleanText;

const longestUsername = 64;

/** Null without a user name; "" for an invalid one, which is a fault only if the school uses them. */
export function readUsername({ get }: { get(heading: string): string }): string | null {
  const username = foldText(get("username"));
  if (username === "") return null;
  return /[\s\ufffd\uffff]/.test(username) || findTextFault(username, longestUsername) !== null ? "" : username;
}
