import { Router } from "express";
import {
  findPasswordRule,
  changePassword,
  hasSecondFactors,
  type PasswordFault,
  type SecondMethod,
} from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import {
  onPage,
  type PageRequest,
  readForm,
  redirect,
  sendPage,
  addressOf,
  contextOf,
  signInPath,
  isOwnForm,
  makeFormToken,
  readBrowser,
  fieldOf,
  requestIdOf,
} from "../page-request.ts";
import { renderNewPasswordPage, type NewPasswordModel } from "../pages/index.ts";
import { makeSealed } from "../../../platform/crypto/seal.ts";

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

/**
 * A person without a session, whose password was right and must be replaced; after `method` if they have a second
 * factor.
 */
export type PendingPassword = { personId: PersonId; generation: number; browser: string; method?: SecondMethod };

const pendingSeconds = 1_200;

const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<PendingPassword>(secrets.newPassword, "new password", pendingSeconds);

/** Makes the field by which nobody else can choose the password. */
export const sealPending = (
  deps: InteractionDeps,
  { personId, generation, browser, method }: PendingPassword,
): string => sealed(deps).write({ personId, generation, browser, ...(method && { method }) }, deps.clock());

/** Reads that field; null if it is too old or another browser's. */
export function readPending(request: PageRequest, browser: string): PendingPassword | null {
  const text = fieldOf(request, "pending");
  const pending = text === "" ? null : sealed(request.deps).read(text, request.deps.clock());
  return pending === null || browser === "" || pending.browser !== browser ? null : pending;
}

/** "expired": the form is too old, another browser's, or lacks the second factor. */
type TakenPassword =
  | { kind: "done"; personId: PersonId; generation: number; method?: SecondMethod }
  | { kind: "fault"; personId: PersonId; fault: PasswordFault; pending: string }
  | { kind: "expired" };

export async function takeNewPassword(request: PageRequest, browser: string): Promise<TakenPassword> {
  const { db, clock } = request.deps;
  const pending = readPending(request, browser);
  if (pending === null) return { kind: "expired" };
  const { personId, generation, method } = pending;
  if (method === undefined && (await hasSecondFactors(db, personId))) return { kind: "expired" };
  const [password, repeated] = [fieldOf(request, "password"), fieldOf(request, "repeated")];
  const origin = { at: clock(), requestId: requestIdOf(request) };
  const result = await changePassword(db, { personId, generation, password, repeated }, origin);
  if (result.kind === "outdated") return { kind: "expired" };
  if (result.kind === "fault") return { ...result, personId, pending: fieldOf(request, "pending") };
  return { ...result, personId, ...(method && { method }) };
}
