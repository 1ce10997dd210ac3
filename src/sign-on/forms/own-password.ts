import { Router } from "express";
import {
  changePassword,
  findOwnPassword,
  findPasswordRule,
  hasSecondFactors,
  isUpstream,
  passwordAlone,
  type OwnPassword,
} from "../../accounts/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { findSignedIn, type SignedIn } from "../protocol/signed-in.ts";
import { signIn } from "./complete-sign-in.ts";
import { readDevice } from "./steps.ts";
import {
  fieldOf,
  onPage,
  readForm,
  redirect,
  requestIdOf,
  sendPage,
  sessionOf,
  type PageRequest,
  addressOf,
  addressWith,
  confirmPath,
  contextOf,
  returnPathOf,
  signInPath,
  isOwnForm,
  makeFormToken,
} from "./page-request.ts";
import { renderNewPasswordPage, renderNoOwnPasswordPage, type NewPasswordModel } from "./pages/index.ts";

const path = `${signInPath}/password`;

type Owner = Pick<SignedIn, "personId"> & Pick<OwnPassword, "username">;
type Handle = (request: PageRequest, owner: Owner) => void | Promise<void>;

export function makeOwnPasswordRouter(deps: InteractionDeps): Router {
  const router = Router();
  router.get(path, onPage(deps, ifAllowed(show)));
  router.post(path, readForm, onPage(deps, ifAllowed(change)));
  return router;
}

/** Calls the handler if the person may change their own password; tells others whom to ask. */
function ifAllowed(handle: Handle) {
  return async (request: PageRequest): Promise<void> => {
    const { deps, req, res } = request;
    const here = addressOf(request, path);
    const signedIn = await findSignedIn(deps, req, res);
    if (signedIn === null) return redirect(request, addressWith(signInPath, here));
    const { personId, hasSecondFactor } = signedIn;
    if (!hasSecondFactor && (await hasSecondFactors(deps.db, personId)))
      return redirect(request, addressWith(confirmPath, here));
    const own = await findOwnPassword(deps.db, personId, deps.clock());
    if (own?.isAllowed === true) return handle(request, { personId, username: own.username });
    const model = { isUsed: own?.isUsed ?? true, helpText: own?.helpText ?? null, back: returnPathOf(request) };
    sendPage(request, renderNoOwnPasswordPage(model, contextOf(request, path)));
  };
}

async function show(
  request: PageRequest,
  { personId }: Owner,
  problem: NewPasswordModel["problem"] = null,
): Promise<void> {
  const { shortest } = await findPasswordRule(request.deps.db, personId, request.deps.clock());
  const [action, back, csrf] = [addressOf(request, path), returnPathOf(request), makeFormToken(request, path)];
  const model = { action, csrf, pending: null, asksCurrent: true, back, shortest, problem };
  sendPage(request, renderNewPasswordPage(model, contextOf(request, path)));
}

const change: Handle = async (request, owner) => {
  const { personId, username } = owner;
  const { deps, req } = request;
  if (!isOwnForm(request, path)) return show(request, owner, { kind: "expired_form" });
  const [password, repeated] = [fieldOf(request, "password"), fieldOf(request, "repeated")];
  const current = { username, password: fieldOf(request, "current") };
  if (current.password === "") return show(request, owner, { kind: "wrong" });
  const now = deps.clock();
  const check = await deps.checkPassword({ ...current, address: req.ip ?? "", device: readDevice(request), now });
  if (check.kind === "not_used") return redirect(request, addressOf(request, path));
  if (check.kind !== "ok") return show(request, owner, check.kind === "refused" ? { kind: "wrong" } : check);
  if (check.personId !== personId) return show(request, owner, { kind: "wrong" });
  const { amr } = await sessionOf(request);
  const chosen = { personId, generation: check.generation, password, repeated };
  const result = await changePassword(deps.db, chosen, { at: now, requestId: requestIdOf(request) });
  if (result.kind === "outdated") return show(request, owner, { kind: "wrong" });
  if (result.kind === "fault") return show(request, owner, { kind: result.fault });
  // All sessions have ended, so this browser gets a new one.
  const { generation } = result;
  // The person typed their password, so the new session no longer depends on the login of the school.
  const proved = amr === undefined || isUpstream(amr) ? passwordAlone : amr;
  await signIn(request, { personId, generation, amr: proved }, returnPathOf(request));
};
