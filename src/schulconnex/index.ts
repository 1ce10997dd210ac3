/**
 * schulconnex: serves openapi/schulconnex.yaml, in the spelling of the version that an app is registered for.
 *
 * Nouns:      Personendatensatz (record of a person), Personenkontext (the person at one school), Gruppe, Organisation.
 * Invariants: pid is the id of the IDM API; a context for each of the person's schools that syncs to the app;
 *             what the standard has beyond this answers 501.
 * Must never know: how tokens are kept, the IDM API, how anything is changed.
 */
import type { Router } from "express";
import { scopeOfContract, type AccessToken, type CheckAccessToken } from "../access/index.ts";
import {
  bindOperations,
  type Binding,
  type Handlers,
  type OpenApiDocument,
  type Reading,
} from "../platform/http/index.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { operations } from "../../generated/openapi/schulconnex.ts";
import { takes } from "./contract.ts";
import { renderSchulconnex } from "./failure.ts";
import { getPersonInfo } from "./getPersonInfo.ts";
import { notOfferedHandlers } from "./handler.ts";
import { listPersonenInfo } from "./listPersonenInfo.ts";

const handlers: Handlers<operations, AccessToken> = { getPersonInfo, listPersonenInfo, ...notOfferedHandlers };

/** Those who ask from within this process, as an app. */
type Inner = Pick<Binding<operations, AccessToken>, "findInnerCaller" | "innerReading">;

export type SchulconnexDeps = {
  reading: Reading;
  checkAccessToken: CheckAccessToken;
  inner?: Inner;
  document: OpenApiDocument;
  /** The same in the spelling of version 1.7. */
  document17: OpenApiDocument;
  cursorKeys: EncryptionKeys;
  log: Log;
  /** Holds every answer against the contract, in one of its two spellings: for development and tests. */
  checkAnswers: boolean;
};

export function makeSchulconnexRouter({
  reading,
  checkAccessToken,
  inner = {},
  document,
  document17,
  cursorKeys,
  log,
  checkAnswers,
}: SchulconnexDeps): Router {
  return bindOperations<operations, AccessToken>({
    document,
    handlers,
    takes,
    checkToken: checkAccessToken,
    ...inner,
    scopeName: scopeOfContract,
    reading,
    cursorKeys,
    log,
    render: renderSchulconnex,
    checkAnswersBy: checkAnswers ? [document, document17] : [],
  });
}
