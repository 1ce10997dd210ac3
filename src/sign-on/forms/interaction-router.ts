import express, { type Request, type Response, Router } from "express";
import { errors } from "oidc-provider";
import { rememberWaiting } from "./cards/waiting-app.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { sendError, showOver } from "./interaction/over.ts";
import { isOwnForm, openVisit, renderLogin, renderVisit, type Visit } from "./interaction/show.ts";
import { fieldOf, sendPage } from "./form.ts";
import {
  allow,
  cancel,
  chooseNewPassword,
  chooseSchool,
  logIn,
  proveSecondFactor,
  stay,
  switchUser,
  type Step,
} from "./interaction/steps.ts";
import { rememberApp } from "./interaction/way-to-app.ts";

const steps: Record<string, Step> = {
  login: logIn,
  consent: allow,
  "new-password": chooseNewPassword,
  "second-factor": proveSecondFactor,
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
    if (!visit) return;
    rememberApp(deps, req, res, visit.app);
    rememberWaiting(deps, req, res, visit.interaction);
    sendPage(res, await renderVisit(deps, visit, req, res));
  });
  router.post(
    "/interaction/:uid/:step",
    express.urlencoded({ extended: false, limit: "16kb" }),
    async (req, res, next) => {
      const step = Object.hasOwn(steps, req.params.step) ? steps[req.params.step] : undefined;
      if (!step) return next();
      const visit = await findVisit(deps, req, res);
      if (!visit) return;
      if (isOwnForm(deps, visit, fieldOf(req, "csrf"))) await orOver(deps, req, res, () => step(deps, visit, req, res));
      else if (step === logIn) sendPage(res, await renderLogin(deps, visit, req, res, { kind: "expired_form" }));
      else sendError(req, res, { reason: "forged", status: 403, again: `/interaction/${visit.interaction.uid}` });
    },
  );
  return router;
}

async function findVisit(deps: InteractionDeps, req: Request, res: Response): Promise<Visit | null> {
  const visit = await openVisit(deps, req, res);
  if (!visit) await showOver(deps, req, res);
  return visit;
}

/** Shows that the sign-on is over if it ended while `work` ran. */
async function orOver(deps: InteractionDeps, req: Request, res: Response, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    await showOver(deps, req, res);
  }
}
