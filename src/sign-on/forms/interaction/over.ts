import { readLocale, type PageContext } from "../../../platform/pages/index.ts";
import { findSignedIn } from "../../protocol/signed-in.ts";
import { type PageRequest, redirect, requestIdOf, sendPage } from "../page-request.ts";
import { renderErrorPage, renderSignedInPage, type ErrorModel } from "../pages/index.ts";
import { findWayToApp } from "./way-to-app.ts";

const retryParameter = "cookies";

/**
 * Answers for a sign-on that is over, or whose cookies the browser did not send. A browser without any cookie is
 * redirected once with a cookie first, because only then it is known whether it takes one.
 */
export async function showOver(request: PageRequest): Promise<void> {
  const { deps, req, res } = request;
  if (req.headers.cookie === undefined) {
    if (retryParameter in req.query) return sendError(request, { reason: "no_cookies", status: 400 });
    res.cookie("_cookies", "1", { httpOnly: true, sameSite: "lax", secure: req.secure });
    return redirect(request, `${pathOf(request)}?${retryParameter}`);
  }
  const signedIn = await findSignedIn(deps, req, res);
  const app = await findWayToApp(request, signedIn?.personId ?? null);
  if (signedIn === null) return sendError(request, { reason: "expired", status: 400, app });
  const personName = await deps.findPersonName(signedIn.personId);
  const status = req.method === "GET" ? 200 : 409;
  sendPage(request, renderSignedInPage({ status, personName, app }, contextOf(request)));
}

export const sendError = (request: PageRequest, error: Omit<ErrorModel, "requestId">): void =>
  sendPage(request, renderErrorPage({ ...error, requestId: requestIdOf(request) ?? null }, contextOf(request)));

/** The page of the sign-on, also for the form of one of its steps. */
const pathOf = ({ req }: PageRequest): string => `/interaction/${encodeURIComponent(String(req.params["uid"]))}`;

const contextOf = (request: PageRequest): PageContext => ({
  locale: readLocale(request.req),
  languageUrl: (locale) => `${pathOf(request)}?lang=${locale}`,
});
