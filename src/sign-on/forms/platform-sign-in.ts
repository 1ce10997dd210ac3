import { Router } from "express";
import { hasSecondFactor, type PasskeyOffer, passwordAlone } from "../../accounts/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { findNextStep, findRefusal, findSignedIn } from "../protocol/signed-in.ts";
import { type AuthenticatedPerson, signIn } from "./complete-sign-in.ts";
import {
  addressOf,
  addressWith,
  beginPath,
  confirmPath,
  contextOf,
  isOwnForm,
  makeFormToken,
  makeSealedCookie,
  onPage,
  type PageRequest,
  readBrowser,
  readForm,
  redirect,
  returnPathOf,
  sendPage,
  setUpPath,
  signInPath,
} from "./page-request.ts";
import { chooseNewPassword, logIn, renderLogin, type SignOn } from "./steps.ts";
import { beginUpstream } from "./upstream/begin.ts";

const newPasswordPath = `${signInPath}/new-password`;

/** Serves the sign-in to the platform itself, without an app. */
export function makePlatformSignIn(deps: InteractionDeps): Router {
  const ifOwn = (path: string, handle: (signOn: SignOn) => Promise<void>) =>
    onPage(deps, (request) => {
      const signOn = openPlatform(request);
      return isOwnForm(request, path) ? handle(signOn) : signOn.startAgain();
    });
  return Router()
    .get(signInPath, onPage(deps, show))
    .post(signInPath, readForm, onPage(deps, takeLogin))
    .get(
      newPasswordPath,
      onPage(deps, (request) => openPlatform(request).startAgain()),
    )
    .post(newPasswordPath, readForm, ifOwn(newPasswordPath, chooseNewPassword))
    .post(
      beginPath,
      readForm,
      ifOwn(signInPath, (signOn) => beginUpstream(signOn, { to: { path: returnPathOf(signOn) } })),
    );
}

export function openPlatform(request: PageRequest): SignOn {
  const { again, other } = request.req.query;
  const repeated = again === undefined ? {} : { again: "" };
  const [login, path] = [addressOf(request, signInPath), returnPathOf(request)];
  const forms = { login: signInPath, "new-password": newPasswordPath };
  return {
    ...request,
    app: null,
    browser: readBrowser(request) ?? "",
    addresses: {
      login,
      other: addressOf(request, signInPath, { ...repeated, other: "" }),
      upstream: addressOf(request, beginPath, { ...repeated, ...(other !== undefined && { other: "" }) }),
    },
    hint: { username: "", schoolId: null },
    context: contextOf(request, signInPath),
    stepsOf: (step) => {
      const form = forms[step];
      return { action: addressOf(request, form), cancel: null, csrf: makeFormToken(request, form) };
    },
    findRefusal: (personId) => findRefusal(request.deps.db.pool, { personId, now: request.deps.clock() }),
    askSecondFactor: (person) => enterPlatform(request, { ...person, amr: passwordAlone, mustChange: true }, path),
    startAgain: () => redirect(request, login),
    async finish(person) {
      if (hasSecondFactor(person.amr)) keepConfirmed(request, person.personId);
      await enterPlatform(request, person, path);
    },
  };
}

async function show(request: PageRequest): Promise<void> {
  const { deps, req, res } = request;
  const signedIn = await findSignedIn(deps, req, res);
  // With `again`, a person who is signed in types their password once more.
  if (req.query["again"] !== undefined || signedIn === null)
    return sendPage(request, await renderLogin(openPlatform(request), null));
  redirect(request, signedIn.needsSecondFactor ? addressOf(request, setUpPath) : returnPathOf(request));
}

async function takeLogin(request: PageRequest): Promise<void> {
  const signOn = openPlatform(request);
  if (isOwnForm(request, signInPath)) return logIn(signOn);
  const kind = request.req.headers.cookie === undefined ? "no_cookies" : "expired_form";
  sendPage(request, await renderLogin(signOn, { kind }));
}

/** A person with their first factor, before they have a session; without `amr` it was a password. */
export type Pending = {
  personId: PersonId;
  generation: number;
  browser: string;
  mustChange?: boolean | undefined;
  amr?: readonly string[] | undefined;
  authTime?: number | null | undefined;
  upstreamSessionId?: string | undefined;
  passkeyOffer?: PasskeyOffer | null | undefined;
};
type Confirmed = { personId: PersonId; browser: string };

export const pendingCookie = makeSealedCookie<Pending>("_sign_in_pending", {
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
function keepPending(request: PageRequest, person: EnteringPerson): void {
  const browser = readBrowser(request);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  const { isShared: _known, stays: _chosen, ...signedIn } = person;
  pendingCookie.write(request, { ...signedIn, browser });
}

export const ofThisBrowser = <Value extends { browser: string }>(request: PageRequest, value: Value | null) =>
  value !== null && value.browser === readBrowser(request) ? value : null;

/** Whether the person has proved a second factor with this browser within the last ten minutes. */
export const isConfirmed = (request: PageRequest, personId: PersonId): boolean =>
  ofThisBrowser(request, confirmedCookie.read(request))?.personId === personId;

export function keepConfirmed(request: PageRequest, personId: PersonId): void {
  const browser = readBrowser(request);
  if (browser !== null) confirmedCookie.write(request, { personId, browser });
}

type EnteringPerson = Omit<AuthenticatedPerson, "cardId"> & { mustChange?: boolean | undefined };

/** Signs a person in to the platform, who continues at `path`; before that comes a second factor that is due. */
export async function enterPlatform(request: PageRequest, person: EnteringPerson, path: string): Promise<void> {
  const next = hasSecondFactor(person.amr) ? "none" : await findNextStep(request.deps, person.personId);
  if (next === "confirm") {
    keepPending(request, person);
    return redirect(request, addressWith(confirmPath, path));
  }
  if (next === "none") return signIn(request, person, path);
  await signIn(request, { ...person, passkeyOffer: null }, addressWith(setUpPath, path));
}
