/**
 * oneroster: serves openapi/oneroster.yaml in version 1.2, and the same in version 1.1.
 *
 * Nouns:      org (a school), class (a synced group), course and academic session (derived from groups and the date),
 *             user (a person whom a school syncs), enrollment (a membership).
 * Invariants: an app sees what it sees in the IDM API, under the same ids; values of filters reach the database as
 *             parameters only; a page costs the same wherever it is in the list, if it follows one that was read.
 * Never knows: how tokens are stored, the IDM API, how anything is changed.
 */
import type { Router } from "express";
import type { operations } from "../../generated/openapi/oneroster.ts";
import { scopeOfContract, type AccessToken } from "../access/index.ts";
import type { Clock } from "../platform/clock.ts";
import { bindOperations, type RouterDeps } from "../platform/http/index.ts";
import type { Version } from "./contract.ts";
import { makeRender } from "./failure.ts";
import { makeHandlers } from "./handlers.ts";

export { schoolYearAt } from "./school-year.ts";

type Deps = RouterDeps<operations, AccessToken> & { version: Version; baseUrl: string; clock: Clock };

export function makeOneRosterRouter({ version, baseUrl, clock, checkAnswers, ...deps }: Deps): Router {
  return bindOperations<operations, AccessToken>({
    ...deps,
    handlers: makeHandlers({ version, baseUrl, clock }),
    scopeName: scopeOfContract,
    render: makeRender(version),
    checkAnswersBy: checkAnswers ? [deps.document] : [],
  });
}
