import { STATUS_CODES } from "node:http";
import type { AppError } from "../errors.ts";

export type ProblemType = (code: string) => string;

export const makeProblemType =
  (issuerUrl: string): ProblemType =>
  (code) =>
    `${issuerUrl.replace(/\/$/, "")}/docs/errors/${code}`;

type Problem = { type: string; title: string; status: number; message: string; code: string; requestId: string };

/** Source: RFC 9457, with the text in `message`. */
export const presentProblem = (
  { status, code, message }: Pick<AppError, "status" | "code" | "message">,
  { typeOf, requestId }: { typeOf: ProblemType; requestId: string },
): Problem => ({ type: typeOf(code), title: STATUS_CODES[status] ?? "Error", status, message, code, requestId });
