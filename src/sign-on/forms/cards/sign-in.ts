import express, { type Request, type Response, Router } from "express";
import { readLocale, type Page } from "../../../platform/pages/index.ts";
import { seal, unseal } from "../../../platform/crypto/seal.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { signIn } from "../complete-sign-in.ts";
import { fieldOf, sendPage } from "../form.ts";
import { checkCsrfToken, makeCsrfToken, renderCardPage, renderCardProblemPage } from "../pages/index.ts";
import type { CardProblemModel } from "../pages/index.ts";
import { cookiesOf, signInPath } from "../platform-session.ts";
import {
  cardPath,
  checkAnswer,
  checkCard,
  checkCardUse,
  isCardToken,
  recordCardUse,
  type UsableCard,
} from "../../../accounts/index.ts";
import { findWaiting, forgetWaiting, readWaitingTarget } from "./waiting-app.ts";

const cookieName = "_card";
const cookieMs = 600_000;
const purpose = "card cookie";

/**
 * Serves the sign-in by card: the address in the QR code puts the card into a cookie of this browser and leaves the
 * address bar at once; only the button of the page behind it signs anybody in. The person goes on to the app that waits
 * in this browser, else to the tiles. Nobody is asked for a new password: a card is a way of its own.
 */
export function makeCardSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(`${cardPath}/:token`, (req, res) => {
    const { token } = req.params;
    if (isCardToken(token)) keepCard(deps, req, res, token);
    res.set({ "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" });
    res.redirect(303, isCardToken(token) ? cardPath : `${cardPath}?unknown`);
  });
  router.get(cardPath, (req, res) => showCard(deps, req, res));
  router.post(cardPath, express.urlencoded({ extended: false, limit: "16kb" }), (req, res) => useCard(deps, req, res));
  return router;
}

function keepCard(deps: InteractionDeps, req: Request, res: Response, token: string): void {
  const sealed = seal([deps.secrets.cardCookies], purpose, Buffer.from(token)).toString("base64url");
  const options = { httpOnly: true, sameSite: "lax", signed: true, path: "/", maxAge: cookieMs } as const;
  cookiesOf(deps, req, res).set(cookieName, sealed, options);
}

/** The card that this browser scanned. Shape: `browser` is what only this browser holds. */
function readCard(deps: InteractionDeps, req: Request, res: Response): { token: string; browser: string } | null {
  const browser = cookiesOf(deps, req, res).get(cookieName, { signed: true });
  if (!browser) return null;
  const token = unseal([deps.secrets.cardCookies], purpose, Buffer.from(browser, "base64url"));
  return token === null ? null : { token: token.toString(), browser };
}

const sendAlone = (res: Response, page: Page): void =>
  sendPage(res, { ...page, headers: { ...page.headers, "Referrer-Policy": "no-referrer" } });

const contextOf = (req: Request) => ({
  locale: readLocale(req),
  languageUrl: (locale: string) => `${cardPath}?lang=${locale}`,
});

function showProblem(req: Request, res: Response, model: Partial<CardProblemModel> & Pick<CardProblemModel, "reason">) {
  sendAlone(res, renderCardProblemPage({ hours: null, ...model, signInPath }, contextOf(req)));
}

type Form = { card: UsableCard; browser: string; isWrong: boolean };

function showForm(deps: InteractionDeps, req: Request, res: Response, { card, browser, isWrong }: Form): void {
  const { firstName, secondStep } = card;
  const csrf = makeCsrfToken(deps.secrets.csrf, { interaction: cardPath, browser });
  const model = { firstName, secondStep, isWrong, csrf, action: cardPath, signInPath };
  // Browsers hold the form against every redirect that follows it, also that to the app.
  const target = readWaitingTarget(deps, req, res);
  sendAlone(res, renderCardPage(model, { ...contextOf(req), formTargets: target === null ? [] : [target] }));
}

async function showCard(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  const scanned = readCard(deps, req, res);
  if (scanned === null || "unknown" in req.query)
    return showProblem(req, res, { reason: "unknown" in req.query ? "invalid" : "again" });
  const { token, browser } = scanned;
  const check = await checkCard(deps.db, { token, at: deps.clock(), address: req.ip ?? "" });
  if (check.kind !== "usable") return showProblem(req, res, check);
  showForm(deps, req, res, { card: check.card, browser, isWrong: false });
}

async function useCard(deps: InteractionDeps, req: Request, res: Response): Promise<void> {
  const scanned = readCard(deps, req, res);
  const bound = { interaction: cardPath, browser: scanned?.browser ?? "" };
  if (scanned === null || !checkCsrfToken(deps.secrets.csrf, bound, fieldOf(req, "csrf")))
    return showProblem(req, res, { reason: "again" });
  const { token, browser } = scanned;
  const [at, address] = [deps.clock(), req.ip ?? ""];
  const requestId = res.locals["requestId"] as string | undefined;
  const check = await checkCardUse(deps.db, { token, at, address, key: deps.secrets.signInTraces });
  if (check.kind === "slowed")
    return showProblem(req, res, { reason: "slowed", retryAfterSeconds: check.retryAfterSeconds });
  if (check.kind !== "usable") return showProblem(req, res, check);
  const { card } = check;
  if (card.secondStep !== "NONE" && fieldOf(req, "answer") === "")
    return showForm(deps, req, res, { card, browser, isWrong: true });
  const given = { answer: fieldOf(req, "answer"), key: deps.secrets.cardAnswers, at, requestId };
  const answer = await checkAnswer(deps.db, card, given);
  if (answer === "wrong") return showForm(deps, req, res, { card, browser, isWrong: true });
  if (answer === "ended") return showProblem(req, res, { reason: "ended" });
  if (!(await recordCardUse(deps.db, card, { at, requestId }))) return showProblem(req, res, { reason: "invalid" });

  const { personId } = card;
  const waiting = await findWaiting(deps, req, res);
  cookiesOf(deps, req, res).set(cookieName, null, { path: "/", signed: true });
  if (waiting !== null) forgetWaiting(deps, req, res);
  const { generation, cardId } = card;
  await signIn(deps, req, res, { personId, generation, cardId, amr: ["card"] }, waiting ?? "/");
}
