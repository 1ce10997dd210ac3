export type ProblemType = (code: string) => string;

export const makeProblemType =
  (issuerUrl: string): ProblemType =>
  (code) =>
    `${issuerUrl.replace(/\/$/, "")}/docs/errors/${code}`;
