import { STATUS_CODES } from "node:http";
import { present } from "../platform/contract-types.ts";
import type { AppError } from "../platform/errors.ts";
import { requestIdOf, type ProblemType, type RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Problem = components["schemas"]["Problem"];

const presentProblem = (
  { status, code, message }: AppError,
  { typeOf, requestId }: { typeOf: ProblemType; requestId: string },
): Problem =>
  present<Problem>({ type: typeOf(code), title: STATUS_CODES[status] ?? "Error", status, message, code, requestId });

export const makeRenderProblem =
  (typeOf: ProblemType): RenderFailure =>
  (failure, res) => {
    res.setHeader("Content-Type", "application/problem+json; charset=utf-8");
    res.send(JSON.stringify(presentProblem(failure, { typeOf, requestId: requestIdOf(res) })));
  };
