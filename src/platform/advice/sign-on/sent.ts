import german from "./sent-de.json" with { type: "json" };
import english from "./sent-en.json" with { type: "json" };

/** What may be wrong with a parameter that an app sends. */
export type SentProblem = keyof typeof english;

/**
 * One parameter of a request, without secrets and personal values.
 *
 * Shape: a value that may be shown has `value`, one that may not only its `length` in characters; one that was not sent
 *        has neither.
 */
export type SentParameter = {
  name: string;
  value: string | null;
  length: number | null;
  problem: SentProblem | null;
};

/** How an app mends each problem. */
export const sentProblemTexts: Record<"de" | "en", Readonly<Record<SentProblem, string>>> = {
  de: german,
  en: english,
};

/** How an app mends what is wrong with a parameter; null where nothing is, and for a problem of another version. */
export const adviseSent = ({ problem }: { problem: string | null }, language: "de" | "en"): string | null =>
  problem !== null && Object.hasOwn(english, problem) ? sentProblemTexts[language][problem as SentProblem] : null;
