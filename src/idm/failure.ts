import { STATUS_CODES } from "node:http";
import { present } from "../platform/contract-types.ts";
import type { AppError } from "../platform/errors.ts";
import { requestIdOf, type RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";

type Problem = components["schemas"]["Problem"];

const presentProblem = ({ status, code, message }: AppError, requestId: string): Problem =>
  present<Problem>({ type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, message, code, requestId });

/** Renders `application/problem+json`. Source: RFC 9457, with the text in `message`. */
export const renderProblem: RenderFailure = (failure, res) => {
  res.setHeader("Content-Type", "application/problem+json; charset=utf-8");
  res.send(JSON.stringify(presentProblem(failure, requestIdOf(res))));
};
