import express, { type Request, type Response, Router } from "express";
import { errors } from "oidc-provider";
import { readLocale } from "../../platform/pages/index.ts";
import { renderErrorPage } from "../pages/index.ts";
import type { InteractionDeps } from "./deps.ts";
import { isOwnForm, openVisit, renderLogin, renderVisit, type Visit } from "./show.ts";
import { fieldOf, sendPage, type Step } from "./step.ts";
import { allow, cancel, chooseSchool, logIn, stay, switchUser } from "./steps.ts";

const steps: Record<string, Step> = {
  login: logIn,
  consent: allow,
  school: chooseSchool,
  stay,
  switch: switchUser,
  cancel,
};

/** Serves what a person sees and answers between an app's request and its answer. */
export function makeInteractionRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get("/interaction/:uid", async (req, res) => {
    const visit = await findVisit(deps, req, res);
    if (visit) sendPage(res, await renderVisit(deps, visit, req));
  });
  router.post(
    "/interaction/:uid/:step",
    express.urlencoded({ extended: false, limit: "16kb" }),
    async (req, res, next) => {
      const step = Object.hasOwn(steps, req.params.step) ? steps[req.params.step] : undefined;
      if (!step) return next();
      const visit = await findVisit(deps, req, res);
      if (!visit) return;
      if (isOwnForm(deps, visit, fieldOf(req, "csrf"))) await step(deps, visit, req, res);
      else if (step === logIn) sendPage(res, renderLogin(deps, visit, req, { kind: "expired_form" }));
      else sendError(req, res, "forged", 403);
    },
  );
  return router;
}

async function findVisit(deps: InteractionDeps, req: Request, res: Response): Promise<Visit | null> {
  try {
    const visit = await openVisit(deps, req, res);
    if (!visit) sendError(req, res, "expired", 400);
    return visit;
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    sendError(req, res, "expired", 400);
    return null;
  }
}

function sendError(req: Request, res: Response, reason: "expired" | "forged", status: number): void {
  const requestId = (res.locals["requestId"] as string | undefined) ?? null;
  sendPage(res, renderErrorPage({ status, reason, requestId }, { locale: readLocale(req) }));
}
