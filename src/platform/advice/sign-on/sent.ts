import german from "./sent-de.json" with { type: "json" };
import english from "./sent-en.json" with { type: "json" };

export type SentProblem = keyof typeof english;

/** One parameter of a request. A secret or personal value appears as its `length` only. */
export type SentParameter = {
  name: string;
  value: string | null;
  length: number | null;
  problem: SentProblem | null;
};

export const sentProblemTexts: Record<"de" | "en", Readonly<Record<SentProblem, string>>> = {
  de: german,
  en: english,
};

/** How to fix a parameter; null if it is fine or the problem is of another version. */
export const adviseSent = ({ problem }: { problem: string | null }, language: "de" | "en"): string | null =>
  problem !== null && Object.hasOwn(english, problem) ? sentProblemTexts[language][problem as SentProblem] : null;
