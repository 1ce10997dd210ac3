import { AppError } from "../platform/errors.ts";

/** The words of a search; undefined if there are none. */
export function searchTermsOf(search: string | undefined): string[] | undefined {
  const words = (search ?? "").split(/\s+/).filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

export const invalidRequest = (message: string) => new AppError("invalid", "invalid_request", message);

/** Errors: invalid invalid_request for an invalid time. */
export const readTime = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidRequest("The time is invalid.");
  return time;
};
