import express, { type Request, type Response, Router } from "express";
import type { PageContext } from "../../../platform/pages/index.ts";
import { readLocale } from "../../../platform/pages/index.ts";
import { readDevice } from "../device.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf, sendPage } from "../form.ts";
import { renderNewPasswordPage, renderNoOwnPasswordPage, type NewPasswordModel } from "../pages/index.ts";
import { isOwnForm, makeFormToken, signInPath } from "../platform-session.ts";
import { signIn } from "../complete-sign-in.ts";
import { readReturnPath } from "../return-path.ts";
import { addressWith, confirmAddress } from "../second-factor/confirm.ts";
import {
  changePassword,
  findOwnPassword,
  hasSecondFactors,
  passwordAlone,
  type OwnPassword,
} from "../../../accounts/index.ts";
import { findSignedIn, type SignedIn } from "../../protocol/signed-in.ts";

/** Where a person who is signed in changes their password. */
export const ownPasswordPath = `${signInPath}/password`;

type Handle = (req: Request, res: Response, signedIn: SignedIn, own: OwnPassword) => Promise<void>;

const returnPathOf = (req: Request): string => readReturnPath(req.query["return"]);
const addressOf = (req: Request, query: Record<string, string> = {}): string =>
  addressWith(ownPasswordPath, returnPathOf(req), query);

/** Serves the page on which people change their own password. */
export function makeOwnPasswordRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get(
    ownPasswordPath,
    owned(deps, async (req, res) => show(deps, req, res, null)),
  );
  router.post(
    ownPasswordPath,
    express.urlencoded({ extended: false, limit: "16kb" }),
    owned(deps, (...of) => change(deps, ...of)),
  );
  return router;
}

/** Lets in who may change their own password; says to others whom to ask. */
function owned(deps: InteractionDeps, handle: Handle) {
  return async (req: Request, res: Response): Promise<void> => {
    const signedIn = await findSignedIn(deps, req, res);
    if (signedIn === null) return res.redirect(303, addressWith(signInPath, addressOf(req)));
    const { personId, hasSecondFactor } = signedIn;
    if (!hasSecondFactor && (await hasSecondFactors(deps.db, personId)))
      return res.redirect(303, confirmAddress(addressOf(req)));
    const own = await findOwnPassword(deps.db, personId);
    if (own?.isAllowed === true) return handle(req, res, signedIn, own);
    sendPage(
      res,
      renderNoOwnPasswordPage({ helpText: own?.helpText ?? null, back: returnPathOf(req) }, contextOf(req)),
    );
  };
}

function show(deps: InteractionDeps, req: Request, res: Response, problem: NewPasswordModel["problem"]): void {
  const csrf = makeFormToken(deps, req, res, ownPasswordPath);
  const model = { action: addressOf(req), csrf, pending: null, asksCurrent: true, back: returnPathOf(req), problem };
  sendPage(res, renderNewPasswordPage(model, contextOf(req)));
}

async function change(
  deps: InteractionDeps,
  ...[req, res, { personId }, { username }]: Parameters<Handle>
): Promise<void> {
  const problem = (given: NewPasswordModel["problem"]) => show(deps, req, res, given);
  if (!isOwnForm(deps, req, res, ownPasswordPath)) return problem({ kind: "expired_form" });
  const [password, repeated] = [fieldOf(req, "password"), fieldOf(req, "repeated")];
  const current = { username, password: fieldOf(req, "current") };
  if (current.password === "") return problem({ kind: "wrong" });
  const now = deps.clock();
  const device = readDevice(deps, req, res);
  const check = await deps.checkPassword({ ...current, address: req.ip ?? "", device, now });
  if (check.kind !== "ok") return problem(check.kind === "refused" ? { kind: "wrong" } : check);
  if (check.personId !== personId) return problem({ kind: "wrong" });
  const { amr } = await deps.provider().Session.get(deps.provider().createContext(req, res));
  const requestId = res.locals["requestId"] as string | undefined;
  const chosen = { personId, generation: check.generation, password, repeated };
  const result = await changePassword(deps.db, chosen, { at: now, requestId });
  if (result.kind === "outdated") return problem({ kind: "wrong" });
  if (result.kind === "fault") return problem({ kind: result.fault });
  // All sessions have ended, so this browser gets one that stands on the new password.
  const proved = { personId, generation: result.generation, amr: amr ?? passwordAlone };
  await signIn(deps, req, res, proved, returnPathOf(req));
}

const contextOf = (req: Request): PageContext => ({
  locale: readLocale(req),
  languageUrl: (lang) => addressOf(req, { lang }),
});
