import { randomBytes } from "node:crypto";
import { makeSealed } from "../../../platform/crypto/seal.ts";
import type { UpstreamSessionId } from "../../../upstream/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { type PageRequest, readCookie, redirect, setCookie } from "../page-request.ts";

const name = "_signing_out";
const cookie = { signed: false, path: "/" };
const seconds = 600;
const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<{ state: string; then: string }>(secrets.lastSignIn, "signing out", seconds);

/** Where the browser ends its session at the login of the school, if it does; it comes back and goes on at `then`. */
export async function signOutUpstream(
  request: PageRequest,
  { id, then }: { id: string; then: string },
): Promise<URL | null> {
  const { deps } = request;
  const state = randomBytes(16).toString("base64url");
  const url = await deps.upstream.logoutUrlOf(id as UpstreamSessionId, { state });
  if (url !== null) setCookie(request, name, sealed(deps).write({ state, then }, deps.clock()), { ...cookie, seconds });
  return url;
}

/** The browser comes back from there, and goes on where signing out here leads. */
export function goOnSignedOut(request: PageRequest): void {
  const { deps, req } = request;
  const text = readCookie(request, name, cookie);
  const signedOut = text === null ? null : sealed(deps).read(text, deps.clock());
  setCookie(request, name, null, cookie);
  const isOwn = signedOut !== null && signedOut.state === req.query["state"];
  redirect(request, isOwn ? signedOut.then : deps.provider().pathFor("end_session_success"));
}
