/**
 * schulconnex: serves openapi/schulconnex.yaml, in the spelling of the version that an app is registered for.
 *
 * Nouns:      Personendatensatz (record of a person), Personenkontext (the person at one school), Gruppe,
 *             Organisation.
 * Invariants: pid is the id of the IDM API; a person has a context for each of their schools that syncs to the app;
 *             operations of the standard that are not offered return 501.
 * Never knows: how tokens are stored, the IDM API, how anything is changed.
 */
import type { Router } from "express";
import { scopeOfContract, type AccessToken } from "../access/index.ts";
import { bindOperations, type Handlers, type OpenApiDocument, type RouterDeps } from "../platform/http/index.ts";
import type { operations } from "../../generated/openapi/schulconnex.ts";
import { renderSchulconnex } from "./failure.ts";
import { getPersonInfo } from "./getPersonInfo.ts";
import { makeListCodelisten } from "./listCodelisten.ts";
import { listPersonenInfo } from "./listPersonenInfo.ts";

const readers: Omit<Handlers<operations, AccessToken>, "listCodelisten"> = { getPersonInfo, listPersonenInfo };

/** `respelled`: the contract in the other spellings. */
type Deps = RouterDeps<operations, AccessToken> & { respelled: readonly OpenApiDocument[] };

export function makeSchulconnexRouter({ respelled, checkAnswers, ...deps }: Deps): Router {
  return bindOperations<operations, AccessToken>({
    ...deps,
    handlers: { ...readers, listCodelisten: makeListCodelisten(deps.reading.share) },
    scopeName: scopeOfContract,
    render: renderSchulconnex,
    checkAnswersBy: checkAnswers ? [deps.document, ...respelled] : [],
  });
}
