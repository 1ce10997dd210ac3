import { STATUS_CODES } from "node:http";
import { present } from "../platform/contract-types.ts";
import type { AppError } from "../platform/errors.ts";
import { requestIdOf, type ProblemType, type RenderFailure } from "../platform/http/index.ts";
import { StaleRecord } from "./change.ts";
import type { Schemas } from "./handler.ts";

type Problem = Schemas["Problem"];
type PreconditionProblem = Schemas["PreconditionProblem"];

type Context = { typeOf: ProblemType; requestId: string };

const presentProblem = ({ status, code, message }: AppError, { typeOf, requestId }: Context): Problem =>
  present<Problem>({ type: typeOf(code), title: STATUS_CODES[status] ?? "Error", status, message, code, requestId });

const presentStale = (failure: StaleRecord, context: Context): PreconditionProblem =>
  present<PreconditionProblem>({
    ...presentProblem(failure, context),
    current: failure.current && { ...failure.current },
  });

/** Makes what renders `application/problem+json`. Source: RFC 9457, with the text in `message`. */
export const makeRenderProblem =
  (typeOf: ProblemType): RenderFailure =>
  (failure, res) => {
    const context = { typeOf, requestId: requestIdOf(res) };
    const body = failure instanceof StaleRecord ? presentStale(failure, context) : presentProblem(failure, context);
    res.setHeader("Content-Type", "application/problem+json; charset=utf-8");
    if (failure instanceof StaleRecord && failure.tag !== null) res.setHeader("ETag", failure.tag);
    res.send(JSON.stringify(body));
  };
