import express, { type Request, type Response, Router } from "express";
import type { PersonId } from "../../../directory/index.ts";
import { readLocale } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { sendPage } from "../form.ts";
import { renderSecondFactorPage, type SecondFactorModel } from "../pages/index.ts";
import { cookiesOf, isOwnForm, openForm, readBrowser } from "../platform-session.ts";
import { signInPath, strengthenSession } from "../platform-session.ts";
import { signIn } from "../complete-sign-in.ts";
import { readReturnPath } from "../return-path.ts";
import { findRefusal, findSignedIn } from "../../protocol/signed-in.ts";
import { askSecondFactor, checkAnswer } from "./ask.ts";
import { hasSecondFactors, passwordAnd, type SecondMethod } from "../../../accounts/index.ts";
import { makeSealed, type Sealed } from "../../../platform/crypto/sealed.ts";

export const confirmPath = `${signInPath}/confirm`;
const pendingCookie = "_sign_in_pending";
const confirmedCookie = "_sign_in_confirmed";
const pendingSeconds = 600;
const confirmedSeconds = 600;

/** A person whose password was right, before they have a session. */
type Pending = { personId: PersonId; generation: number; browser: string; mustChange?: boolean };
/** A person who has just proved a second factor with this browser. */
type Confirmed = { personId: PersonId; browser: string };

type Deps = InteractionDeps;

const sealedPending = ({ secrets }: Deps): Sealed<Pending> =>
  makeSealed(secrets.secondFactor, "pending sign-in", pendingSeconds);
const sealedConfirmed = ({ secrets }: Deps): Sealed<Confirmed> =>
  makeSealed(secrets.secondFactor, "confirmed", confirmedSeconds);

/** The address of the page that asks for the second factor, and goes on to `path`. */
export const confirmAddress = (path: string): string => addressWith(confirmPath, path);

export function addressWith(page: string, path: string, query: Record<string, string> = {}): string {
  const all = new URLSearchParams({ ...(path !== "/" && { return: path }), ...query });
  return all.size === 0 ? page : `${page}?${all.toString()}`;
}

const returnPathOf = (req: Request): string => readReturnPath(req.query["return"]);

/** Keeps with the browser that the password was right, until the second factor follows. */
export function keepPending(
  deps: Deps,
  req: Request,
  res: Response,
  { personId, generation, mustChange = false }: Omit<Pending, "browser">,
): void {
  const browser = readBrowser(deps, req, res);
  if (browser === null) throw new Error("a form came without the browser's cookie");
  const pending = { personId, generation, browser, mustChange };
  setCookie(deps, req, res, pendingCookie, sealedPending(deps).write(pending, deps.clock()));
}

function readOf<Value extends { browser: string }>(
  deps: Deps,
  req: Request,
  res: Response,
  { name, sealed }: { name: string; sealed: Sealed<Value> },
): Value | null {
  const text = cookiesOf(deps, req, res).get(name, { signed: false });
  const value = text === undefined ? null : sealed.read(text, deps.clock());
  return value !== null && value.browser === readBrowser(deps, req, res) ? value : null;
}

/** Whether the person has proved a second factor with this browser within the last ten minutes. */
export function isConfirmed(deps: Deps, req: Request, res: Response, personId: PersonId): boolean {
  const confirmed = readOf(deps, req, res, { name: confirmedCookie, sealed: sealedConfirmed(deps) });
  return confirmed?.personId === personId;
}

export function keepConfirmed(deps: Deps, req: Request, res: Response, personId: PersonId): void {
  const browser = readBrowser(deps, req, res);
  if (browser === null) return;
  setCookie(deps, req, res, confirmedCookie, sealedConfirmed(deps).write({ personId, browser }, deps.clock()));
}

function setCookie(deps: Deps, req: Request, res: Response, name: string, value: string | null): void {
  cookiesOf(deps, req, res).set(name, value, { httpOnly: true, sameSite: "lax", signed: false, path: "/" });
}

type Asked = { personId: PersonId; pending: Pending | null };

async function findAsked(deps: Deps, req: Request, res: Response): Promise<Asked | null> {
  const pending = readOf(deps, req, res, { name: pendingCookie, sealed: sealedPending(deps) });
  if (pending !== null) return { personId: pending.personId, pending };
  const signedIn = await findSignedIn(deps, req, res);
  if (!signedIn?.hasPassword || !(await hasSecondFactors(deps.db, signedIn.personId))) return null;
  return { personId: signedIn.personId, pending: null };
}

type Proved = { personId: PersonId; generation: number; method: SecondMethod };

/**
 * Serves the page that asks for the second factor: after the password, and of who is signed in without one.
 *
 * Shape: `askNewPassword` goes on with who has to replace their password first.
 */
export function makeConfirmRouter(
  deps: Deps,
  askNewPassword: (deps: Deps, req: Request, res: Response, proved: Proved) => void,
): Router {
  const router = Router();
  router.get(confirmPath, async (req, res) => {
    const asked = await findAsked(deps, req, res);
    if (asked === null) res.redirect(303, addressWith(signInPath, returnPathOf(req)));
    else await show(deps, req, res, { asked, problem: null });
  });
  router.post(confirmPath, express.urlencoded({ extended: false, limit: "32kb" }), async (req, res) => {
    const asked = await findAsked(deps, req, res);
    if (asked === null) return res.redirect(303, addressWith(signInPath, returnPathOf(req)));
    if (!isOwnForm(deps, req, res, confirmPath))
      return show(deps, req, res, { asked, problem: { kind: "expired_form" } });
    const check = await checkAnswer(deps, req, res, {
      personId: asked.personId,
      browser: readBrowser(deps, req, res) ?? "",
    });
    if (check.kind !== "ok") return show(deps, req, res, { asked, problem: check });
    if (asked.pending?.mustChange === true) {
      const { personId, generation } = asked.pending;
      setCookie(deps, req, res, pendingCookie, null);
      return askNewPassword(deps, req, res, { personId, generation, method: check.method });
    }
    await goOn(deps, req, res, asked, check.method);
  });
  return router;
}

/** Signs in who had no session yet; else notes the second factor in the session. */
async function goOn(
  deps: Deps,
  req: Request,
  res: Response,
  { personId, pending }: Asked,
  method: SecondMethod,
): Promise<void> {
  const amr = passwordAnd(method);
  const isRefused =
    pending === null
      ? !(await strengthenSession(deps, req, res, { personId, amr }))
      : (await findRefusal(deps.db.pool, { personId, now: deps.clock() })) !== null;
  if (isRefused || pending !== null) setCookie(deps, req, res, pendingCookie, null);
  if (isRefused) return res.redirect(303, addressWith(signInPath, returnPathOf(req)));
  keepConfirmed(deps, req, res, personId);
  if (pending === null) return res.redirect(303, returnPathOf(req));
  await signIn(deps, req, res, { personId, generation: pending.generation, amr }, returnPathOf(req));
}

async function show(
  deps: Deps,
  req: Request,
  res: Response,
  { asked, problem }: { asked: Asked; problem: SecondFactorModel["problem"] },
): Promise<void> {
  const { csrf, browser } = openForm(deps, req, res, confirmPath);
  const steps = { action: confirmAddress(returnPathOf(req)), cancel: null, csrf };
  const question = await askSecondFactor(deps, { personId: asked.personId, browser });
  const page = renderSecondFactorPage(
    { app: null, steps, problem, ...question },
    {
      locale: readLocale(req),
      languageUrl: (lang) => addressWith(confirmPath, returnPathOf(req), { lang }),
    },
  );
  sendPage(res, page);
}
