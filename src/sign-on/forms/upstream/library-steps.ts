import type { Request, Response } from "express";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { InteractionDeps, UpstreamSteps } from "../../protocol/deps.ts";
import { noteSignedOut, readLastSignIn } from "../last-sign-in.ts";
import { makeSealedCookie, type PageRequest, nameBrowser, redirect } from "../page-request.ts";
import { listWaysIn, type UpstreamSessionId } from "../../../upstream/index.ts";
import { randomBytes } from "node:crypto";

/** What requests of the library need of this folder. */
export function makeUpstreamSteps(deps: () => InteractionDeps): UpstreamSteps {
  // The library has node's request and response, which is enough for cookies.
  const requestOf = ({ req, res }: KoaContextWithOIDC): PageRequest => ({
    deps: deps(),
    req: req as Request,
    res: res as Response,
  });
  return {
    beginSilently(ctx, address) {
      const maxAge = ctx.oidc.params?.["max_age"];
      const silent = { path: ctx.originalUrl, address, maxAge: maxAge === undefined ? undefined : Number(maxAge) };
      return beginSilently(requestOf(ctx), silent);
    },
    signOutUpstream: (ctx, session) => signOutUpstream(requestOf(ctx), session),
    noteSignedOut: (ctx) => noteSignedOut(requestOf(ctx)),
  };
}

// A browser is sent away once in this time, so that no answer of an app or a login makes it go round.
const triedCookie = makeSealedCookie<{ tried: true }>("_silent", {
  secret: "lastSignIn",
  purpose: "silent sign-in",
  seconds: 300,
});

type Silent = { path: string; address: string; maxAge: number | undefined };

/**
 * Asks the login of the school, without a page, who is signed in there: for a request that must not show one, from a
 * browser of one person who used this login last, if it is the only one of the school.
 */
async function beginSilently(request: PageRequest, { path, address, maxAge }: Silent): Promise<URL | null> {
  const { deps } = request;
  const { connectionId, schoolId, personId } = readLastSignIn(request);
  if (!connectionId || schoolId === null || personId === null || triedCookie.read(request) !== null) return null;
  const ways = await listWaysIn(deps.db.pool, schoolId);
  if (ways.length !== 1 || ways[0]?.connectionId !== connectionId) return null;
  triedCookie.write(request, { tried: true }, { outlives: true });
  const start = { connectionId, browser: nameBrowser(request), address, to: { path }, maxAge, silent: true };
  const begun = await deps.upstream.begin(start);
  return "failure" in begun ? null : begun.redirectTo;
}

const signingOutCookie = makeSealedCookie<{ state: string; then: string }>("_signing_out", {
  secret: "lastSignIn",
  purpose: "signing out",
  seconds: 600,
});

/** Returns the address that ends the session at the school's login, null if there is none; it leads back to `then`. */
async function signOutUpstream(request: PageRequest, { id, then }: { id: string; then: string }): Promise<URL | null> {
  const { deps } = request;
  const state = randomBytes(16).toString("base64url");
  const url = await deps.upstream.logoutUrlOf(id as UpstreamSessionId, { state });
  if (url !== null) signingOutCookie.write(request, { state, then }, { outlives: true });
  return url;
}

/** Handles the return from there, and redirects to `then`. */
export function goOnSignedOut(request: PageRequest): void {
  const { deps, req } = request;
  const signedOut = signingOutCookie.read(request);
  signingOutCookie.forget(request);
  const isOwn = signedOut !== null && signedOut.state === req.query["state"];
  redirect(request, isOwn ? signedOut.then : deps.provider().pathFor("end_session_success"));
}
