import { Router } from "express";
import { errors } from "oidc-provider";
import type { InteractionDeps } from "../protocol/deps.ts";
import { rememberWaiting } from "./cards/waiting-app.ts";
import { sendError, showOver } from "./interaction/over.ts";
import { isOwnForm, openVisit, renderLogin, renderVisit, targetsOf, type Visit } from "./interaction/show.ts";
import * as steps from "./interaction/steps.ts";
import { rememberApp } from "./interaction/way-to-app.ts";
import { fieldOf, onPage, type PageRequest, readForm, sendPage } from "./page-request.ts";

const stepsByPath: Record<string, steps.Step> = {
  login: steps.logIn,
  upstream: steps.useUpstream,
  consent: steps.allow,
  "new-password": steps.chooseNewPassword,
  "second-factor": steps.proveSecondFactor,
  school: steps.chooseSchool,
  "other-school": steps.chooseOtherSchool,
  stay: steps.stay,
  switch: steps.switchUser,
  cancel: steps.cancel,
};

export function makeInteractionRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get("/interaction/:uid", onPage(deps, show));
  router.post("/interaction/:uid/:step", readForm, (req, res, next) => {
    const step = Object.hasOwn(stepsByPath, req.params.step) ? stepsByPath[req.params.step] : undefined;
    return step ? take({ deps, req, res }, step) : next();
  });
  return router;
}

async function show(request: PageRequest): Promise<void> {
  const visit = await openVisit(request);
  if (!visit) return showOver(request);
  rememberApp(visit);
  rememberWaiting(visit, visit.interaction, targetsOf(visit));
  sendPage(visit, await renderVisit(visit));
}

async function take(request: PageRequest, step: steps.Step): Promise<void> {
  const visit = await openVisit(request);
  if (!visit) return showOver(request);
  if (isOwnForm(visit, fieldOf(visit, "csrf"))) await runStep(visit, step);
  else if (step === steps.logIn) sendPage(visit, await renderLogin(visit, { kind: "expired_form" }));
  else sendError(visit, { reason: "forged", status: 403, again: `/interaction/${visit.interaction.uid}` });
}

/** Shows that the sign-on is over if it ended while the step ran. */
async function runStep(visit: Visit, step: steps.Step): Promise<void> {
  try {
    await step(visit);
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    await showOver(visit);
  }
}
