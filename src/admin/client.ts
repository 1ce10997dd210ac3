import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Router } from "express";
import createClient, { type Client } from "openapi-fetch";
import type { PersonId } from "../directory/index.ts";
import {
  innerOrigin,
  listOperations,
  makeInnerCalls,
  type InnerFetch,
  type OpenApiDocument,
} from "../platform/http/index.ts";
import { silentLog, type Log } from "../platform/telemetry/log.ts";
import type { SharedReads } from "../platform/database/prisma.ts";
import type { StaffRole } from "../staff/index.ts";
import type { paths } from "../../generated/openapi/admin.ts";
import type { OperationId } from "./handler.ts";
import type { SetUpCaller } from "./set-up.ts";

export type AdminClient = Client<paths>;

/** A signed-in member of staff or an IT contact with a set-up link, and the request that is being answered. */
export type InnerCaller = ({ personId: PersonId } | { setUp: SetUpCaller }) & { requestId: string };

/** Calls the operations of the admin API in this process. `findCaller` returns null for requests from outside. */
export function makeInnerClients(): {
  findCaller(req: IncomingMessage): InnerCaller | null;
  /** Makes clients whose requests `router` answers. */
  makeClients(router: Router): (caller: InnerCaller) => AdminClient;
} {
  const { findCaller, serve } = makeInnerCalls<InnerCaller>();
  return {
    findCaller,
    makeClients(router) {
      const fetchAs = serve(router);
      return (caller) => createClient<paths>({ baseUrl: innerOrigin, fetch: fetchAs(caller) });
    },
  };
}

type BindOne = (operation: OperationId, log: Log) => Promise<Router>;

/** Loads each operation at its first call. Errors: a call throws what the operation throws, unless it is a refusal. */
export function makeLazyFetch(document: OpenApiDocument, bind: BindOne): InnerFetch {
  const places = listOperations(document).map(({ path, method, operation }) => ({
    id: operation.operationId as OperationId,
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const failures = new Map<string, unknown>();
  const note = ({ requestId, err }: { requestId: string; err: unknown }) => void failures.set(requestId, err);
  const log = Object.assign(Object.create(silentLog) as Log, { error: note });
  const serving = new Map<OperationId, Promise<(caller: { requestId: string }) => InnerFetch>>();
  const serve = async (id: OperationId) => makeInnerCalls().serve(await bind(id, log));
  return async (request) => {
    const { pathname } = new URL(request.url);
    const place = places.find(({ method, path }) => method === request.method && path.test(pathname));
    if (place === undefined) throw new Error(`The contract has no ${request.method} ${pathname}.`);
    const served = serving.get(place.id) ?? serve(place.id);
    serving.set(place.id, served);
    // A call in this process arrives once.
    request.headers.delete("Idempotency-Key");
    const requestId = randomUUID();
    const response = await (await served)({ requestId })(request);
    if (failures.has(requestId)) throw failures.get(requestId);
    return response;
  };
}

/** `reads` is null if earlier reads may no longer be used. */
export type HeldReads = { roles: StaffRole[]; reads: SharedReads | null };

/** Caches the roles of an inner caller, and the records that a page reads, until the caller changes something. */
export function makeHeldReads(): (
  caller: InnerCaller,
  method: string | undefined,
  readRoles: () => Promise<StaffRole[]>,
) => Promise<HeldReads> {
  const held = new WeakMap<InnerCaller, { roles: Promise<StaffRole[]>; reads: SharedReads | null }>();
  const changing = new WeakSet<InnerCaller>();
  return async (caller, method, readRoles) => {
    if (method !== "GET") {
      held.delete(caller);
      changing.add(caller);
      return { roles: await readRoles(), reads: null };
    }
    const { roles, reads } = held.get(caller) ?? { roles: readRoles(), reads: changing.has(caller) ? null : new Map() };
    held.set(caller, { roles, reads });
    return { roles: await roles, reads };
  };
}
