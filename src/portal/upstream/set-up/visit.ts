import type { Request, RequestHandler, Response } from "express";
import type { AdminClient, InnerCaller, SetUp, SetUpCaller } from "../../../admin/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import { type EncryptionKeys, makeSealed } from "../../../platform/crypto/seal.ts";
import { makeTemplates, readLocale } from "../../../platform/pages/index.ts";
import * as frame from "../../frame/index.ts";
import { makeCalls, Refused } from "../../frame/index.ts";
import type { Calls, LinkRequest, PageView, Redirect, Typed } from "../../frame/index.ts";

import german from "../locales/de.json" with { type: "json" };
import english from "../locales/en.json" with { type: "json" };

export type SetUpDeps = {
  clock: Clock;
  keys: EncryptionKeys;
  clientFor(caller: InnerCaller): AdminClient;
  setUp: SetUp;
  /** The secret of this browser, with which sign-on sends it to the provider; it lasts so many seconds. */
  nameBrowser(req: Request, res: Response, seconds: number): string;
};

/** A request of somebody who came with a set-up link. */
export type Visit = LinkRequest & {
  deps: SetUpDeps;
  res: Response;
  typed: Typed;
  browser: string;
};
/** A request in the browser that opened the link. */
export type LinkVisit = Visit & Pick<Calls, "call" | "getRecord"> & { caller: SetUpCaller; address: string };

/** A set-up link is usable for at most 30 days, in the browser that opened it. */
const longestLinkSeconds = 30 * 86_400;

export const setUpPath = "/set-up";
export const addressOfLink = (id: string): string => `${setUpPath}/links/${id}`;

/** `refused` is shown above the page. */
export type StepPage = PageView & { place?: string | null; refused?: Refused };
export type { Redirect } from "../../frame/index.ts";
export type Answer = StepPage | Redirect;

const translator = frame.addFrameTexts({ de: german, en: english });
const render = makeTemplates(`${import.meta.dirname}/../templates`);

/** The pages are for this browser alone, and other sites do not learn their address. */
export const secrecy = { "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" };

function openVisit(deps: SetUpDeps, req: Request, res: Response): Visit {
  const locale = readLocale(req);
  const typed = req.method === "POST" ? frame.readTyped(req.body) : {};
  return {
    deps,
    req,
    res,
    t: translator(locale),
    locale,
    times: frame.makeTimes(locale, frame.readZone(req)),
    now: deps.clock(),
    typed,
    field: (name) => frame.fieldOf(typed, name),
    query: (name) => (typeof req.query[name] === "string" ? req.query[name] : ""),
    idempotencyKey: "",
    refused: null,
    browser: deps.nameBrowser(req, res, longestLinkSeconds),
  };
}

/** Forms are bound to the browser; the pages have no other reader. */
const boundTo = ({ browser }: Visit) => ({ browser, reader: setUpPath });

function send(visit: Visit, stepPage: StepPage): void {
  const token = frame.makeFormToken(visit.deps.keys, boundTo(visit));
  const shownTo = { ...visit, refused: stepPage.refused ?? null };
  const page = frame.renderForLink(shownTo, { ...stepPage, headers: secrecy }, { token, render });
  visit.res.status(page.status).set(page.headers).send(page.html);
}

/** Says that the link opens nothing here: unknown, closed, expired and opened elsewhere look the same. */
export const showUnusable = ({ t }: Visit): StepPage => ({
  title: t("setUp.unusable.title"),
  view: "set-up-unusable",
  model: {},
  status: 404,
});

type Work<V extends Visit> = (visit: V) => Promise<Answer>;

/** Handles a request; `again` shows the page of a form that was refused. */
export const onVisit =
  (deps: SetUpDeps, work: Work<Visit>): RequestHandler =>
  async (req, res) => {
    const visit = openVisit(deps, req, res);
    await answer(visit, () => work(visit));
  };

async function answer(visit: Visit, work: () => Promise<Answer>): Promise<void> {
  const { req, deps, res } = visit;
  const isForeign = frame.isFromOtherSite(req) || !frame.isOwnForm(deps.keys, boundTo(visit), req);
  if (req.method === "POST" && isForeign)
    return send(visit, { title: visit.t("setUp.again.title"), view: "set-up-again", model: {}, status: 403 });
  const answered = await work();
  if ("view" in answered) return send(visit, answered);
  res.set(secrecy).redirect(303, answered.to);
}

/** As `onVisit`, for the browser that opened the link. `again` is the page of a form that the admin API refused. */
export const onLink = (deps: SetUpDeps, work: Work<LinkVisit>, again: Work<LinkVisit> = showRefused): RequestHandler =>
  onVisit(deps, async (visit) => {
    const { req, res, browser } = visit;
    const id = String(req.params["setUpLinkId"]);
    const caller = await deps.setUp.find({ id, browser });
    if (caller === null) return showUnusable(visit);
    const api = deps.clientFor({ setUp: caller, requestId: frame.requestIdOf(res) });
    const { connectionId } = caller;
    const { call, getRecord } = makeCalls(api, {
      path: { connectionId },
      headers: frame.headersOf(visit),
      search: new URLSearchParams(),
      base: "",
    });
    const linked: LinkVisit = { ...visit, caller, call, getRecord, address: addressOfLink(id) };
    try {
      return await work(linked);
    } catch (caught) {
      if (!(caught instanceof Refused)) throw caught;
      return { ...(await again(linked)), refused: caught };
    }
  });

const showRefused: Work<LinkVisit> = ({ t, address }) =>
  Promise.resolve({ title: t("frame.refused.title"), view: "set-up-refused", model: { base: address } });

const cookieName = "_set-up";
const cookieSeconds = 3600;
const sealedToken = ({ deps }: Visit) => makeSealed<{ token: string }>(deps.keys[0]!, "set-up token", cookieSeconds);
const cookie = { httpOnly: true, sameSite: "lax", path: "/" } as const;

/** Moves the token from the address bar into a cookie. */
export async function keepToken(visit: Visit): Promise<Answer> {
  const { req, res, now } = visit;
  const token = String(req.params["token"]);
  if (!/^[\w-]{20,100}$/.test(token)) return showUnusable(visit);
  const value = sealedToken(visit).write({ token }, now);
  res.cookie(cookieName, value, { ...cookie, secure: req.secure, maxAge: cookieSeconds * 1000 }).set(secrecy);
  return { to: setUpPath };
}

function readToken(visit: Visit): string | null {
  const value = new RegExp(`(?:^|; *)${cookieName}=([\\w-]+)`).exec(visit.req.headers.cookie ?? "")?.[1];
  return value === undefined ? null : (sealedToken(visit).read(value, visit.now)?.token ?? null);
}

export async function showOpening(visit: Visit): Promise<Answer> {
  if (readToken(visit) === null) return showUnusable(visit);
  return { title: visit.t("setUp.opening.title"), view: "set-up-opening", model: {} };
}

export async function openLink(visit: Visit): Promise<Answer> {
  const { deps, browser, res } = visit;
  const token = readToken(visit);
  const caller = token === null ? null : await deps.setUp.open({ token, browser });
  if (caller === null) return showUnusable(visit);
  res.clearCookie(cookieName, cookie);
  return { to: addressOfLink(caller.setUpLinkId) };
}
