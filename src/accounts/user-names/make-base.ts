import type { PersonName } from "../../directory/index.ts";
import type { UserNameRule } from "../sign-in-settings.ts";
import { transliterate } from "./transliterate.ts";

/** Leaves room for a number of six digits in a user name of 64 characters. */
const longestBase = 58;

/** The first of several first names. */
const firstWord = (names: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map(transliterate)
    .find((name) => name !== "") ?? "";

export function makeBase(rule: UserNameRule, name: PersonName | null): string | null {
  if (rule === "RANDOM" || name === null) return null;
  const first = firstWord(name.firstCall) || firstWord(name.firstFull);
  const last = transliterate(name.last);
  const base = join(rule, first, last).slice(0, longestBase).replace(/\W+$/, "");
  return base === "" ? null : base;
}

function join(rule: UserNameRule, first: string, last: string): string {
  if (first === "" || last === "") return first || last;
  if (rule === "FIRST_INITIAL_LAST") return `${first[0]}.${last}`;
  return rule === "FIRST_LAST_INITIAL" ? `${first}.${last[0]}` : `${first}.${last}`;
}
