import { STATUS_CODES } from "node:http";
import { present } from "../platform/contract-types.ts";
import type { AppError } from "../platform/errors.ts";
import { requestIdOf, type RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { StaleRecord } from "./stale.ts";

type Problem = components["schemas"]["Problem"];
type PreconditionProblem = components["schemas"]["PreconditionProblem"];

const presentProblem = ({ status, code, message }: AppError, requestId: string): Problem =>
  present<Problem>({ type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, message, code, requestId });

const presentStale = (failure: StaleRecord, requestId: string): PreconditionProblem =>
  present<PreconditionProblem>({
    ...presentProblem(failure, requestId),
    current: failure.current && { ...failure.current },
  });

/** Renders `application/problem+json`. Source: RFC 9457, with the text in `message`. */
export const renderProblem: RenderFailure = (failure, res) => {
  const requestId = requestIdOf(res);
  const body = failure instanceof StaleRecord ? presentStale(failure, requestId) : presentProblem(failure, requestId);
  res.setHeader("Content-Type", "application/problem+json; charset=utf-8");
  if (failure instanceof StaleRecord && failure.tag !== null) res.setHeader("ETag", failure.tag);
  res.send(JSON.stringify(body));
};
