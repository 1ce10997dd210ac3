import express, { type NextFunction, type Request, type Response, Router } from "express";
import { uuidPattern } from "../../../platform/crypto/ids.ts";
import type { ConnectionId, Destination, SignedInUpstream } from "../../../upstream/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import {
  fieldOf,
  onPage,
  type PageRequest,
  readForm,
  redirect,
  requestIdOf,
  readBrowser,
  chosenSchoolPath,
  schoolLinkPath,
  schoolSearchPath,
  upstreamPath,
  setUpLinkPath,
} from "../page-request.ts";
import { goOnSignedOut } from "./library-steps.ts";
import { chooseSchool, openSchoolLink, searchSchools } from "./school-search.ts";
import type { Interaction } from "../../protocol/provider/library.ts";
import { findOpenInteraction } from "../waiting-app.ts";
import { signIn } from "../complete-sign-in.ts";
import { enterPlatform } from "../platform-sign-in.ts";
import { keepLastSignIn, readLastSignIn } from "../last-sign-in.ts";
import { isAppRequest, showFailure } from "./failure.ts";

/** Serves the sign-in with the login that a school has elsewhere. */
export function makeUpstreamRouter(deps: InteractionDeps): Router {
  const logoutPath = `${upstreamPath}/:id/backchannel-logout`;
  return Router()
    .get(`${upstreamPath}/:id/callback`, onPage(deps, comeBack))
    .get(`${upstreamPath}/:id/signed-out`, onPage(deps, goOnSignedOut))
    .post(logoutPath, readLogoutToken, onPage(deps, endSessions))
    .use(logoutPath, refuseUnread)
    .get(schoolSearchPath, onPage(deps, searchSchools))
    .post(chosenSchoolPath, readForm, onPage(deps, chooseSchool))
    .get(`${schoolLinkPath}/:linkName`, onPage(deps, openSchoolLink));
}

const readLogoutToken = express.urlencoded({ extended: false, limit: "32kb", parameterLimit: 10 });

/** Source: OpenID Connect Back-Channel Logout 1.0 section 2.8. */
async function endSessions(request: PageRequest): Promise<void> {
  const { deps, req, res } = request;
  const id = String(req.params["id"]);
  const token = fieldOf(request, "logout_token");
  const isKnown = uuidPattern.test(id) && token !== "";
  const ended = isKnown ? await deps.upstream.endByLogoutToken(id as ConnectionId, token, req.ip) : "invalid";
  answerLogout(res, ended === "ended");
}

const refuseUnread = (_error: unknown, _req: Request, res: Response, _next: NextFunction): void =>
  answerLogout(res, false);

function answerLogout(res: Response, isDone: boolean): void {
  res.set("Cache-Control", "no-store");
  if (isDone) res.status(200).end();
  else res.status(400).json({ error: "invalid_request" });
}

/** The browser comes back from the login of a school. */
async function comeBack(request: PageRequest): Promise<void> {
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

async function goOn(request: PageRequest, connectionId: ConnectionId, signedIn: SignedInUpstream): Promise<void> {
  const { personId, homeSchoolId, generation, amr, authTime } = signedIn;
  const { isShared } = readLastSignIn(request);
  const person = { personId, generation, amr, authTime, upstreamSessionId: signedIn.upstreamSessionId, isShared };
  keepLastSignIn(request, { personId, homeSchoolId, isShared, connectionId });
  const to = await findDestination(request, signedIn.to);
  if (typeof to !== "string" || isAppRequest(to)) return signIn(request, person, to);
  await enterPlatform(request, person, to);
}

/** An interaction that ended meanwhile leads to the tiles. */
async function findDestination(request: PageRequest, to: Destination): Promise<Interaction | string> {
  if ("path" in to) return to.path;
  return ("interaction" in to ? await findOpenInteraction(request, to.interaction) : null) ?? "/";
}
