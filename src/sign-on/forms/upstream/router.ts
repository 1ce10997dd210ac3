import express, { type NextFunction, type Request, type Response, Router } from "express";
import { uuidPattern } from "../../../platform/crypto/ids.ts";
import type { ConnectionId } from "../../../upstream/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf, onPage, type PageRequest, readForm } from "../page-request.ts";
import { beginAtPlatform } from "./begin.ts";
import { comeBack } from "./callback.ts";
import { goOnSignedOut } from "./sign-out.ts";
import { beginPath, chosenSchoolPath, schoolLinkPath, schoolSearchPath, upstreamPath } from "./paths.ts";
import { chooseSchool, openSchoolLink, searchSchools } from "./school-search.ts";

/** Serves the sign-in with the login that a school has elsewhere. */
export function makeUpstreamRouter(deps: InteractionDeps): Router {
  const logoutPath = `${upstreamPath}/:id/backchannel-logout`;
  return Router()
    .post(beginPath, readForm, beginAtPlatform(deps))
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
