import type { IncomingMessage } from "node:http";
import type { Router } from "express";
import createClient, { type Client } from "openapi-fetch";
import type { PersonId } from "../directory/index.ts";
import { innerOrigin, makeInnerCalls } from "../platform/http/index.ts";
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

/**
 * The roles of an inner caller, read once for all that a page reads. Whatever changes something has them read again,
 * and so has what is read after it.
 */
export function makeHeldRoles(): (
  caller: InnerCaller,
  method: string | undefined,
  read: () => Promise<StaffRole[]>,
) => Promise<StaffRole[]> {
  const held = new WeakMap<InnerCaller, Promise<StaffRole[]>>();
  return (caller, method, read) => {
    if (method !== "GET") {
      held.delete(caller);
      return read();
    }
    const roles = held.get(caller) ?? read();
    held.set(caller, roles);
    return roles;
  };
}
