import type { IncomingMessage } from "node:http";
import { Router, type Request, type RequestHandler, type Response } from "express";
import { AppError } from "../errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { EncryptionKeys } from "../crypto/seal.ts";
import type { Done, JsonDone, JsonList, JsonMade, JsonObject, JsonRead, JsonText } from "./answer.ts";
import { makeBodyReader, readHeaders } from "./body.ts";
import { callerOf, CallerLeft } from "../concurrency/caller.ts";
import { listOperations, narrowDocument, resolve, type OpenApiDocument, type Operation } from "./document.ts";
import { answerFailures, requestIdOf, type RenderFailure } from "./failure.ts";
import type { Handlers } from "./operation-types.ts";
import { makeReadTogether, type Reading } from "./reads.ts";
import { sendList } from "./send-list.ts";
import { sendDone, sendMade, sendRead, sendText } from "./send.ts";
import { makeRequestCheck, makeResponseCheck } from "./validation.ts";

type Token = { clientId: string; personId: string | null; scopes: ReadonlySet<string> };
type TokenCheck<Caller> =
  { kind: "valid"; token: Caller } | { kind: "expired" | "revoked" | "unknown"; clientId?: string | undefined };

export type Binding<Operations, Caller extends Token> = {
  document: OpenApiDocument;
  handlers: Handlers<Operations, Caller>;
  checkToken: (bearer: string) => Promise<TokenCheck<Caller>>;
  findInnerCaller?: (req: IncomingMessage) => Promise<Caller | null>;
  innerReading?: Reading;
  scopeName: (inContract: string) => string;
  /** Adds to the JSON of a record or list what the database does not know. */
  complete?: (json: string, clientId: Caller["clientId"]) => string;
  reading: Reading;
  cursorKeys: EncryptionKeys;
  log: Log;
  render: RenderFailure;
  only?: string;
  checkAnswersBy: readonly OpenApiDocument[];
};

type Bound = "document" | "checkToken" | "findInnerCaller" | "reading" | "innerReading" | "cursorKeys" | "log";

/** What the router of an API for apps gets from outside its module. */
export type RouterDeps<Operations, Caller extends Token> = Pick<Binding<Operations, Caller>, Bound> & {
  /** Validates every response against the contract (development and tests). */
  checkAnswers: boolean;
};

type AnyAnswer =
  JsonRead<unknown> | JsonList<unknown> | JsonObject<unknown> | JsonText<unknown> | JsonMade<unknown> | JsonDone<Done>;

/** Makes the router of one document. Errors: throws for a missing or an unknown handler. */
export function bindOperations<Operations, Caller extends Token>(binding: Binding<Operations, Caller>): Router {
  const { log, render, only } = binding;
  const document = only === undefined ? binding.document : narrowDocument(binding.document, only);
  const operations = listOperations(document);
  const handlers = binding.handlers as unknown as Record<string, (request: object) => AnyAnswer>;
  refuseGaps("Handlers and contract differ.", {
    described: operations.filter(isOffered).map(({ operation }) => operation.operationId),
    known: Object.keys(handlers),
  });
  refuseOtherScopes(document, listOperations(binding.document));
  const checkRequest = makeRequestCheck(document);
  const readBody = makeBodyReader(document);
  const readTogether = makeReadTogether(binding.reading.share);

  const router = Router({ caseSensitive: true, strict: true });
  for (const place of operations) {
    const { path, method, operation } = place;
    if (!isOffered(place)) {
      router.all(expressPath(path), name(operation), refuseNotOffered);
      continue;
    }
    const handle = handlers[operation.operationId]!;
    const check = makeResponseCheck(binding.checkAnswersBy, place);
    const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
    const headerNames = parameters.filter((parameter) => parameter.in === "header").map((parameter) => parameter.name);
    const answer: RequestHandler = async (req, res) => {
      const connection = callerOf(res);
      const caller = res.locals["caller"] as Caller;
      const returned = handle({
        caller,
        path: req.params,
        query: req.query,
        body: req.body as unknown,
        headers: readHeaders(headerNames, req),
        requestId: requestIdOf(res),
        connection,
      });
      const sending = {
        req,
        res,
        caller: connection,
        clientId: String(res.locals["clientId"]),
        reading: (res.locals["isInner"] === true ? binding.innerReading : undefined) ?? binding.reading,
        check,
        complete: (json: string) => binding.complete?.(json, caller.clientId) ?? json,
        readTogether,
        cursorKeys: binding.cursorKeys,
      };
      try {
        if (returned.kind === "read") await sendRead(returned, sending);
        else if (returned.kind === "list") await sendList(returned, sending);
        else if (returned.kind === "text") await sendText(returned, sending);
        else if (returned.kind === "made") await sendMade(returned, sending);
        else await sendDone(returned, sending);
      } catch (error) {
        if (!(error instanceof CallerLeft)) throw error;
      }
    };
    const body = readBody(place);
    const steps = [makeGuard(binding, operation), ...(body === null ? [] : [body]), checkRequest(place), answer];
    router[method](expressPath(path), name(operation), ...steps);
  }
  for (const [path, places] of Map.groupBy(operations, (place) => place.path))
    router.all(expressPath(path), refuseMethod(places.map(({ method }) => method.toUpperCase())));
  const prefixes = listPrefixes(Object.keys(binding.document.paths));
  router.use(prefixes, () => {
    throw new AppError("not_found", "path_not_found", "There is nothing at this address.");
  });
  router.use(answerFailures({ log, render }));
  // A page is not compared with the 300 paths of the APIs.
  const isHere = (path: string) => prefixes.some((prefix) => path.startsWith(prefix));
  return Router().use((req, res, next) => (isHere(req.path) ? router(req, res, next) : next()));
}

/** An operation of a standard may be described with 501 alone; it has no handler. */
const isOffered = ({ operation }: { operation: Operation }): boolean =>
  Object.keys(operation.responses).some((status) => status !== "501");

const refuseNotOffered: RequestHandler = () => {
  throw new AppError("not_offered", "not_offered", "This endpoint is not offered.");
};

const expressPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

function name(operation: Operation): RequestHandler {
  return (_req, res, next) => {
    res.locals["operation"] = operation.operationId;
    next();
  };
}

/** First, so that strangers learn nothing else. */
function makeGuard<Caller extends Token>(
  binding: Pick<Binding<never, Caller>, "document" | "checkToken" | "scopeName" | "findInnerCaller">,
  operation: Operation,
): RequestHandler {
  if (operation.security === undefined) throw new Error(`${operation.operationId} must name its security.`);
  const ways = operation.security.flatMap((way) => Object.entries(way));
  if (ways.length === 0) return (_req, _res, next) => next();
  if (ways.some(([, scopes]) => scopes.length > 1) || new Set(ways.map(([, scopes]) => scopes.length)).size > 1)
    throw new Error(`${operation.operationId} must name one scope for each way, or none for any.`);
  const { securitySchemes = {} } = binding.document.components;
  const contextOf = (scheme: string) =>
    "clientCredentials" in (securitySchemes[scheme]?.flows ?? {}) ? "app" : "user";
  const contexts = new Set(ways.map(([scheme]) => contextOf(scheme)));
  const scopes = [...new Set(ways.flatMap(([, named]) => named))];
  const wanted = scopes.map(binding.scopeName);

  const checkBearer = async (req: Request, res: Response): Promise<Caller | null> => {
    const bearer = bearerHeader.exec(req.headers.authorization ?? "")?.[1];
    if (bearer === undefined) throw refuseMissingToken(res);
    if (res.destroyed) return null;
    const check = await binding.checkToken(bearer);
    if (check.kind === "valid") return check.token;
    res.locals["clientId"] = check.clientId;
    throw refuseToken(res, check.kind === "unknown" && bearer.startsWith("eyJ") ? "jwt" : check.kind);
  };

  return async (req: Request, res: Response, next) => {
    const inner = (await binding.findInnerCaller?.(req)) ?? null;
    res.locals["isInner"] = inner !== null;
    const token = inner ?? (await checkBearer(req, res));
    if (token === null) return;
    res.locals["clientId"] = token.clientId;
    const context = token.personId === null ? "app" : "user";
    if (!contexts.has(context)) throw refuseContext(res, context === "app" ? "user" : "app");
    if (wanted.length > 0 && !wanted.some((scope) => token.scopes.has(scope))) throw refuseScope(res, scopes);
    if (token.personId !== null) res.locals["readPersonId"] = token.personId;
    res.locals["caller"] = token;
    next();
  };
}

const bearerHeader = /^bearer +([\w.~+/-]+=*) *$/i;

/** Source: RFC 6750 section 3: without a token there is no error code. */
function refuseMissingToken(res: Response): AppError {
  res.setHeader("WWW-Authenticate", "Bearer");
  return new AppError("unauthenticated", "missing_token", "An access token is required in the Authorization header.");
}

/** All are `invalid_token` on the wire; Schulconnex tells them apart by `internal`. */
function refuseToken(res: Response, kind: keyof typeof tokenMessages): AppError {
  res.setHeader("WWW-Authenticate", 'Bearer error="invalid_token"');
  return new AppError("unauthenticated", "invalid_token", tokenMessages[kind], kind);
}

/** A caller is told what became of a token that was valid once; any other token is unknown. */
const tokenMessages = {
  expired: "The access token has expired.",
  revoked: "The access token was revoked, or its app or person may not use it any more.",
  unknown: "The access token is unknown or was revoked.",
  jwt: "The access token is a JWT, such as an ID token; the access tokens of this service are not.",
};

function refuseScope(res: Response, scopes: readonly string[]): AppError {
  res.setHeader("WWW-Authenticate", `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"`);
  const names = scopes.join(" or ");
  return new AppError("forbidden", "insufficient_scope", `The access token lacks the scope ${names}.`, names);
}

function refuseContext(res: Response, context: "app" | "user"): AppError {
  const wanted = context === "app" ? "of the app itself (client credentials)" : "from a person's sign-on";
  const message = `This operation needs an access token ${wanted}.`;
  res.setHeader("WWW-Authenticate", `Bearer error="insufficient_scope", error_description="${message}"`);
  return new AppError("forbidden", "wrong_context", message, context);
}

function refuseMethod(known: readonly string[]): RequestHandler {
  const allowed = [...known, ...(known.includes("GET") ? ["HEAD"] : [])].join(", ");
  return (_req, res) => {
    res.setHeader("Allow", allowed);
    throw new AppError("method_not_allowed", "method_not_allowed", `This address only answers ${known.join(", ")}.`);
  };
}

/** For each first segment, what its paths have in common. */
const listPrefixes = (paths: string[]): string[] =>
  [...Map.groupBy(paths, (path) => path.split("/")[1]).values()].map(commonPrefix);

function commonPrefix(paths: string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split("/"));
  const end = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return first.slice(0, end === -1 ? first.length : end).join("/") || "/";
}

// A difference between contract and code stops the start.

function refuseOtherScopes({ components }: OpenApiDocument, operations: { operation: Operation }[]): void {
  const listed = Object.entries(components.securitySchemes ?? {}).flatMap(([scheme, { flows = {} }]) =>
    Object.values(flows).flatMap(({ scopes = {} }) => Object.keys(scopes).map((scope) => `${scheme} ${scope}`)),
  );
  const operationIds = operations.flatMap(({ operation }) =>
    (operation.security ?? []).flatMap((way) =>
      Object.entries(way).flatMap(([scheme, scopes]) => scopes.map((scope) => `${scheme} ${scope}`)),
    ),
  );
  refuseGaps("The scopes of the security schemes and of the operations differ.", {
    described: listed,
    known: operationIds,
  });
}

function refuseGaps(what: string, { described, known }: Record<"described" | "known", readonly string[]>): void {
  const missing = [...new Set(described)].filter((id) => !known.includes(id));
  const extra = [...new Set(known)].filter((id) => !described.includes(id));
  if (missing.length + extra.length > 0)
    throw new Error(`${what} Missing: ${missing.join(", ") || "none"}. Unknown: ${extra.join(", ") || "none"}.`);
}
