import express, { Router } from "express";
import { keepToken, openLink, showOpening } from "./visit.ts";
import * as steps from "./steps.ts";
import { addressOfLink, onLink, onVisit, setUpPath, type SetUpDeps } from "./visit.ts";

export type { SetUpDeps } from "./visit.ts";

const readForm = express.urlencoded({ extended: false, limit: "64kb" });

/**
 * `/set-up`: the IT contact of a school, who has no account, sets a connection up. The address with the token is left
 * at once, and opens nothing: programs that look at the links of e-mails follow it too.
 */
export function makeSetUpPages(deps: SetUpDeps): Router {
  const router = Router();
  const one = addressOfLink(":setUpLinkId");
  router.get(setUpPath, onVisit(deps, showOpening));
  router.post(setUpPath, readForm, onVisit(deps, openLink));
  router.get(one, onLink(deps, steps.findStep));
  for (const [step, show] of Object.entries(steps.shown)) router.get(`${one}/${step}`, onLink(deps, show));
  router.get(`${one}/sign-in`, onLink(deps, steps.startTest, steps.shown.check));
  router.post(`${one}/values`, readForm, onLink(deps, steps.saveValues, steps.shown.values));
  router.post(`${one}/check`, readForm, onLink(deps, steps.checkValues, steps.shown.check));
  router.post(`${one}/result`, readForm, onLink(deps, steps.saveRule, steps.shown.result));
  router.post(`${one}/switch-on`, readForm, onLink(deps, steps.switchOn, steps.shown["switch-on"]));
  router.post(`${one}/off`, readForm, onLink(deps, steps.switchOff, steps.shown["switch-on"]));
  router.get(`${setUpPath}/:token`, onVisit(deps, keepToken));
  return router;
}
