import { Router } from "express";
import { findPasswordRule } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { onPage, type PageRequest, readForm, redirect, sendPage } from "../page-request.ts";
import { renderNewPasswordPage, type NewPasswordModel } from "../pages/index.ts";
import { addressOf, contextOf, signInPath } from "../platform-page.ts";
import { isOwnForm, makeFormToken, readBrowser } from "../platform-session.ts";
import { sealPending, takeNewPassword, type PendingPassword } from "./pending.ts";

const path = `${signInPath}/new-password`;

type CheckedPerson = Omit<PendingPassword, "browser">;

/** Asks a person whose password was right for one of their own, before they get a session. */
export function askNewPassword(request: PageRequest, person: CheckedPerson): Promise<void> {
  const browser = readBrowser(request);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  const { personId } = person;
  return show(request, { personId, pending: sealPending(request.deps, { ...person, browser }), problem: null });
}

type Asked = Pick<NewPasswordModel, "pending" | "problem"> & { personId: PersonId };

async function show(request: PageRequest, { personId, ...asked }: Asked): Promise<void> {
  const { shortest } = await findPasswordRule(request.deps.db, personId, request.deps.clock());
  const [action, csrf] = [addressOf(request, path), makeFormToken(request, path)];
  const model: NewPasswordModel = { ...asked, shortest, asksCurrent: false, back: null, action, csrf };
  sendPage(request, renderNewPasswordPage(model, contextOf(request, signInPath)));
}

/** Serves the form; `goOn` continues as after a right password. */
export function makeNewPasswordRouter(
  deps: InteractionDeps,
  goOn: (request: PageRequest, person: CheckedPerson) => Promise<void>,
): Router {
  const startAgain = (request: PageRequest) => redirect(request, addressOf(request, signInPath));
  const take = async (request: PageRequest) => {
    if (!isOwnForm(request, path)) return startAgain(request);
    const taken = await takeNewPassword(request, readBrowser(request) ?? "");
    if (taken.kind === "expired") return startAgain(request);
    if (taken.kind === "fault") {
      const { personId, pending, fault } = taken;
      return show(request, { personId, pending, problem: { kind: fault } });
    }
    await goOn(request, taken);
  };
  return Router().get(path, onPage(deps, startAgain)).post(path, readForm, onPage(deps, take));
}
