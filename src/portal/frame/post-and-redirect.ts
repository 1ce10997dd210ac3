import type { Redirect } from "./area.ts";
import type { PageRequest } from "./page-request.ts";
import { Refused, unwrap } from "./refused.ts";

type Call = Parameters<typeof unwrap<unknown>>[0];

/** Handles a form that makes one call and returns to a page; `repeated` is the refusal of a form that is sent twice. */
export const postAndRedirect =
  (done: string, to: (request: PageRequest) => string, call: (request: PageRequest) => Call, repeated?: string) =>
  async (request: PageRequest): Promise<Redirect> => {
    await unwrap(call(request)).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.code !== repeated) throw error;
    });
    return { to: to(request), done };
  };

/** Redirects to a search, which the address holds encrypted for the reader. */
export const redirectToSearch =
  (to: (request: PageRequest) => string) =>
  (request: PageRequest): Promise<Redirect> => {
    const query = new URLSearchParams({ q: request.hide(request.field("search")) });
    return Promise.resolve({ to: `${to(request)}?${query.toString()}` });
  };

/** The tag that the form holds; without one the change applies to whatever the record is now. */
export const ifMatch = ({ field }: PageRequest): { "If-Match"?: string } =>
  field("tag") === "" ? {} : { "If-Match": field("tag") };
