import type { IncomingMessage, ServerResponse } from "node:http";
import { parse as parseQuery, stringify as formatQuery } from "node:querystring";
import express, { type NextFunction, type Request, type Response, Router } from "express";
import type { Provider } from "oidc-provider";
import { type AnswerCheck, type FormCheck, makeProblemType, type ProblemType } from "../../platform/http/index.ts";
import { addressInLanguage, picksLocale, readLocale, type Page, type PageContext } from "../../platform/pages/index.ts";
import { describedParameters, type OAuthError } from "./contract.ts";
import { nameClientOfHint, keepDescribed, refuseLogoutTokens } from "./provider/query.ts";
import { present } from "../../platform/contract-types.ts";

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

const reading = "GET, HEAD";

const allowedAt: Record<string, string> = {
  "/oauth2/auth": "GET, HEAD, POST",
  "/oauth2/token": "POST",
  "/oauth2/userinfo": "GET, HEAD, POST",
  "/oauth2/revoke": "POST",
  "/oauth2/introspect": "POST",
  "/oauth2/sessions/logout": "GET, HEAD, POST",
  "/oauth2/sessions/logout/confirm": "POST",
};

const openToScripts = /^\/(oauth2\/(token|userinfo|revoke|introspect)|\.well-known\/.*)$/;

const seenByPeople = /^\/oauth2\/(auth|sessions)\//;

/** The provider would answer other methods as an unknown address. Source: RFC 9110 section 15.5.6. */
const makeRefuseOtherMethods =
  (sendRefusal: SendRefusal) =>
  (req: Request, res: Response, next: NextFunction): void => {
    const path = req.path.toLowerCase().replace(/\/$/, "");
    const allowed = allowedAt[path] ?? reading;
    const isPreflight =
      req.method === "OPTIONS" &&
      req.headers["access-control-request-method"] !== undefined &&
      openToScripts.test(path);
    if (isPreflight || allowed.split(", ").includes(req.method)) return next();
    const status = path === "/oauth2/token" ? 400 : 405;
    res.set("Allow", allowed);
    const reason = seenByPeople.test(path) ? "not_found" : null;
    sendRefusal(req, res, { status, reason, description: `this address only takes ${allowed}` });
  };

type Refusal = {
  status: number;
  /** What a person reads; null where only programs call. */
  reason: "invalid_request" | "not_found" | null;
  description: string;
};

type RenderRefusal = (
  model: { status: number; reason: "invalid_request" | "not_found"; requestId: string | null },
  context: PageContext,
) => Page;

type SendRefusal = (req: Request, res: Response, refusal: Refusal) => void;

const makeSendRefusal =
  (render: RenderRefusal, typeOf: ProblemType): SendRefusal =>
  (req, res, { status, reason, description }) => {
    res.status(status).set("Cache-Control", "no-store");
    if (reason === null || req.accepts(["json", "html"]) !== "html") {
      const error = "invalid_request";
      res.json(
        present<OAuthError>({
          error,
          error_description: description,
          error_uri: typeOf(error),
          scope: undefined,
        }),
      );
      return;
    }
    const requestId = (res.locals["requestId"] as string | undefined) ?? null;
    const languageUrl = req.method === "GET" ? addressInLanguage(req.originalUrl) : null;
    const { headers, html } = render({ status, reason, requestId }, { locale: readLocale(req), languageUrl });
    res.set(headers).send(html);
  };

const unreadForm: Record<number, string> = {
  400: "the form is incomplete or its compression is broken",
  413: "the form is too large",
  415: "the form has a character set or a compression that is not read",
};

/** Refuses a form that express could not read; passes other errors on. */
const makeRefuseUnreadForm =
  (sendRefusal: SendRefusal) =>
  (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const status = Number((error as { status?: unknown } | null)?.status);
    const description = unreadForm[status];
    if (description === undefined) return next(error);
    sendRefusal(req, res, { status, reason: "invalid_request", description });
  };
