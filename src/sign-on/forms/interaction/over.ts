import type { Request, Response } from "express";
import { readLocale, type PageContext } from "../../../platform/pages/index.ts";
import { renderErrorPage, renderSignedInPage, type ErrorModel } from "../pages/index.ts";
import { findSignedIn } from "../../protocol/signed-in.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { sendPage } from "../form.ts";
import { findWayToApp } from "./way-to-app.ts";

const asked = "cookies";

/**
 * Answers for a sign-on that this browser does not hold: it is over, or its cookies did not come.
 *
 * Shape: a browser without any cookie is given one first, and asked once more.
 */
export async function showOver(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  if (req.headers.cookie === undefined) {
    if (req.method !== "GET" || asked in req.query) return sendError(req, res, { reason: "no_cookies", status: 400 });
    res.cookie("_cookies", "1", { httpOnly: true, sameSite: "lax", secure: req.secure });
    return res.redirect(303, `${pathOf(req)}?${asked}`);
  }
  const signedIn = await findSignedIn(deps, req, res);
  const app = await findWayToApp(deps, req, res, signedIn?.personId ?? null);
  if (signedIn === null) return sendError(req, res, { reason: "expired", status: 400, app });
  const personName = await deps.findPersonName(signedIn.personId);
  const status = req.method === "GET" ? 200 : 409;
  sendPage(res, renderSignedInPage({ status, personName, app }, contextOf(req)));
}

export function sendError(req: Request, res: Response, error: Omit<ErrorModel, "requestId">): void {
  const requestId = (res.locals["requestId"] as string | undefined) ?? null;
  sendPage(res, renderErrorPage({ ...error, requestId }, contextOf(req)));
}

/** The page of the sign-on, which takes GET. */
const pathOf = (req: Request): string => `/interaction/${encodeURIComponent(String(req.params["uid"]))}`;

const contextOf = (req: Request): PageContext => ({
  locale: readLocale(req),
  languageUrl: (locale) => `${pathOf(req)}?lang=${locale}`,
});
