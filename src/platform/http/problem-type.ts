/**
 * The `type` of a problem: the address of the page that explains its code, in `docs/errors.md`.
 *
 * Source: RFC 9457, 3.1.1.
 */
export type ProblemType = (code: string) => string;

/** Shape: `issuerUrl` is where the documentation is served. */
export const makeProblemType =
  (issuerUrl: string): ProblemType =>
  (code) =>
    `${issuerUrl.replace(/\/$/, "")}/docs/errors/${code}`;
