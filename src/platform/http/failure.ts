import type { ErrorRequestHandler, Response } from "express";
import { isDatabaseUnavailable, isTimedOut, isUnstorable } from "../database/db.ts";
import { AppError, makeUnavailable, type PropertyFault } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import { STATUS_CODES } from "node:http";

export type RenderFailure = (failure: AppError, res: Response) => void;

export function answerFailures({ log, render }: { log: Log; render: RenderFailure }): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const failure = toAppError(error);
    // An input that is not checked; the message of PostgreSQL may quote it.
    if (isUnstorable(failure.cause))
      log.warn({ requestId: requestIdOf(res), sqlState: failure.cause.code }, "the database refused a value");
    if (failure.status >= 500 && failure.kind !== "not_offered") {
      log.error(
        { requestId: requestIdOf(res), code: failure.code, internal: failure.internal, err: failure.cause ?? failure },
        "request failed",
      );
    }
    if (res.headersSent || res.destroyed) {
      // A cut-off list must not look complete.
      if (res.socket) res.socket.resetAndDestroy();
      else res.destroy();
      return;
    }
    if (failure.status === 503 || failure.status === 429) res.setHeader("Retry-After", "5");
    res.status(failure.status);
    res.locals["code"] = failure.code;
    res.locals["message"] = failure.message.replace(/"[^"]*"/g, '"…"');
    render(failure, res);
  };
}

function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isDatabaseUnavailable(error)) return makeUnavailable(undefined, { cause: error });
  if (isTimedOut(error)) {
    const message = "The answer takes too long just now. Ask for less, or try again later.";
    return new AppError("unavailable", "timed_out", message, undefined, { cause: error });
  }
  if (isUnstorable(error)) {
    const message = "A value is too long, too large or contains characters that cannot be stored.";
    return new AppError("invalid", "invalid_request", message, undefined, { cause: error });
  }
  // express throws this for an address it cannot decode.
  if (error instanceof Error && "status" in error && error.status === 400) {
    return new AppError("invalid", "invalid_request", "The address is not correctly percent-encoded.");
  }
  return new AppError("bug", "internal_error", "Something went wrong on our side.", undefined, { cause: error });
}

export function requestIdOf(res: Response): string {
  const id: unknown = res.locals["requestId"];
  return typeof id === "string" ? id : "";
}

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
  const accepts = (type: string) => res.req.accepts(type) !== false;
  const type = accepts("application/json") && !accepts(mediaType) ? "application/json" : mediaType;
  res.setHeader("Content-Type", `${type}; charset=utf-8`);
  res.send(JSON.stringify(problem));
}
