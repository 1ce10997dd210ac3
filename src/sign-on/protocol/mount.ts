import type { IncomingMessage, ServerResponse } from "node:http";
import { parse as parseQuery, stringify as formatQuery } from "node:querystring";
import express, { type NextFunction, type Request, type Response, Router } from "express";
import { type Provider, errors, type KoaContextWithOIDC } from "oidc-provider";
import { type AnswerCheck, type FormCheck, makeProblemType, type ProblemType } from "../../platform/http/index.ts";
import { addressInLanguage, picksLocale, readLocale, type Page, type PageContext } from "../../platform/pages/index.ts";
import type { OAuthError, SignOnContract } from "./contract.ts";
import { present } from "../../platform/contract-types.ts";
import { decodeProtectedHeader, decodeJwt } from "jose";

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

type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export type Mount = {
  router: Router;
  answer: Answer;
  /** Answers the most frequent requests without express; false for all others. */
  answerBusy(req: IncomingMessage, res: ServerResponse): boolean;
};

type MountOptions = {
  issuerUrl: string;
  provider(): Provider;
  contract: SignOnContract;
  checkAnswer: AnswerCheck | null;
  renderRefusal: RenderRefusal;
};

export function makeMount({ issuerUrl, provider, contract, checkAnswer, renderRefusal }: MountOptions): Mount {
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
  library.post(
    "/oauth2/sessions/logout",
    readForm,
    makeAskLogoutAsGet(provider, contract.parameters.end_session, sendRefusal),
    refuseUnreadForm,
  );
  library.get("/oauth2/sessions/logout", makeRefuseUnkept(contract.checkRequest.endSession, renderRefusal));
  library.all(libraryPaths, makeRefuseOtherMethods(sendRefusal), answer);
  const router = Router().use((req: Request, res: Response, next: NextFunction) => {
    if (isOfSignOn.test(req.url)) speakAsIssuer(req);
    if (isOfLibrary.test(req.url)) library(req, res, next);
    else next();
  });
  return {
    router,
    answer,
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
  (provider: () => Provider, parameters: ReadonlySet<string>, sendRefusal: SendRefusal) =>
  async (req: Request, res: Response): Promise<void> => {
    const form = { query: keepDescribed(parseQuery(readPosted(req)), parameters) };
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
const makeRefuseOtherMethods = (sendRefusal: SendRefusal) => (req: Request, res: Response, next: NextFunction) => {
  const path = req.path.toLowerCase().replace(/\/$/, "");
  const allowed = allowedAt[path] ?? reading;
  const isPreflight =
    req.method === "OPTIONS" && req.headers["access-control-request-method"] !== undefined && openToScripts.test(path);
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

type Context = { query: NodeJS.Dict<string | string[]> };

/** Keeps described parameters that have a value: all others count as omitted (RFC 6749 sections 3.1 and 3.2). */
export function keepDescribed<Value>(sent: NodeJS.Dict<Value | Value[]>, described: ReadonlySet<string>) {
  const headers = Object.entries(sent).flatMap(([name, value = []]) => {
    const values = [value].flat().filter((one) => one !== "") as Value[];
    return described.has(name) && values.length > 0 ? [[name, values.length === 1 ? values[0] : values]] : [];
  });
  return Object.fromEntries(headers) as NodeJS.Dict<Value | Value[]>;
}

/** Takes several spaces between scopes for one, as the token endpoint does. */
export function trimScope(ctx: Context): void {
  const { scope } = ctx.query;
  if (typeof scope !== "string" || !/^ | $| {2}/.test(scope)) return;
  ctx.query = { ...ctx.query, scope: scope.split(" ").filter(Boolean).join(" ") };
}

/** RFC 9110 section 11.4 has one space or more between the scheme and what follows; the library takes one. */
export function trimCredentials({ req }: { req: { headers: { authorization?: string | undefined } } }): void {
  const { authorization } = req.headers;
  if (authorization?.includes("  ")) req.headers.authorization = authorization.trim().replace(/ {2,}/, " ");
}

/** Asks who signs in where an app asks to choose an account: a browser has one session. */
export function askForAccount(ctx: Context): void {
  const { prompt } = ctx.query;
  if (typeof prompt !== "string" || !prompt.split(" ").includes("select_account")) return;
  const words = prompt.split(" ").map((word) => (word === "select_account" ? "login" : word));
  ctx.query = { ...ctx.query, prompt: [...new Set(words)].join(" ") };
}

/** Refuses a logout token as a hint: it has the signature, issuer and audience of an ID token (RFC 8725, 3.11). */
export function refuseLogoutTokens(ctx: Context): void {
  const { id_token_hint: hint } = ctx.query;
  if (typeof hint !== "string" || !isLogoutToken(hint)) return;
  ctx.query = { ...ctx.query, id_token_hint: hint.slice(0, hint.lastIndexOf(".") + 1) };
}

function isLogoutToken(jwt: string): boolean {
  try {
    return decodeProtectedHeader(jwt).typ === "logout+jwt";
  } catch {
    return false;
  }
}

/** Refuses a form for an app on a device: a browser drops what it would post to a scheme without HTTP. */
export function refuseFormForDevice(ctx: Context): void {
  const { response_mode: mode, redirect_uri: redirectUri } = ctx.query;
  if (mode === "form_post" && typeof redirectUri === "string" && !/^https?:/i.test(redirectUri))
    ctx.query = { ...ctx.query, response_mode: "refused" };
}

/** Ignores a nonce without an ID token, for which the library would refuse the request. */
export function dropIdleNonce(ctx: Context): void {
  const { nonce, scope, ...others } = ctx.query;
  if (typeof nonce !== "string" || typeof scope !== "string" || scope.split(" ").includes("openid")) return;
  ctx.query = { ...others, scope };
}

/** Holds the parameters of a request against the contract. Errors: `invalid_request` that names the parameter. */
export function checkParameters(check: FormCheck, params: Record<string, unknown>): void {
  const fault = check(params);
  if (fault !== null) throw new errors.InvalidRequest(fault.message);
}

/** Refuses spellings of `max_age` that JavaScript reads as a number and the contract does not, such as 1e2 or 0x10. */
export function checkMaxAgeSpelling({ method, query, oidc }: KoaContextWithOIDC): void {
  const sent = ((method === "POST" ? oidc.body : query) ?? {})["max_age"];
  if (typeof sent === "string" && sent !== "" && !/^(0|[1-9]\d*)$/.test(sent))
    throw new errors.InvalidRequest("invalid max_age parameter value");
}

/** Replaces a valid `id_token_hint` by its `client_id`, because the library reads `aud` as a string, not a list. */
export async function nameClientOfHint(provider: Provider, ctx: Context): Promise<void> {
  const { id_token_hint: hint, client_id: named, ...others } = ctx.query;
  if (typeof hint !== "string") return;
  const clientId = readAudience(hint);
  if (clientId === null || (named !== undefined && named !== clientId)) return;
  const client = await provider.Client.find(clientId);
  if (!client) return;
  const isValid = await provider.IdToken.validate(hint, client).then(
    () => true,
    () => false,
  );
  if (isValid) ctx.query = { ...others, client_id: clientId };
}

function readAudience(jwt: string): string | null {
  try {
    return [decodeJwt(jwt).aud].flat()[0] ?? null;
  } catch {
    return null;
  }
}
