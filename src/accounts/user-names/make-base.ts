import type { PersonName } from "../../directory/index.ts";
import type { UserNameRule } from "../sign-in-settings.ts";
import { readFileSync } from "node:fs";

const pairs = (text: string): [string, string][] =>
  text
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]);

// Before marks are removed: a letter, and what replaces it.
const composed = new Map(pairs("äae öoe üue åaa ґg їi йi ўu ёe"));

const letters = new Map([
  ...pairs("ßss æae œoe øoe łl đd ðd þth ħh ıi ĸk ŋn ŧt ſs əe ƒf"),
  ...pairs("аa бb вv гg дd еe жzh зz иi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъie ыy ь эe юiu яia"),
  ...pairs("єie іi ђdj јj љlj њnj ћc џdz ѓg ќk ѕdz әa қk ғg ңn өo ұu үu һh"),
  ...pairs("αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo"),
  ...pairs("اa بb تt ثth جj حh خkh دd ذdh رr زz سs شsh صs ضd طt ظz عa غgh فf قq كk لl مm نn هh وw يy ىa ةa ء"),
  ...pairs("پp چch ژzh گg کk یy ڤv ٹt ڈd ڑr ںn ہh ھh ےe ٱa"),
  ...pairs("אa בb גg דd הh וv זz חch טt יy כk ךk לl מm םm נn ןn סs עa פp ףp צts ץts קk רr שsh תt"),
]);

/** Writes a name with the letters a to z and hyphens. Source: ICAO Doc 9303-3 section 6 for Cyrillic. */
export function transliterate(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => composed.get(letter) ?? letter)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/\P{ASCII}/gu, (letter) => letters.get(letter) ?? letter)
    .replace(/['’ʼʻ`´ʾʿ]/g, "")
    .replace(/[^a-z]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

/** Leaves room for a number of six digits in a user name of 64 characters. */
const longestBase = 58;

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

/** Short German words that children know; any two differ in more than one letter. */
export const friendlyWords: readonly string[] = readFileSync(new URL("./words.txt", import.meta.url), "utf8")
  .trim()
  .split(/\s+/);
