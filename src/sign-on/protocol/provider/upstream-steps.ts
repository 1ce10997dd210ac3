import type { KoaContextWithOIDC } from "oidc-provider";
import { getRequest } from "../storage/request.ts";

/** What happens at the login that a school has elsewhere, in requests of the library. */
export type UpstreamSteps = {
  /** Where the browser gets a session without a page, before the app of a silent request is told that there is none. */
  beginSilently(ctx: KoaContextWithOIDC, address: string): Promise<URL | null>;
  /** Where the browser ends its session there; it goes on at `then`. */
  signOutUpstream(ctx: KoaContextWithOIDC, session: { id: string; then: string }): Promise<URL | null>;
  /** Nobody is signed in again unasked after signing out, and the login lets another person sign in. */
  noteSignedOut(ctx: KoaContextWithOIDC): void;
};

/** The upstream session that the session of this request is based on. */
export function findUpstreamSession(): string | null {
  const { session, standings } = getRequest();
  return (session?.personId && standings.get(session.personId)?.upstreamSessionId) || null;
}

const refused = new WeakSet<object>();

/** For the event that the app gets an error. */
export function noteRefusal(ctx: KoaContextWithOIDC, { error }: { error: string }): void {
  if (error === "login_required") refused.add(ctx);
}

/** Whether an app is about to be told that nobody is signed in with this browser. */
export const lacksSession = (ctx: KoaContextWithOIDC): boolean =>
  refused.has(ctx) &&
  ctx.oidc.route === "authorization" &&
  ctx.method === "GET" &&
  ctx.oidc.prompts.has("none") &&
  ctx.oidc.session?.accountId === undefined;
