import { Router, type ErrorRequestHandler, type Request, type Response as AnyResponse } from "express";
import { isDatabaseUnavailable, isUnstorable } from "../database/db.ts";
import { AppError } from "../errors.ts";
import { presentProblem, sendProblem, type ProblemType } from "../http/failure.ts";
import type { Log } from "../telemetry/log.ts";
import { addressInLanguage, readLocale, renderFailurePage, type Failure } from "../pages/index.ts";

type Response = AnyResponse<unknown, { requestId?: string }>;

const statusOf: Record<Failure, number> = { not_found: 404, invalid: 400, unavailable: 503, bug: 500 };

const messages: Record<Failure, string> = {
  not_found: "There is nothing at this address.",
  invalid: "The request cannot be understood.",
  unavailable: "The service cannot answer just now. Try again later.",
  bug: "Something went wrong on our side.",
};

type Answering = { req: Request; res: Response; problemType: ProblemType };

function answer({ req, res, problemType }: Answering, failure: Failure, statusOverride?: number): void {
  const status = statusOverride ?? statusOf[failure];
  if (failure === "unavailable") res.set("Retry-After", "5");
  if (req.accepts(["json", "html"]) === "html") {
    const context = {
      locale: readLocale(req),
      languageUrl: req.method === "GET" ? addressInLanguage(req.originalUrl) : null,
    };
    const page = renderFailurePage({ failure, status, requestId: res.locals.requestId }, context);
    res.status(page.status).set(page.headers).send(page.html);
    return;
  }
  const described = { typeOf: problemType, requestId: res.locals.requestId ?? "" };
  const problem = presentProblem({ status, code: failure, message: messages[failure] }, described);
  sendProblem(res.status(status).set("Cache-Control", "no-store"), problem);
}

function classify(error: unknown): { failure: Failure; status?: number } {
  if (error instanceof AppError && error.kind === "not_found") return { failure: "not_found" };
  if (isDatabaseUnavailable(error)) return { failure: "unavailable" };
  if (isUnstorable(error)) return { failure: "invalid" };
  // express marks faulty requests (percent-encoding, body size) with a status.
  const status: unknown = error instanceof AppError ? error.status : (error as { status?: unknown } | null)?.status;
  return typeof status === "number" && status >= 400 && status < 500
    ? { failure: "invalid", status }
    : { failure: "bug" };
}

export function makeLastAnswers({ log, problemType }: { log: Log; problemType: ProblemType }): {
  router: Router;
  onError: ErrorRequestHandler;
} {
  const router = Router();
  router.use((req, res) => answer({ req, res, problemType }, "not_found"));
  const onError: ErrorRequestHandler = (err: unknown, req, res: Response, _next) => {
    const { failure, status } = classify(err);
    const fields = { err, requestId: res.locals.requestId };
    if (failure === "bug" || failure === "unavailable") log.error(fields, "request failed");
    else log.debug(fields, "request refused");
    if (res.headersSent) res.destroy();
    else answer({ req, res, problemType }, failure, status);
  };
  return { router, onError };
}
