import { cleanText, findTextFault } from "../../directory/index.ts";
import { lostByte } from "./text.ts";
import { foldText } from "../../platform/text/fold-text.ts";

export const idLength = 255;
export const nameLength = 200;

export function findValueFault(value: string, maxLength: number): [code: string, message: string] | null {
  if (value === "") return ["value_missing", "A value is missing."];
  if (value.length > maxLength) return ["value_too_long", `The value is longer than ${maxLength} characters.`];
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
