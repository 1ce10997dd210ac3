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
  hasSecondFactor,
} from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findRefusal, findSignedIn, findNextStep } from "../../protocol/signed-in.ts";
import { signIn, type AuthenticatedPerson } from "../complete-sign-in.ts";
import { askNewPassword } from "../new-password/platform.ts";
import {
  onPage,
  type PageRequest,
  readLargeForm,
  redirect,
  sendPage,
  makeSealedCookie,
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
  addressWith,
  setUpPath,
} from "../page-request.ts";
import { renderSecondFactorPage, type SecondFactorModel } from "../pages/index.ts";

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

const pendingCookie = makeSealedCookie<Pending>("_sign_in_pending", {
  secret: "secondFactor",
  purpose: "pending sign-in",
  seconds: 600,
});
const confirmedCookie = makeSealedCookie<Confirmed>("_sign_in_confirmed", {
  secret: "secondFactor",
  purpose: "confirmed",
  seconds: 600,
});

/** Stores in the browser that the first factor was right, until the second one follows. */
function keepPending(
  request: PageRequest,
  { personId, generation, mustChange, amr, authTime, upstreamSessionId }: Omit<Pending, "browser">,
): void {
  const browser = readBrowser(request);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  pendingCookie.write(request, { personId, generation, browser, mustChange, amr, authTime, upstreamSessionId });
}

const ofThisBrowser = <Value extends { browser: string }>(request: PageRequest, value: Value | null): Value | null =>
  value !== null && value.browser === readBrowser(request) ? value : null;

/** Whether the person has proved a second factor with this browser within the last ten minutes. */
export const isConfirmed = (request: PageRequest, personId: PersonId): boolean =>
  ofThisBrowser(request, confirmedCookie.read(request))?.personId === personId;

export function keepConfirmed(request: PageRequest, personId: PersonId): void {
  const browser = readBrowser(request);
  if (browser !== null) confirmedCookie.write(request, { personId, browser });
}

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
  pendingCookie.forget(request);
  await askNewPassword(request, { personId, generation: pending.generation, method });
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

type EnteringPerson = Omit<AuthenticatedPerson, "cardId"> & { mustChange?: boolean | undefined };

/** Signs a person in to the platform, who continues at `path`; before that comes a second factor that is due. */
export async function enterPlatform(request: PageRequest, person: EnteringPerson, path: string): Promise<void> {
  const next = hasSecondFactor(person.amr) ? "none" : await findNextStep(request.deps, person.personId);
  if (next === "confirm") {
    keepPending(request, person);
    return redirect(request, addressWith(confirmPath, path));
  }
  await signIn(request, person, next === "set_up" ? addressWith(setUpPath, path) : path);
}
