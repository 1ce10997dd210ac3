import type { IncomingMessage } from "node:http";
import type { Router } from "express";
import createClient, { type Client } from "openapi-fetch";
import type { PersonId } from "../directory/index.ts";
import { innerOrigin, makeInnerCalls } from "../platform/http/index.ts";
import type { SharedReads } from "../platform/database/shared-reads.ts";
import type { StaffRole } from "../staff/index.ts";
import type { paths } from "../../generated/openapi/admin.ts";

/** The typed client of openapi/admin.yaml. */
export type AdminClient = Client<paths>;

/** Somebody of the staff who is signed in with a browser, and the request of theirs that is being answered. */
export type InnerCaller = { personId: PersonId; requestId: string };

/**
 * Calls the operations of the admin API in this process.
 *
 * Shape: `findCaller` answers for whom a request is that came this way; null for every other.
 */
export function makeInnerClients(): {
  findCaller(req: IncomingMessage): InnerCaller | null;
  /** Makes the clients of callers, whose requests `router` answers. */
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

/** Shape: `reads` is null where nothing that was read before may be used. */
export type HeldReads = { roles: StaffRole[]; reads: SharedReads | null };

/**
 * The roles of an inner caller and the records that a page reads, each read once for all that the page asks for.
 * A change reads all anew, and so does every read after it.
 */
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
