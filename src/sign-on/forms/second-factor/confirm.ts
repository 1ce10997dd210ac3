import { Router } from "express";
import { hasSecondFactors, type SecondMethod, withSecondFactor } from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { makeSealed, type Sealed } from "../../../platform/crypto/seal.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findRefusal, findSignedIn } from "../../protocol/signed-in.ts";
import { signIn } from "../complete-sign-in.ts";
import { askNewPassword } from "../new-password/platform.ts";
import { onPage, type PageRequest, readCookie, readLargeForm, redirect, sendPage, setCookie } from "../page-request.ts";
import { renderSecondFactorPage, type SecondFactorModel } from "../pages/index.ts";
import { addressOf, confirmPath, contextOf, returnPathOf, signInPath } from "../platform-page.ts";
import { isOwnForm, openForm, readBrowser, strengthenSession } from "../platform-session.ts";
import { askSecondFactor, checkAnswer } from "./ask.ts";

const pendingCookie = "_sign_in_pending";
const confirmedCookie = "_sign_in_confirmed";
const cookie = { signed: false, path: "/" };
const sealedSeconds = 600;

/** A person with their first factor, before they have a session; without `amr` it was a password. */
type Pending = {
  personId: PersonId;
  generation: number;
  browser: string;
  mustChange?: boolean | undefined;
  amr?: readonly string[] | undefined;
  authTime?: number | null | undefined;
  upstreamSessionId?: string | undefined;
};
/** A person who has just proved a second factor with this browser. */
type Confirmed = { personId: PersonId; browser: string };

const sealedPending = ({ secrets }: InteractionDeps): Sealed<Pending> =>
  makeSealed(secrets.secondFactor, "pending sign-in", sealedSeconds);
const sealedConfirmed = ({ secrets }: InteractionDeps): Sealed<Confirmed> =>
  makeSealed(secrets.secondFactor, "confirmed", sealedSeconds);

/** Stores in the browser that the first factor was right, until the second one follows. */
export function keepPending(
  request: PageRequest,
  { personId, generation, mustChange, amr, authTime, upstreamSessionId }: Omit<Pending, "browser">,
): void {
  const browser = readBrowser(request);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  const { deps } = request;
  const pending = { personId, generation, browser, mustChange, amr, authTime, upstreamSessionId };
  setCookie(request, pendingCookie, sealedPending(deps).write(pending, deps.clock()), cookie);
}

function readSealed<Value extends { browser: string }>(
  request: PageRequest,
  name: string,
  sealed: Sealed<Value>,
): Value | null {
  const text = readCookie(request, name, cookie);
  const value = text === null ? null : sealed.read(text, request.deps.clock());
  return value !== null && value.browser === readBrowser(request) ? value : null;
}

/** Whether the person has proved a second factor with this browser within the last ten minutes. */
export const isConfirmed = (request: PageRequest, personId: PersonId): boolean =>
  readSealed(request, confirmedCookie, sealedConfirmed(request.deps))?.personId === personId;

export function keepConfirmed(request: PageRequest, personId: PersonId): void {
  const { deps } = request;
  const browser = readBrowser(request);
  if (browser !== null)
    setCookie(request, confirmedCookie, sealedConfirmed(deps).write({ personId, browser }, deps.clock()), cookie);
}

type AskedPerson = { personId: PersonId; pending: Pending | null };

async function findAskedPerson(request: PageRequest): Promise<AskedPerson | null> {
  const { deps, req, res } = request;
  const pending = readSealed(request, pendingCookie, sealedPending(deps));
  if (pending !== null) return { personId: pending.personId, pending };
  const signedIn = await findSignedIn(deps, req, res);
  if (!signedIn?.hasStaffFactor || !(await hasSecondFactors(deps.db, signedIn.personId))) return null;
  return { personId: signedIn.personId, pending: null };
}

/** Serves the page that asks for the second factor: after the first one, or in a session without one. */
export function makeConfirmRouter(deps: InteractionDeps): Router {
  const withPerson = (handle: (request: PageRequest, asked: AskedPerson) => Promise<void>) =>
    onPage(deps, async (request) => {
      const asked = await findAskedPerson(request);
      return asked === null ? redirect(request, addressOf(request, signInPath)) : handle(request, asked);
    });
  return Router()
    .get(
      confirmPath,
      withPerson((request, asked) => show(request, asked, null)),
    )
    .post(confirmPath, readLargeForm, withPerson(confirm));
}

async function confirm(request: PageRequest, asked: AskedPerson): Promise<void> {
  const { personId, pending } = asked;
  if (!isOwnForm(request, confirmPath)) return show(request, asked, { kind: "expired_form" });
  const check = await checkAnswer(request, { personId, browser: readBrowser(request) ?? "" });
  if (check.kind !== "ok") return show(request, asked, check);
  const { method } = check;
  if (pending?.mustChange !== true) return goOn(request, asked, method);
  setCookie(request, pendingCookie, null, cookie);
  await askNewPassword(request, { personId, generation: pending.generation, method });
}

/** Signs in a person without a session; else records the second factor in the session. */
async function goOn(request: PageRequest, { personId, pending }: AskedPerson, method: SecondMethod): Promise<void> {
  const { db, clock } = request.deps;
  const isRefused =
    pending === null
      ? !(await strengthenSession(request, { personId, method }))
      : (await findRefusal(db.pool, { personId, now: clock() })) !== null;
  if (isRefused || pending !== null) setCookie(request, pendingCookie, null, cookie);
  if (isRefused) return redirect(request, addressOf(request, signInPath));
  keepConfirmed(request, personId);
  if (pending === null) return redirect(request, returnPathOf(request));
  const { generation, authTime, upstreamSessionId } = pending;
  const amr = withSecondFactor(pending.amr, method);
  await signIn(request, { personId, generation, amr, authTime, upstreamSessionId }, returnPathOf(request));
}

async function show(
  request: PageRequest,
  { personId }: AskedPerson,
  problem: SecondFactorModel["problem"],
): Promise<void> {
  const { csrf, browser } = openForm(request, confirmPath);
  const steps = { action: addressOf(request, confirmPath), cancel: null, csrf };
  const question = await askSecondFactor(request.deps, { personId, browser });
  const model = { app: null, steps, problem, ...question };
  sendPage(request, renderSecondFactorPage(model, contextOf(request, confirmPath)));
}
