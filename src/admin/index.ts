/**
 * admin: serves openapi/admin.yaml.
 *
 * Nouns:      caller (a member of staff or an app, with their present roles), rights (which roles allow which
 *             operation), reach (the schools and apps that those roles cover), dry run (a change that is made,
 *             compared and rolled back), idempotency key.
 * Invariants: only rights.ts decides who may call what; a record outside the reach of the caller looks as if it did
 *             not exist; operations reserved to a person's home school are refused to their other schools
 *             (reached.ts); a change, its audit entries and its stored response commit together.
 * Never knows: how pages look, how tokens are stored.
 */
import type { IncomingMessage } from "node:http";
import type { Router } from "express";
import { scopeOfContract, type CheckAccessToken, type ClientId, type ScopeName } from "../access/index.ts";
import { personActor } from "../events/index.ts";
import {
  answerDone,
  bindOperations,
  listOperations,
  type Handlers,
  type InnerFetch,
  type OpenApiDocument,
  type Reading,
  Upload,
  makeProblemType,
} from "../platform/http/index.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { sharedReads } from "../platform/database/prisma.ts";
import { findRoles, type StaffRole, type StaffRoleId } from "../staff/index.ts";
import { makeHeldReads, makeInnerClients, makeLazyFetch, type AdminClient, type InnerCaller } from "./client.ts";
import { makeRenderProblem } from "./failure.ts";
import { loadHandlers, operationIds } from "./handlers.ts";
import { appActor, type AdminCaller, type AdminDeps, type AdminHandler } from "./handler.ts";
import type { AdminRequest, OperationId, Operations, PlainRequest } from "./handler.ts";
import { runOnce } from "./idempotency.ts";
import { readPage } from "./page.ts";
import { refuseUnreached, readPersonNeeds, type Filters, type PersonNeed } from "./reached.ts";
import { allow, allowSetUp } from "./rights.ts";
import { makeSetUp, setUpActor, type SetUp, type SetUpCaller } from "./set-up.ts";

export type { AdminClient, BodyOf, DataOf, InnerCaller, OperationRequest } from "./client.ts";
export { makeIdempotencySweep } from "./idempotency.ts";
export { permissionsOf, type Permissions } from "./rights.ts";
export type { SetUp, SetUpCaller } from "./set-up.ts";
export { schoolTexts } from "../directory/index.ts";
export { auditActions, type AuditAction } from "../events/index.ts";
export { staffRoleNames, targetOf as targetOfRole } from "../staff/index.ts";
export type { AdminDeps, OperationId, PathName, Schemas as AdminSchemas } from "./handler.ts";
export { suggestPolicy } from "../retention/index.ts";

/** What pages say about rosters, loaded when one of them does. */
export async function loadRosters() {
  const { plainTemplate, reasonHeadings, schoolYearOf } = await import("../imports/index.ts");
  const { rosterFormats } = await import("../connections/index.ts");
  return { plainTemplate, reasonHeadings, schoolYearOf, rosterFormats };
}

export type AdminOptions = AdminDeps & {
  reading: Reading;
  checkAccessToken: CheckAccessToken;
  document: OpenApiDocument;
  log: Log;
  /** Checks every answer against the contract, for development and tests. */
  checkAnswers: boolean;
};

export type Admin = {
  router: Router;
  /** Makes a client for a signed-in member of staff, or for an IT contact with a set-up link. */
  clientFor(caller: InnerCaller): AdminClient;
  setUp: SetUp;
};

export async function makeAdmin(options: AdminOptions): Promise<Admin> {
  const inner = makeInnerClients(options.document);
  const readFor = makeHeldReads();
  const findInnerCaller: FindInnerCaller = async (req) => {
    const caller = inner.findCaller(req);
    if (caller === null) return null;
    if ("setUp" in caller) return callerWithLink(caller.setUp);
    const { personId } = caller;
    const holder = { personId };
    const held = await readFor(caller, req.method, () => findRoles(options.db, holder, options.clock()));
    return { ...pages, ...held, actorId: personActor(personId), personId, holder };
  };
  const router = await bindAdmin(options, { findInnerCaller, log: options.log });
  return { router, clientFor: inner.makeClients(router), setUp: makeSetUp(options) };
}

/**
 * Calls the admin API in this process with the rights of an operator, for a program on the machine of the service.
 * Errors: calls throw what the operation throws, instead of returning a problem.
 */
export function makeProgramFetch(options: AdminOptions, actorId: string): InnerFetch {
  const caller: AdminCaller = { ...nobody, actorId, roles: [machineOperator] };
  return makeLazyFetch(options.document, (only, log) =>
    bindAdmin(options, { findInnerCaller: async () => caller, log, only }),
  );
}

type FindInnerCaller = (req: IncomingMessage) => Promise<AdminCaller | null>;

/** Makes the router of all operations, or of one alone. */
async function bindAdmin(
  options: AdminOptions,
  { findInnerCaller, log, only }: { findInnerCaller: FindInnerCaller; log: Log; only?: OperationId },
): Promise<Router> {
  const { document, checkAnswers, reading, keys, checkAccessToken } = options;
  const needOf = readPersonNeeds(document);
  const paths = new Map(listOperations(document).map(({ path, operation }) => [operation.operationId, path]));
  const bound = [...(await loadHandlers(only === undefined ? operationIds : [only]))].map(([id, handler]) => [
    id,
    guard(options, { id, path: paths.get(id)!, personNeed: needOf(id) }, handler),
  ]);
  return bindOperations<Operations, AdminCaller>({
    document,
    handlers: Object.fromEntries(bound) as unknown as Handlers<Operations, AdminCaller>,
    checkToken: async (bearer) => {
      const check = await checkAccessToken(bearer);
      if (check.kind !== "valid") return check;
      const { clientId, personId, hasSecondFactor } = check.token;
      const holder = personId === null ? { clientId } : { personId };
      const actorId = personId === null ? appActor(clientId) : personActor(personId);
      const token = { ...check.token, actorId, holder, reads: null };
      // Without a scope the answer is 403: what an app has to do is sign the person on again.
      if (personId !== null && !hasSecondFactor && (await options.needsSecondFactor(personId)))
        return { kind: "valid", token: { ...token, scopes: noScopes, roles: [] } };
      return { kind: "valid", token: { ...token, roles: await findRoles(options.db, holder, options.clock()) } };
    },
    findInnerCaller,
    scopeName: scopeOfContract,
    reading,
    cursorKeys: keys,
    log,
    render: makeRenderProblem(makeProblemType(options.issuerUrl)),
    checkAnswersBy: checkAnswers ? [document] : [],
    ...(only !== undefined && { only }),
  });
}

// No app can have it: the ids of apps have no brackets.
const pagesClientId = "(pages)" as ClientId;
const noScopes: ReadonlySet<ScopeName> = new Set();
const bothScopes: ReadonlySet<ScopeName> = new Set(["admin:read", "admin:write"]);
const pages = {
  clientId: pagesClientId,
  scopes: bothScopes,
  hasSecondFactor: true,
  namesRead: "all",
  ids: "shared",
} as const;

const nobody = { ...pages, personId: null, holder: null, reads: null };

const callerWithLink = (setUp: SetUpCaller): AdminCaller => ({
  ...nobody,
  actorId: setUpActor(setUp.setUpLinkId),
  roles: [],
  setUp,
});

/** What a program on the machine of the service holds. */
const machineOperator: StaffRole = {
  id: "(machine)" as StaffRoleId,
  role: "OPERATOR",
  holder: { clientId: pagesClientId },
  schoolIds: [],
  clientIds: [],
  reason: null,
  endsAt: null,
  givenAt: new Date(0),
};

/** Checks roles, names the actor and finds repeated requests, for every operation. */
function guard<Id extends OperationId>(
  deps: AdminDeps,
  { id, path: template, personNeed }: { id: Id; path: string; personNeed: PersonNeed },
  handler: AdminHandler<Id>,
) {
  return (request: PlainRequest<Id>) =>
    answerDone(async () => {
      const { caller, path, query, body, headers, requestId } = request;
      const parameters = path as Record<string, string>;
      const { personId } = parameters;
      const address = template.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name]!);
      const isOwn = personId === undefined || personId === caller.personId;
      const allowed = (roles: readonly StaffRole[]) => {
        const { setUp } = caller;
        const { reach, role } = setUp === undefined ? allow(roles, id, isOwn) : allowSetUp(setUp, id);
        return { role, reach: { ...reach, personNeed } };
      };
      const { reach, role } = allowed(caller.roles);
      const { holder, actorId } = caller;
      const rolesNow = async () => (holder === null ? caller.roles : findRoles(deps.db, holder, deps.clock()));
      const reachNow = async () => allowed(await rolesNow()).reach;
      const origin = { at: deps.clock(), actorId, actorRole: holder === null ? undefined : role, requestId };
      if (body instanceof Upload) await body.receive();
      const key = (headers as { "Idempotency-Key"?: string })["Idempotency-Key"];
      const inner = { ...request, ...path, operationId: id, address, reach, reachNow, origin };
      return runOnce(deps, { caller: actorId, key, request: [id, path, query, body] }, (keep) =>
        sharedReads.run(caller.reads, async () => {
          const page = readPage(deps, inner);
          await refuseUnreached(deps.db, { operationId: id, path: parameters, query: query as Filters, reach });
          // The contract's ids get the types of the code here.
          return handler(deps, { ...inner, page, keep } as unknown as AdminRequest<Id>);
        }),
      ).finally(() => (body instanceof Upload ? body.drop() : undefined));
    });
}
