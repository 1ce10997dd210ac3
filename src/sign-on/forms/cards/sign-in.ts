import { Router } from "express";
import { readLocale, type Page } from "../../../platform/pages/index.ts";
import { makeSealed } from "../../../platform/crypto/seal.ts";
import {
  cardPath,
  checkAnswer,
  checkCard,
  checkCardUse,
  choosePictures,
  isCardToken,
  recordCardUse,
  tryPictures,
  type UsableCard,
} from "../../../accounts/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { signIn } from "../complete-sign-in.ts";
import {
  checkCsrfToken,
  fieldOf,
  isOwnForm,
  makeCsrfToken,
  makeFormToken,
  onPage,
  readCookie,
  readForm,
  redirect,
  requestIdOf,
  sendPage,
  setCookie,
  type PageRequest,
  signInPath,
} from "../page-request.ts";
import { renderCardPage, renderCardProblemPage, renderPicturesPage, type CardProblemModel } from "../pages/index.ts";
import { emptyPad, readChosen, readEntered } from "../class-list/picture-pad.ts";
import { findWaiting, forgetWaiting, readWaitingTargets } from "../waiting-app.ts";

const picturesPath = `${cardPath}/pictures`;
const cookieName = "_card";
const cookie = { signed: true, path: "/" };
const cookieSeconds = 600;
const sealedCard = ({ secrets }: InteractionDeps) =>
  makeSealed<{ token: string; answeredAt?: number }>(secrets.cardCookies, "scanned card", cookieSeconds);

/**
 * Serves the sign-in by card. The address in the QR code stores the card in a cookie and leaves the address bar at
 * once; only the button of the next page signs anybody in. The person continues to the app that waits in this browser,
 * or to the tiles.
 */
export function makeCardSignIn(deps: InteractionDeps): Router {
  const router = Router();
  router.get(picturesPath, onPage(deps, withCard(showPictures)));
  router.post(picturesPath, readForm, onPage(deps, withCard(usePictures)));
  router.get(`${cardPath}/:token`, onPage(deps, keepCard));
  router.get(cardPath, onPage(deps, showCard));
  router.post(cardPath, readForm, onPage(deps, useCard));
  return router;
}

function keepCard(request: PageRequest): void {
  const { deps, req, res } = request;
  const token = String(req.params["token"]);
  if (isCardToken(token)) {
    setCookie(request, cookieName, sealedCard(deps).write({ token }, deps.clock()), cookie);
  }
  res.set({ "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" });
  res.redirect(303, isCardToken(token) ? cardPath : `${cardPath}?unknown`);
}

/**
 * The scanned card; only this browser holds `browser`. `answeredAt`: when the button was pressed, with a right answer,
 * in ms since 1970.
 */
type ScannedCard = { token: string; browser: string; answeredAt: number | null };

function readCard(request: PageRequest): ScannedCard | null {
  const browser = readCookie(request, cookieName, cookie);
  if (!browser) return null;
  const card = sealedCard(request.deps).read(browser, request.deps.clock());
  return card && { token: card.token, browser, answeredAt: card.answeredAt ?? null };
}

const sendAlone = (request: PageRequest, page: Page): void =>
  sendPage(request, { ...page, headers: { ...page.headers, "Referrer-Policy": "no-referrer" } });

const contextOf = ({ req }: PageRequest) => ({
  locale: readLocale(req),
  languageUrl: (locale: string) => `${cardPath}?lang=${locale}`,
});

type Problem = Partial<CardProblemModel> & Pick<CardProblemModel, "reason">;

const showProblem = (request: PageRequest, problem: Problem): void =>
  sendAlone(request, renderCardProblemPage({ hours: null, ...problem, signInPath }, contextOf(request)));

function showForm(request: PageRequest, card: UsableCard, { browser, isWrong }: { browser: string; isWrong: boolean }) {
  const { firstName, secondStep } = card;
  const csrf = makeCsrfToken(request.deps.secrets.csrf, { interaction: cardPath, browser });
  const model = { firstName, secondStep, isWrong, csrf, action: cardPath, signInPath };
  sendAlone(request, renderCardPage(model, { ...contextOf(request), formTargets: readWaitingTargets(request) }));
}

async function showCard(request: PageRequest): Promise<void> {
  const { deps, req } = request;
  const scanned = readCard(request);
  if (scanned === null || "unknown" in req.query)
    return showProblem(request, { reason: "unknown" in req.query ? "invalid" : "again" });
  const { token, browser } = scanned;
  const check = await checkCard(deps.db, { token, at: deps.clock(), address: req.ip ?? "" });
  if (check.kind !== "usable") return showProblem(request, check);
  showForm(request, check.card, { browser, isWrong: false });
}

async function useCard(request: PageRequest): Promise<void> {
  const { db, clock, secrets } = request.deps;
  const scanned = readCard(request);
  const bound = { interaction: cardPath, browser: scanned?.browser ?? "" };
  if (scanned === null || !checkCsrfToken(secrets.csrf, bound, fieldOf(request, "csrf")))
    return showProblem(request, { reason: "again" });
  const { token, browser } = scanned;
  const at = clock();
  const check = await checkCardUse(db, { token, at, address: request.req.ip ?? "", key: secrets.signInTraces });
  if (check.kind === "slowed")
    return showProblem(request, { reason: "slowed", retryAfterSeconds: check.retryAfterSeconds });
  if (check.kind !== "usable") return showProblem(request, check);
  const { card } = check;
  const answer = fieldOf(request, "answer");
  const requestId = requestIdOf(request);
  const isMissing = card.secondStep !== "NONE" && answer === "";
  const checked = isMissing
    ? "wrong"
    : await checkAnswer(db, card, { answer, key: secrets.cardAnswers, at, requestId });
  if (checked === "wrong") return showForm(request, card, { browser, isWrong: true });
  if (checked === "ended") return showProblem(request, { reason: "ended" });
  if (card.pictures === null) return finish(request, card, at);
  setCookie(request, cookieName, sealedCard(request.deps).write({ token, answeredAt: at.getTime() }, at), cookie);
  redirect(request, picturesPath);
}

async function finish(request: PageRequest, card: UsableCard, triedAt: Date): Promise<void> {
  const { db, clock, secrets } = request.deps;
  const place = { address: request.req.ip ?? "", key: secrets.signInTraces };
  const use = { at: clock(), triedAt, ...place, requestId: requestIdOf(request) };
  if (!(await recordCardUse(db, card, use))) return showProblem(request, { reason: "invalid" });

  const waiting = await findWaiting(request);
  setCookie(request, cookieName, null, cookie);
  if (waiting !== null) forgetWaiting(request);
  const { personId, generation, cardId } = card;
  await signIn(request, { personId, generation, cardId, amr: ["card"] }, waiting ?? "/");
}

/** Calls the handler for a card that still needs the pictures of its holder. */
const withCard =
  (handle: (request: PageRequest, card: UsableCard, triedAt: Date) => void | Promise<void>) =>
  async (request: PageRequest): Promise<void> => {
    const { deps, req } = request;
    const scanned = readCard(request);
    if (scanned === null || scanned.answeredAt === null) return showProblem(request, { reason: "again" });
    const check = await checkCard(deps.db, { token: scanned.token, at: deps.clock(), address: req.ip ?? "" });
    if (check.kind !== "usable") return showProblem(request, check);
    if (check.card.pictures === "LOCKED") return showProblem(request, { reason: "locked" });
    const triedAt = new Date(scanned.answeredAt);
    return check.card.pictures === null ? finish(request, check.card, triedAt) : handle(request, check.card, triedAt);
  };

function showPad(request: PageRequest, { firstName: name }: UsableCard, pad: ReturnType<typeof emptyPad>): void {
  const back = { url: signInPath, kind: "cancel" as const };
  const model = { ...pad, name, action: picturesPath, csrf: makeFormToken(request, picturesPath), back };
  const languageUrl = (locale: string) => `${picturesPath}?lang=${locale}`;
  const context = { ...contextOf(request), languageUrl, formTargets: readWaitingTargets(request) };
  sendAlone(request, renderPicturesPage(model, context));
}

const stepOf = ({ pictures }: UsableCard) => (pictures === "NONE" ? "choose" : "enter");

const showPictures = (request: PageRequest, card: UsableCard): void => showPad(request, card, emptyPad(stepOf(card)));

/** A pupil chooses their pictures the first time, and taps them from then on. */
async function usePictures(request: PageRequest, card: UsableCard, triedAt: Date): Promise<void> {
  const { db, clock, secrets } = request.deps;
  const step = stepOf(card);
  if (!isOwnForm(request, picturesPath)) return showPad(request, card, emptyPad(step, "again"));
  const entered = step === "choose" ? readChosen(request) : readEntered(request);
  if (entered.pad !== null) return showPad(request, card, entered.pad);
  const { personId, schoolId } = card;
  const origin = { at: clock(), requestId: requestIdOf(request) };
  const entry = { personId, schoolId, pictures: entered.pictures, key: secrets.cardAnswers };
  if (step === "choose") await choosePictures(db, entry, origin);
  const answer = step === "choose" ? "right" : await tryPictures(db, entry, origin);
  if (answer === "wrong") return showPad(request, card, emptyPad(step, "wrong"));
  if (answer === "ended") return showProblem(request, { reason: "locked" });
  return finish(request, card, triedAt);
}
