import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { Router, type Request, type RequestHandler, type Response } from "express";
import { schoolTexts, type BodyOf, type OperationId, type OperationRequest } from "../../admin/index.ts";
import { AppError } from "../../platform/errors.ts";
import { CallerLeft } from "../../platform/http/index.ts";
import { addTexts, makeTemplates, makeTranslator, readLocale, readTexts } from "../../platform/pages/index.ts";
import type { Locale, Render, Texts } from "../../platform/pages/index.ts";
import { exceptFor, Refused, unlessDone } from "./calls.ts";
import { isFromOtherSite, isOwnForm, makeFormToken, nameBrowser, readTyped } from "./form.ts";
import { renderFramed, renderSessionEnded, type Framed } from "./frame.ts";
import type { CurrentPage } from "./navigation.ts";
import { openVisit, requestIdOf, type FrameDeps, type PageRequest } from "./page-request.ts";
import { readForm, type FieldName } from "./read-form.ts";
import { frameTexts } from "./texts.ts";
import { readUpload } from "./upload.ts";

type PageOptions = {
  /** The current page in the navigation, if it is not that of the area. */
  page?: CurrentPage;
  status?: number;
  /** Shows the present record instead of the typed values. */
  dropsTyped?: boolean;
  /** Loaded in addition to what all pages load. */
  assets?: { stylesheets: readonly string[]; scripts: readonly string[] };
};
export type PageView = PageOptions & { title: string; view: string; model: object };
/** Where the browser goes after a form; `done` is the key of the message there. */
export type Redirect = { to: string; done?: string; count?: number };
export type Download = { file: Buffer | string | Readable; type: string; name: string };
const fileTypes = { pdf: "application/pdf", json: "application/json", csv: "text/csv; charset=utf-8" } as const;

/** `end` of the name says what the file is. */
export const makeFile = (file: Download["file"], name: string, end: keyof typeof fileTypes): Download => ({
  file,
  type: fileTypes[end],
  name: `${name}.${end}`,
});

/** An image for this reader only; `tag` is its ETag. */
export type InlineImage = { image: Buffer; type: string; tag: string };

export const makePage = (view: string, title: string, model: object = {}, options: PageOptions = {}): PageView => ({
  view,
  title,
  model,
  ...options,
});

export type PageHandler = (request: PageRequest) => Promise<PageView | Redirect | Download | InlineImage>;

/** A form that calls one operation, with the parameters of the address. */
type Action<Id extends OperationId> = {
  fields?: readonly FieldName[] | ((request: PageRequest) => BodyOf<Id> | Promise<BodyOf<Id>>);
  query?: (request: PageRequest) => OperationRequest<Id>["query"];
  /** Runs first. Errors: Refused. */
  check?: (request: PageRequest) => unknown;
  /** Where the browser goes, with the parameters of this address; otherwise to the record or list of the form. */
  to?: string;
  /** The refusal of a form that is sent twice. */
  repeated?: string;
};

/** The pages and forms of a list or record. Their paths begin at its address, or with a slash at the root. */
type PageRoutes = {
  get(path: string, show: PageHandler): void;
  /** Handles a form; if the admin API refuses, `again` is shown, otherwise the list or record. */
  post(path: string, act: PageHandler, again?: PageHandler): void;
  /** Shows a form, which is posted to the same address. */
  form(path: string, act: PageHandler, show: PageHandler): void;
  /** Like `post`, for a form with a file in `request.upload`. */
  upload(path: string, act: PageHandler): void;
  /** Handles a form by one call of an operation. */
  act<Id extends OperationId>(path: string, operation: Id, done: string, action?: Action<Id>): void;
};

type PlaceOptions = {
  /** Is marked in the navigation, if not the page of the area. */
  page?: CurrentPage;
  /** Runs first in each `act`. Errors: Refused. */
  check?: (request: PageRequest) => unknown;
};

export type Pages = {
  /** Shows a list or record at its address, the `base` of its pages. */
  at(base: string, show: PageHandler, options?: PlaceOptions): PageRoutes;
  /** Handles a form of no list or record. */
  post(path: string, act: PageHandler): void;
};

export type Area = (deps: FrameDeps) => Router;
type AreaOptions = {
  /** Holds `templates/` and `locales/`, whose texts are added to those of the frame. */
  folder: string;
  texts?: Record<Locale, Texts>;
  /** Is marked in the navigation; null if the page is not there. */
  page: CurrentPage | ((request: PageRequest) => CurrentPage);
  /** Runs before each page. Errors: Refused for readers whom no page of the area is for. */
  check?: (request: PageRequest) => void;
};

const largestForm = "256kb";

export function makeArea(
  { folder, texts, page, check = () => undefined }: AreaOptions,
  addPages: (pages: Pages) => void,
): Area {
  const own = readTexts(folder);
  const translator = addFrameTexts({ de: { ...own.de, ...texts?.de }, en: { ...own.en, ...texts?.en } });
  const render = makeTemplates(join(folder, "templates"));
  return (deps) => {
    const router = Router();
    const checked =
      (handle: PageHandler): PageHandler =>
      async (request) => {
        check(request);
        return handle(request);
      };
    const serveAt =
      (base: string, shownPage: AreaOptions["page"] = page) =>
      (work: PageHandler, again?: PageHandler): RequestHandler =>
        serveVisit(deps, {
          translator,
          render,
          base,
          page: shownPage,
          work: checked(work),
          again: again && checked(again),
        });
    const readBody = express.urlencoded({ extended: false, limit: largestForm });
    const at: Pages["at"] = (base, show, { page: shownPage, ...each } = {}) => {
      const serve = serveAt(base, shownPage);
      const routeOf = (path: string) =>
        router.route(path.startsWith("/") ? path : [base, path].filter(Boolean).join("/"));
      const place: PageRoutes = {
        get: (path, view) => void routeOf(path).get(serve(view)),
        post: (path, act, again = show) => void routeOf(path).post(readBody, serve(act, again)),
        form: (path, act, view) => void routeOf(path).get(serve(view)).post(readBody, serve(act, view)),
        upload: (path, act) => void routeOf(path).post(takeUpload, serve(act, show)),
        act: (path, operation, done, action = {}) => place.post(path, actOn(operation, done, { ...each, ...action })),
      };
      place.get("", show);
      return place;
    };
    addPages({ at, post: (path, act) => void router.post(path, readBody, serveAt(path)(act)) });
    return router;
  };
}

/** Handles a form that makes one call and leads to a page. */
export const actOn =
  <Id extends OperationId>(operation: Id, done: string, { fields, query, check, to, repeated }: Action<Id> = {}) =>
  async (request: PageRequest): Promise<Redirect> => {
    const act = async () => {
      await check?.(request);
      const body =
        typeof fields === "function" ? await fields(request) : fields && readForm(request, operation, fields);
      const parameters = query?.(request);
      await request
        .call(operation, { ...(body !== undefined && { body }), ...(parameters && { query: parameters }) })
        .catch(unlessDone(body));
    };
    await act().catch(exceptFor(repeated));
    return { to: to === undefined ? request.base : request.at(to), done };
  };

/** Errors: Refused role_forbids for readers who may not call the operation, not_found if they cannot see the school. */
export const onlyIf =
  (operation: OperationId, show: PageHandler): PageHandler =>
  async (request) => {
    if (request.may(operation)) return show(request);
    if (request.param("schoolId") !== "") await request.call("getSchool");
    throw new Refused(403, { code: "role_forbids" });
  };

/** Redirects to a search, which the address holds encrypted for the reader. */
export const redirectToSearch =
  (to: string): PageHandler =>
  async ({ at, hide, field }) => ({ to: `${at(to)}?${new URLSearchParams({ q: hide(field("search")) }).toString()}` });

export const addFrameTexts = (texts: Record<Locale, Texts>) =>
  makeTranslator({
    de: addTexts(addTexts(frameTexts.de, { frame: schoolTexts.de }), texts.de),
    en: addTexts(addTexts(frameTexts.en, { frame: schoolTexts.en }), texts.en),
  });

const takeUpload: RequestHandler = async (req, res, next) => {
  // Discards unread data, so that the browser reads the response and can reuse its connection.
  res.once("finish", () => req.unpipe().resume());
  const { fields, upload } = await readUpload(req);
  req.body = fields;
  res.locals["upload"] = upload;
  next();
};

type Serving = {
  translator: ReturnType<typeof makeTranslator>;
  render: Render;
  page: AreaOptions["page"];
  base: string;
  work: PageHandler;
  again?: PageHandler | undefined;
};

function serveVisit(deps: FrameDeps, serving: Serving): RequestHandler {
  return async (req, res) => {
    const visitor = await deps.findVisitor(req, res);
    if (visitor === null) return sendToSignIn(serving, req, res);
    if (visitor.needsSecondFactor) return sendBrowser(req, res, `/sign-in?return=${encodeURIComponent(pageOf(req))}`);
    const request = await openVisit(deps, {
      req,
      res,
      visitor,
      base: serving.base,
      t: serving.translator(readLocale(req)),
    });
    const page = typeof serving.page === "function" ? serving.page(request) : serving.page;
    const bound = { browser: nameBrowser(req, res), reader: visitor.personId };
    const framing = { token: makeFormToken(deps.keys, bound), render: serving.render, page };
    if (req.method === "POST" && (isFromOtherSite(req) || !isOwnForm(deps.keys, bound, req))) {
      const code = isFromOtherSite(req) ? "form_of_other_site" : "form_not_recognised";
      const refused = new Refused(403, { code, requestId: requestIdOf(res) });
      return send(res, renderFramed({ ...request, refused }, null, framing));
    }
    await answer(request, serving, framing);
  };
}

async function answer(request: PageRequest, { work, again }: Serving, framing: Framed): Promise<void> {
  const { res } = request;
  try {
    const answered = await work(request);
    if ("to" in answered) return res.redirect(303, addDone(answered));
    if ("file" in answered) return await sendFile(res, answered);
    if ("image" in answered) return sendImage(res, answered);
    send(res, renderFramed(request, answered, framing));
  } catch (caught) {
    if (caught instanceof CallerLeft) return;
    const error = caught instanceof AppError ? refusalOf(caught, res) : caught;
    if (!(error instanceof Refused)) throw error;
    const refused: PageRequest = { ...request, refused: error };
    const isForPage = again !== undefined && error.status < 500 && error.status !== 404;
    const page = isForPage ? await again(refused).catch(() => null) : null;
    send(res, renderFramed(refused, page !== null && "view" in page ? page : null, framing));
  }
}

const refusalOf = ({ status, code, message, faults }: AppError, res: Response): Refused =>
  new Refused(status, { code, message, requestId: requestIdOf(res), errors: [...faults] });

function sendToSignIn({ translator }: Serving, req: Request, res: Response): void {
  // Values that another site filled in are not shown as the person's input.
  if (req.method !== "POST" || isFromOtherSite(req))
    return sendBrowser(req, res, `/sign-in?return=${encodeURIComponent(pageOf(req))}`);
  nameBrowser(req, res);
  const locale = readLocale(req);
  const sent = { path: req.originalUrl, typed: readTyped(req.body) };
  send(res, renderSessionEnded(sent, { locale, t: translator(locale) }));
}

/** Redirects the whole page, also if a script requested a part of it. */
function sendBrowser(req: Request, res: Response, to: string): void {
  if (req.get("hx-request") === "true") res.set("HX-Redirect", to).status(204).end();
  else res.redirect(303, to);
}

const pageOf = (req: Request): string => (req.method === "GET" ? req.originalUrl : req.path);

function addDone({ to, done, count }: Redirect): string {
  if (done === undefined) return to;
  const url = new URL(to, "http://here");
  url.searchParams.set("done", done);
  if (count !== undefined) url.searchParams.set("count", String(count));
  return url.pathname + url.search + url.hash;
}

async function sendFile(res: Response, { file, type, name }: Download): Promise<void> {
  res
    .set({ "Content-Type": type, "Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'" })
    .attachment(name)
    .type(type);
  if (file instanceof Readable) await pipeline(file, res);
  else res.send(file);
}

/** The browser revalidates the image each time, so that it is shown only to those who may see it. */
function sendImage(res: Response, { image, type, tag }: InlineImage): void {
  res.set({ "Content-Type": type, "Cache-Control": "private, no-cache", ETag: tag });
  res.set({ "Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff" }).send(image);
}

const send = (res: Response, page: { status: number; headers: Record<string, string>; html: string }): void =>
  void res.status(page.status).set(page.headers).send(page.html);
