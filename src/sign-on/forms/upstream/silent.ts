import { makeSealed } from "../../../platform/crypto/seal.ts";
import { listWaysIn } from "../../../upstream/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { readLastSignIn } from "../last-sign-in.ts";
import { type PageRequest, readCookie, setCookie } from "../page-request.ts";
import { nameBrowser } from "../platform-session.ts";

const name = "_silent";
const cookie = { signed: false, path: "/" };

/** A browser is sent away once in this time, so that no answer of an app or a login makes it go round. */
const pauseSeconds = 300;
const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<{ tried: true }>(secrets.lastSignIn, "silent sign-in", pauseSeconds);

type Silent = { path: string; address: string; maxAge: number | undefined };

/**
 * Asks the login of the school, without a page, who is signed in there: for a request that must not show one, from a
 * browser of one person who used this login last, if it is the only one of the school.
 */
export async function beginSilently(request: PageRequest, { path, address, maxAge }: Silent): Promise<URL | null> {
  const { deps } = request;
  const { connectionId, schoolId, personId } = readLastSignIn(request);
  if (!connectionId || schoolId === null || personId === null || wasTried(request)) return null;
  const ways = await listWaysIn(deps.db.pool, schoolId);
  if (ways.length !== 1 || ways[0]?.connectionId !== connectionId) return null;
  setCookie(request, name, sealed(deps).write({ tried: true }, deps.clock()), { ...cookie, seconds: pauseSeconds });
  const start = { connectionId, browser: nameBrowser(request), address, to: { path }, maxAge, silent: true };
  const begun = await deps.upstream.begin(start);
  return "failure" in begun ? null : begun.redirectTo;
}

function wasTried(request: PageRequest): boolean {
  const text = readCookie(request, name, cookie);
  return text !== null && sealed(request.deps).read(text, request.deps.clock()) !== null;
}
