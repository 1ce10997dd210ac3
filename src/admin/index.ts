/**
 * admin: serves openapi/admin.yaml.
 *
 * Nouns:      caller (a person of the staff or an app, with the roles that hold at this moment), rights (which roles
 *             allow which operation), reach (the schools and apps that those roles are for), dry run (a change that is
 *             looked at and taken back), idempotency key.
 * Invariants: rights.ts alone says who may call what; what no role of the caller reaches is answered as if it did not
 *             exist; a change, its audit lines and its kept answer commit together.
 * Must never know: how pages look, how tokens are kept.
 */
import type { Router } from "express";
import { scopeOfContract, type CheckAccessToken } from "../access/index.ts";
import { personActor } from "../events/index.ts";
import {
  answerDone,
  bindOperations,
  type Handlers,
  type OpenApiDocument,
  type Reading,
} from "../platform/http/index.ts";
import type { Log } from "../platform/log.ts";
import { findRoles } from "../staff/index.ts";
import { takes } from "./contract.ts";
import { renderProblem } from "./failure.ts";
import { handlers } from "./handlers.ts";
import { appActor, type AdminCaller, type AdminDeps, type AdminHandler } from "./handler.ts";
import type { AdminRequest, OperationId, Operations } from "./handler.ts";
import { doOnce } from "./once.ts";
import { allow } from "./rights.ts";

export { makeOnceSweep } from "./once.ts";

export type AdminOptions = AdminDeps & {
  reading: Reading;
  checkAccessToken: CheckAccessToken;
  document: OpenApiDocument;
  log: Log;
  /** Holds every answer against the contract: for development and tests. */
  checkAnswers: boolean;
};

export function makeAdminRouter(options: AdminOptions): Router {
  const { document, log, checkAnswers, reading, keys, checkAccessToken } = options;
  const bound = Object.entries(handlers).map(([id, handler]) => [
    id,
    guard(options, id as OperationId, handler as AdminHandler<OperationId>),
  ]);
  return bindOperations<Operations, AdminCaller>({
    document,
    takes,
    handlers: Object.fromEntries(bound) as unknown as Handlers<Operations, AdminCaller>,
    checkToken: async (bearer) => {
      const check = await checkAccessToken(bearer);
      if (check.kind !== "valid") return check;
      const { clientId, personId } = check.token;
      const holder = personId === null ? { clientId } : { personId };
      const roles = await findRoles(options.db, holder, options.clock());
      return { kind: "valid", token: { ...check.token, holder, roles } };
    },
    scopeName: scopeOfContract,
    reading,
    cursorKeys: keys,
    log,
    render: renderProblem,
    checkAnswersBy: checkAnswers ? [document] : [],
  });
}

/** The one place where roles are asked, who did it is named, and a request that is sent again is found. */
function guard<Id extends OperationId>(deps: AdminDeps, id: Id, handler: AdminHandler<Id>) {
  return (request: AdminRequest<Id>) =>
    answerDone(async () => {
      const { caller, path, query, body, headers, requestId } = request;
      const { reach, role } = allow(caller.roles, id);
      const actorId = caller.personId === null ? appActor(caller.clientId) : personActor(caller.personId);
      const origin = { at: deps.clock(), actorId, actorRole: role, requestId };
      const key = (headers as { "Idempotency-Key"?: string })["Idempotency-Key"];
      return doOnce(deps, { caller: actorId, key, request: [id, path, query, body] }, (keep) =>
        handler(deps, { ...request, reach, origin, keep }),
      );
    });
}
