import { Router } from "express";
import {
  hasSecondFactors,
  type SecondMethod,
  withSecondFactor,
  type BoundPerson,
  askForPasskey,
  checkCode,
  checkPasskey,
  limitedTry,
  listSecondFactors,
  type SecondFactorCheck,
} from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findRefusal, findSignedIn } from "../../protocol/signed-in.ts";
import { signIn } from "../complete-sign-in.ts";
import { ofThisBrowser, openPlatform, keepConfirmed, type Pending, pendingCookie } from "../platform-sign-in.ts";
import { askNewPassword } from "../steps.ts";
import {
  onPage,
  type PageRequest,
  readLargeForm,
  redirect,
  sendPage,
  addressOf,
  confirmPath,
  contextOf,
  returnPathOf,
  signInPath,
  isOwnForm,
  openForm,
  readBrowser,
  strengthenSession,
  fieldOf,
  requestIdOf,
} from "../page-request.ts";
import { renderSecondFactorPage, type SecondFactorModel } from "../pages/index.ts";

type AskedPerson = { personId: PersonId; pending: Pending | null };

async function findAskedPerson(request: PageRequest): Promise<AskedPerson | null> {
  const { deps, req, res } = request;
  const pending = ofThisBrowser(request, pendingCookie.read(request));
  if (pending !== null) return { personId: pending.personId, pending };
  const signedIn = await findSignedIn(deps, req, res);
  if (!signedIn?.hasStaffFactor || !(await hasSecondFactors(deps.db, signedIn.personId))) return null;
  return { personId: signedIn.personId, pending: null };
}

/** Serves the page that asks for the second factor: after the first one, or in a session without one. */
export function makeConfirmRouter(deps: InteractionDeps): Router {
  const withPerson = (handle: (request: PageRequest, person: AskedPerson) => Promise<void>) =>
    onPage(deps, async (request) => {
      const person = await findAskedPerson(request);
      return person === null ? redirect(request, addressOf(request, signInPath)) : handle(request, person);
    });
  return Router().get(confirmPath, withPerson(show)).post(confirmPath, readLargeForm, withPerson(confirm));
}

async function confirm(request: PageRequest, person: AskedPerson): Promise<void> {
  const { personId, pending } = person;
  if (!isOwnForm(request, confirmPath)) return show(request, person, { kind: "expired_form" });
  const check = await checkAnswer(request, { personId, browser: readBrowser(request) ?? "" });
  if (check.kind !== "ok") return show(request, person, check);
  const { method } = check;
  if (pending?.mustChange !== true) return goOn(request, person, method);
  pendingCookie.forget(request);
  await askNewPassword(openPlatform(request), { personId, generation: pending.generation, method });
}

/** Signs in a person without a session; else records the second factor in the session. */
async function goOn(request: PageRequest, { personId, pending }: AskedPerson, method: SecondMethod): Promise<void> {
  const { db, clock } = request.deps;
  const isRefused =
    pending === null
      ? !(await strengthenSession(request, { personId, method }))
      : (await findRefusal(db.pool, { personId, now: clock() })) !== null;
  if (isRefused || pending !== null) pendingCookie.forget(request);
  if (isRefused) return redirect(request, addressOf(request, signInPath));
  keepConfirmed(request, personId);
  if (pending === null) return redirect(request, returnPathOf(request));
  const { generation, authTime, upstreamSessionId, passkeyOffer } = pending;
  const amr = withSecondFactor(pending.amr, method);
  const person = { personId, generation, amr, authTime, upstreamSessionId, passkeyOffer };
  await signIn(request, person, returnPathOf(request));
}

async function show(
  request: PageRequest,
  { personId }: AskedPerson,
  problem: SecondFactorModel["problem"] = null,
): Promise<void> {
  const { csrf, browser } = openForm(request, confirmPath);
  const steps = { action: addressOf(request, confirmPath), cancel: null, csrf };
  const question = await askSecondFactor(request.deps, { personId, browser });
  const model = { app: null, steps, problem, ...question };
  sendPage(request, renderSecondFactorPage(model, contextOf(request, confirmPath)));
}

export async function askSecondFactor(
  deps: InteractionDeps,
  person: BoundPerson,
): Promise<Pick<SecondFactorModel, "takesCode" | "passkey">> {
  const factors = await listSecondFactors(deps.db, person.personId);
  return { takesCode: factors.some(({ kind }) => kind === "TOTP"), passkey: await askForPasskey(deps, person) };
}

const longestCode = 64;

export async function checkAnswer(
  request: PageRequest,
  person: BoundPerson,
): Promise<SecondFactorCheck | { kind: "missing" }> {
  const { deps } = request;
  const { personId } = person;
  const response = fieldOf(request, "passkey");
  if (response !== "") {
    const answer = { response, state: fieldOf(request, "state") };
    return limitedTry(deps, personId, async () => ((await checkPasskey(deps, person, answer)) ? "hwk" : null));
  }
  const code = fieldOf(request, "code").trim().slice(0, longestCode);
  if (code === "") return { kind: "missing" };
  return checkCode(deps, { personId, code, requestId: requestIdOf(request) });
}
