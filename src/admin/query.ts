import { AppError } from "../platform/errors.ts";

/** The words of a search; commas separate them too, as in "Last, First". */
export function searchTermsOf(search: string | undefined): string[] | undefined {
  const words = (search ?? "")
    .normalize("NFC")
    .split(/[\s,;]+/)
    .filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

export const invalidRequest = (message: string) => new AppError("invalid", "invalid_request", message);

export const readTime = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest("The time is invalid.");
  return time;
};
