import type { IncomingMessage, ServerResponse } from "node:http";
import { parse as parseQuery, stringify as formatQuery } from "node:querystring";
import express, { type NextFunction, type Request, type Response, Router } from "express";
import type { Provider } from "oidc-provider";
import { type AnswerCheck, type FormCheck, makeProblemType } from "../../platform/http/index.ts";
import { addressInLanguage, picksLocale, readLocale } from "../../platform/pages/index.ts";
import { describedParameters } from "./contract.ts";
import { makeRefuseOtherMethods } from "./other-methods.ts";
import { nameClientOfHint } from "./provider/logout-hint.ts";
import { keepDescribed, refuseLogoutTokens } from "./provider/query.ts";
import { makeRefuseUnreadForm, makeSendRefusal, type RenderRefusal, type SendRefusal } from "./refusal.ts";

const libraryPaths = [
  "/oauth2/auth",
  "/oauth2/auth/:uid",
  "/oauth2/token",
  "/oauth2/userinfo",
  "/oauth2/revoke",
  "/oauth2/introspect",
  "/oauth2/sessions/logout",
  "/oauth2/sessions/logout/confirm",
  "/oauth2/sessions/logout/success",
  "/.well-known/openid-configuration",
  "/.well-known/jwks.json",
];

// Two tests for a page, instead of 40 path patterns.
const isOfLibrary = /^\/(oauth2|\.well-known)\//i;
const isOfSignOn = /^\/(oauth2|\.well-known|interaction|sign-in|card|upstream|s)(?![^/?])/i;

// The most frequent requests, which need none of the earlier steps.
const busyPaths = new Set(["GET /oauth2/auth", "POST /oauth2/token"]);

type Answer = (req: IncomingMessage, res: ServerResponse) => unknown;

export type Mount = {
  router: Router;
  /** Answers the most frequent requests without express; false for all others. */
  answerBusy(req: IncomingMessage, res: ServerResponse): boolean;
};

type MountOptions = {
  issuerUrl: string;
  provider(): Provider;
  checkLogout: FormCheck;
  checkAnswer: AnswerCheck | null;
  renderRefusal: RenderRefusal;
};

export function makeMount({ issuerUrl, provider, checkLogout, checkAnswer, renderRefusal }: MountOptions): Mount {
  const library = Router();
  const callbacks = new WeakMap<Provider, Answer>();
  const answer: Answer = (req, res) => {
    const current = provider();
    let callback = callbacks.get(current);
    if (!callback) callbacks.set(current, (callback = current.callback()));
    return callback(req, res);
  };
  const sendRefusal = makeSendRefusal(renderRefusal, makeProblemType(issuerUrl));
  const speakAsIssuer = makeSpeakAsIssuer(issuerUrl);

  library.use(libraryPaths, (req: Request, res: Response, next: NextFunction) => {
    checkAnswer?.(req, res);
    next();
  });
  const readForm = express.urlencoded({ extended: false, limit: "16kb" });
  const refuseUnreadForm = makeRefuseUnreadForm(sendRefusal);
  library.post("/oauth2/auth", readForm, askAsGet, refuseUnreadForm);
  library.post("/oauth2/sessions/logout", readForm, makeAskLogoutAsGet(provider, sendRefusal), refuseUnreadForm);
  library.get("/oauth2/sessions/logout", makeRefuseUnkept(checkLogout, renderRefusal));
  library.all(libraryPaths, makeRefuseOtherMethods(sendRefusal), answer);
  const router = Router().use((req: Request, res: Response, next: NextFunction) => {
    if (isOfSignOn.test(req.url)) speakAsIssuer(req);
    if (isOfLibrary.test(req.url)) library(req, res, next);
    else next();
  });
  return {
    router,
    answerBusy(req, res) {
      const { url = "", method = "" } = req;
      const queryAt = url.indexOf("?");
      if (!busyPaths.has(`${method} ${queryAt < 0 ? url : url.slice(0, queryAt)}`) || picksLocale(req)) return false;
      speakAsIssuer(req);
      checkAnswer?.(req, res);
      void answer(req, res);
      return true;
    },
  };
}

/** Makes every request look as if it had come to ISSUER_URL, whatever its Host and X-Forwarded headers say. */
function makeSpeakAsIssuer(issuerUrl: string): (req: IncomingMessage) => void {
  const { host, protocol } = new URL(issuerUrl);
  return ({ headers }) => {
    headers.host = host;
    headers["x-forwarded-proto"] = protocol.slice(0, -1);
    delete headers["x-forwarded-host"];
    delete headers[":authority"];
  };
}

// Asks again by GET, which carries the session's cookie across sites.
const askAsGet = (req: Request, res: Response): void => redirectToGet(req, res, readPosted(req));

// The address names the app instead of its ID token, which must not get into logs and the browser's history.
const makeAskLogoutAsGet =
  (provider: () => Provider, sendRefusal: SendRefusal) =>
  async (req: Request, res: Response): Promise<void> => {
    const form = { query: keepDescribed(parseQuery(readPosted(req)), describedParameters.end_session) };
    refuseLogoutTokens(form);
    await nameClientOfHint(provider(), form);
    if (form.query["id_token_hint"] === undefined) return redirectToGet(req, res, formatQuery(form.query));
    const description = "id_token_hint is not an ID token that this service issued to the app";
    sendRefusal(req, res, { status: 400, reason: "invalid_request", description });
  };

function readPosted(req: Request): string {
  const fields = new URLSearchParams(formatQuery((req.body ?? {}) as Record<string, string | string[]>));
  for (const [name, value] of new URL(req.originalUrl, "http://localhost").searchParams) fields.append(name, value);
  return fields.toString();
}

const redirectToGet = (req: Request, res: Response, query: string): void => res.redirect(303, `${req.path}?${query}`);

// Parameters of a logout are stored with the session, and PostgreSQL accepts no NUL character.
const makeRefuseUnkept =
  (check: FormCheck, render: RenderRefusal) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const query = Object.fromEntries(new URLSearchParams(req.url.split("?")[1]));
    if (check(query) === null) return next();
    const requestId = (res.locals["requestId"] as string | undefined) ?? null;
    const { status, headers, html } = render(
      { status: 400, reason: "invalid_request", requestId },
      { locale: readLocale(req), languageUrl: addressInLanguage(req.path) },
    );
    res.status(status).set(headers).send(html);
  };
