import { presentProblem, requestIdOf, sendProblem } from "../platform/http/index.ts";
import type { ProblemType, RenderFailure } from "../platform/http/index.ts";
import type { components } from "../../generated/openapi/idm.ts";

export const makeRenderProblem =
  (typeOf: ProblemType): RenderFailure =>
  (failure, res) => {
    const problem: components["schemas"]["Problem"] = presentProblem(failure, { typeOf, requestId: requestIdOf(res) });
    sendProblem(res, problem);
  };
