import type { Destination, SignedInUpstream, ConnectionId } from "../../../upstream/index.ts";
import { uuidPattern } from "../../../platform/crypto/ids.ts";
import type { Interaction } from "../../protocol/provider/library.ts";
import { findOpenInteraction } from "../cards/waiting-app.ts";
import { signIn } from "../complete-sign-in.ts";
import { enterPlatform } from "../enter-platform.ts";
import { keepLastSignIn, readLastSignIn } from "../last-sign-in.ts";
import { type PageRequest, redirect, requestIdOf } from "../page-request.ts";
import { readBrowser } from "../platform-session.ts";
import { isAppRequest, showFailure } from "./failure.ts";
import { setUpLinkPath } from "./paths.ts";

/** The browser comes back from the login of a school. */
export async function comeBack(request: PageRequest): Promise<void> {
  const { deps, req } = request;
  const connectionId = String(req.params["id"]) as ConnectionId;
  if (!uuidPattern.test(connectionId))
    return showFailure(request, { code: "EXPIRED", connectionId, schoolId: null }, null);
  const finished = await deps.upstream.finish({
    connectionId,
    browser: readBrowser(request) ?? "",
    address: req.ip ?? "",
    params: new URL(req.originalUrl, deps.issuerUrl).searchParams,
    at: deps.clock(),
    requestId: requestIdOf(request),
  });
  if (finished.kind === "again") return redirect(request, finished.redirectTo.href);
  if (finished.kind === "tested") return redirect(request, `${setUpLinkPath}/${finished.setUpLinkId}`);
  if (finished.kind === "failed") return showFailure(request, finished.failure, finished.to);
  await goOn(request, connectionId, finished);
}

async function goOn(request: PageRequest, connectionId: ConnectionId, found: SignedInUpstream): Promise<void> {
  const { personId, homeSchoolId, generation, amr, authTime } = found;
  const { isShared } = readLastSignIn(request);
  const person = { personId, generation, amr, authTime, upstreamSessionId: found.upstreamSessionId, isShared };
  keepLastSignIn(request, { personId, homeSchoolId, isShared, connectionId });
  const to = await findDestination(request, found.to);
  if (typeof to !== "string" || isAppRequest(to)) return signIn(request, person, to);
  await enterPlatform(request, person, to);
}

/** An interaction that ended meanwhile leads to the tiles. */
async function findDestination(request: PageRequest, to: Destination): Promise<Interaction | string> {
  if ("path" in to) return to.path;
  return ("interaction" in to ? await findOpenInteraction(request, to.interaction) : null) ?? "/";
}
