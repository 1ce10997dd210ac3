/** The page in docs/errors.md that explains the code. Source: RFC 9457 section 3.1.1. */
export type ProblemType = (code: string) => string;

export const makeProblemType =
  (issuerUrl: string): ProblemType =>
  (code) =>
    `${issuerUrl.replace(/\/$/, "")}/docs/errors/${code}`;
