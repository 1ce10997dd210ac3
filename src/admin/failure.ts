import { present } from "../platform/contract-types.ts";
import {
  presentProblem,
  requestIdOf,
  sendProblem,
  type ProblemType,
  type RenderFailure,
} from "../platform/http/index.ts";
import { StaleRecord } from "./change.ts";
import type { Schemas } from "./handler.ts";

type Problem = Schemas["Problem"];
type PreconditionProblem = Schemas["PreconditionProblem"];

const presentStale = (failure: StaleRecord, context: { typeOf: ProblemType; requestId: string }): PreconditionProblem =>
  present<PreconditionProblem>({
    ...presentProblem(failure, context),
    current: failure.current && { ...failure.current },
  });

export const makeRenderProblem =
  (typeOf: ProblemType): RenderFailure =>
  (failure, res) => {
    const context = { typeOf, requestId: requestIdOf(res) };
    const body: Problem | PreconditionProblem =
      failure instanceof StaleRecord ? presentStale(failure, context) : presentProblem(failure, context);
    if (failure instanceof StaleRecord && failure.tag !== null) res.setHeader("ETag", failure.tag);
    sendProblem(res, body);
  };
