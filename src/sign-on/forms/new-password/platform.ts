import express, { type Request, type Response, Router } from "express";
import { readLocale } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { sendPage } from "../form.ts";
import { renderNewPasswordPage, type NewPasswordModel } from "../pages/index.ts";
import { isOwnForm, makeFormToken, readBrowser, signInPath } from "../platform-session.ts";
import { readReturnPath } from "../return-path.ts";
import { addressWith } from "../second-factor/confirm.ts";
import { sealPending, takeNewPassword, type PendingPassword } from "./pending.ts";

const newPasswordPath = `${signInPath}/new-password`;

type Asked = Pick<NewPasswordModel, "pending" | "problem">;

/** Asks a person, whose password was right, for one of their own before they get a session. */
export function askNewPassword(
  deps: InteractionDeps,
  req: Request,
  res: Response,
  check: Omit<PendingPassword, "browser">,
): void {
  const browser = readBrowser(deps, req, res);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  show(deps, req, res, { pending: sealPending(deps, { ...check, browser }), problem: null });
}

function show(deps: InteractionDeps, req: Request, res: Response, asked: Asked): void {
  const returnPath = readReturnPath(req.query["return"]);
  const model: NewPasswordModel = {
    ...asked,
    asksCurrent: false,
    back: null,
    action: addressWith(newPasswordPath, returnPath),
    csrf: makeFormToken(deps, req, res, newPasswordPath),
  };
  const languageUrl = (locale: string) => addressWith(signInPath, returnPath, { lang: locale });
  sendPage(res, renderNewPasswordPage(model, { locale: readLocale(req), languageUrl }));
}

/** Serves the form. Shape: `goOn` continues as after a right password. */
export function makeNewPasswordRouter(
  deps: InteractionDeps,
  goOn: (req: Request, res: Response, check: Omit<PendingPassword, "browser">) => Promise<void>,
): Router {
  const router = Router();
  const startAgain = (req: Request, res: Response) =>
    res.redirect(303, addressWith(signInPath, readReturnPath(req.query["return"])));
  router.get(newPasswordPath, startAgain);
  router.post(newPasswordPath, express.urlencoded({ extended: false, limit: "16kb" }), async (req, res) => {
    if (!isOwnForm(deps, req, res, newPasswordPath)) return startAgain(req, res);
    const taken = await takeNewPassword(deps, req, res, readBrowser(deps, req, res) ?? "");
    if (taken.kind === "expired") return startAgain(req, res);
    if (taken.kind === "fault") return show(deps, req, res, { pending: taken.pending, problem: { kind: taken.fault } });
    await goOn(req, res, taken);
  });
  return router;
}
