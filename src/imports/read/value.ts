import { cleanText, findTextFault } from "../../directory/index.ts";
import { foldText } from "../../platform/text/fold-text.ts";

/**
 * Units: characters. An id is compared by its exact characters, a name is kept in the one spelling that the directory
 * keeps.
 */
export const idLength = 255;
export const nameLength = 200;

/** Why the record cannot keep a value; null when it can. */
export function findValueFault(value: string, maxLength: number): [code: string, message: string] | null {
  if (value === "") return ["value_missing", "A value is missing."];
  if (value.length > maxLength) return ["value_too_long", `The value is longer than ${maxLength} characters.`];
  if (value.includes("\ufffd"))
    return [
      "value_unreadable",
      "The value holds bytes that are no UTF-8, as the rest of the file is. Export it again, or save it as UTF-8.",
    ];
  const fault = findTextFault(value, maxLength);
  return fault === null ? null : ["value_unreadable", `The value ${fault}.`];
}

export const toName = cleanText;

const longestUsername = 64;

/**
 * Reads the user name of a person, as user names are compared.
 *
 * Shape: null where there is none; empty for one that cannot be, which is a fault only where the school takes them.
 */
export function readUsername({ get }: { get(heading: string): string }): string | null {
  const username = foldText(get("username"));
  if (username === "") return null;
  return /[\s\ufffd]/.test(username) || findTextFault(username, longestUsername) !== null ? "" : username;
}
