import { STATUS_CODES } from "node:http";
import type { Response } from "express";
import type { AppError, PropertyFault } from "../errors.ts";

export type ProblemType = (code: string) => string;

export const makeProblemType =
  (issuerUrl: string): ProblemType =>
  (code) =>
    `${issuerUrl.replace(/\/$/, "")}/docs/errors/${code}`;

type Problem = {
  type: string;
  title: string;
  status: number;
  message: string;
  code: string;
  requestId: string;
  errors?: PropertyFault[];
};

/** Source: RFC 9457, with the text in `message`. */
export const presentProblem = (
  {
    status,
    code,
    message,
    faults = [],
  }: Pick<AppError, "status" | "code" | "message"> & { faults?: readonly PropertyFault[] },
  { typeOf, requestId }: { typeOf: ProblemType; requestId: string },
): Problem => ({
  type: typeOf(code),
  title: STATUS_CODES[status] ?? "Error",
  status,
  message,
  code,
  requestId,
  ...(faults.length > 0 && { errors: [...faults] }),
});

const mediaType = "application/problem+json";

/** As `application/json` for a caller that asks for nothing else: some clients decode no other type. */
export function sendProblem(res: Response, problem: object): void {
  res.vary("Accept");
  const takes = (type: string) => res.req.accepts(type) !== false;
  const type = takes("application/json") && !takes(mediaType) ? "application/json" : mediaType;
  res.setHeader("Content-Type", `${type}; charset=utf-8`);
  res.send(JSON.stringify(problem));
}
