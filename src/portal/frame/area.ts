import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { Router, type Request, type RequestHandler, type Response } from "express";
import { permissionsOf } from "../../admin/index.ts";
import { AppError } from "../../platform/errors.ts";
import { CallerLeft } from "../../platform/http/index.ts";
import {
  addTexts,
  makeTemplates,
  makeTranslator,
  readLocale,
  readTexts,
  type Locale,
  type Render,
  type Texts,
} from "../../platform/pages/index.ts";
import { fieldOf, isFromOtherSite, isOwnForm, makeFormToken, nameBrowser, readTyped } from "./form.ts";
import { hide, reveal } from "./hidden.ts";
import { renderFramed, renderSessionEnded, type Framed } from "./frame.ts";
import type { CurrentPage } from "./navigation.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };
import { Refused, unwrap } from "./refused.ts";
import { readUpload, type Upload } from "./upload.ts";
import type { FrameDeps, PageRequest, Visitor } from "./page-request.ts";
import { makeTimes, readZone } from "./zone.ts";

export type PageView = {
  title: string;
  view: string;
  model: object;
  /** The current page in the navigation, if it is not that of the area. */
  page?: CurrentPage;
  status?: number;
  /** Shows the present record instead of what was typed. */
  dropsTyped?: boolean;
  /** Loaded in addition to what all pages load. */
  assets?: { stylesheets: readonly string[]; scripts: readonly string[] };
};
/** Where the browser goes after a form; `done` is the key of the message there. */
export type Redirect = { to: string; done?: string; count?: number };
export type Download = { file: Buffer | string | Readable; type: string; name: string };
/** An image for this reader only; `tag` is its ETag. */
export type InlineImage = { image: Buffer; type: string; tag: string };

export type PageHandler = (request: PageRequest) => Promise<PageView | Redirect | Download | InlineImage>;

export type Pages = {
  get(path: string, show: PageHandler): void;
  /** Handles a form; `again` shows its page if the admin API refuses. */
  post(path: string, act: PageHandler, again?: PageHandler): void;
  /** Shows a form, which is posted to the same address. */
  form(path: string, act: PageHandler, show: PageHandler): void;
  /** Like `post`, for a form with a file in `request.upload`. */
  upload(path: string, act: PageHandler, again?: PageHandler): void;
};

export type Area = (deps: FrameDeps) => Router;

const largestForm = "256kb";

/**
 * Makes a part of the portal: `folder` holds `templates/` and `locales/`, whose texts are added to those of the frame,
 * as are `texts` from elsewhere. `page` is marked in the navigation.
 */
export function makeArea(
  { folder, texts, page }: { folder: string; texts?: Record<Locale, Texts>; page: CurrentPage },
  addPages: (pages: Pages) => void,
): Area {
  const own = readTexts(folder);
  const translator = addFrameTexts({ de: { ...own.de, ...texts?.de }, en: { ...own.en, ...texts?.en } });
  const render = makeTemplates(join(folder, "templates"));
  return (deps) => {
    const router = Router();
    const serve = (work: PageHandler, again?: PageHandler): RequestHandler =>
      serveVisit(deps, { translator, render, page, work, again });
    const readForm = express.urlencoded({ extended: false, limit: largestForm });
    addPages({
      get: (path, show) => void router.get(path, serve(show)),
      post: (path, act, again) => void router.post(path, readForm, serve(act, again)),
      form: (path, act, show) => void router.route(path).get(serve(show)).post(readForm, serve(act, show)),
      upload: (path, act, again) => void router.post(path, takeUpload, serve(act, again)),
    });
    return router;
  };
}

/** The texts of an area, with those of the frame. */
export const addFrameTexts = (texts: Record<Locale, Texts>) =>
  makeTranslator({ de: addTexts(german, texts.de), en: addTexts(english, texts.en) });

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
  page: CurrentPage;
  work: PageHandler;
  again?: PageHandler | undefined;
};

function serveVisit(deps: FrameDeps, serving: Serving): RequestHandler {
  return async (req, res) => {
    const visitor = await deps.findVisitor(req, res);
    if (visitor === null) return sendToSignIn(serving, req, res);
    if (visitor.needsSecondFactor) return sendBrowser(req, res, `/sign-in?return=${encodeURIComponent(pageOf(req))}`);
    const request = await openVisit(deps, serving, { req, res, visitor });
    const bound = { browser: nameBrowser(req, res), reader: visitor.personId };
    const framing = { token: makeFormToken(deps.keys, bound), render: serving.render, page: serving.page };
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
    const shown = isForPage ? await again(refused).catch(() => null) : null;
    send(res, renderFramed(refused, shown !== null && "view" in shown ? shown : null, framing));
  }
}

const refusalOf = ({ status, code, message, faults }: AppError, res: Response): Refused =>
  new Refused(status, { code, message, requestId: requestIdOf(res), errors: [...faults] });

type Opening = { req: Request; res: Response; visitor: Visitor };

async function openVisit(deps: FrameDeps, { translator }: Serving, opening: Opening): Promise<PageRequest> {
  const { req, res, visitor } = opening;
  const locale = readLocale(req);
  const api = deps.clientFor({ personId: visitor.personId, requestId: requestIdOf(res) });
  const { schoolId } = req.params as { schoolId?: string };
  const me = await unwrap(api.GET("/admin/v1/me"));
  const permissions = permissionsOf(me.roles);
  const typed = req.method === "POST" ? readTyped(req.body) : {};
  const query = (name: string) => firstOf(req.query[name]).trim();
  return {
    req,
    res,
    visitor,
    api,
    locale,
    t: translator(locale),
    times: makeTimes(locale, readZone(req)),
    me,
    permissions,
    may: (operation) => permissions.may(operation, schoolId),
    school: schoolId === undefined ? null : await findSchool({ api, me, permissions }, schoolId),
    signInAddress: deps.signInAddress,
    now: deps.clock(),
    hide: (text) => hide(deps.keys, visitor.personId, text),
    reveal: (hidden) => reveal(deps.keys, visitor.personId, hidden),
    path: req.params as PageRequest["path"],
    noteSignedOut: () => deps.noteSignedOut(req, res),
    signOut: () => deps.signOut(req, res),
    param: (name) => String(req.params[name] ?? ""),
    query,
    cursor: query("cursor") === "" ? {} : { cursor: query("cursor") },
    typed,
    field: (name) => fieldOf(typed, name),
    idempotencyKey: fieldOf(typed, "once") || randomUUID(),
    upload: (res.locals["upload"] ?? null) as Upload | null,
    refused: null,
  };
}

/** The school of the page; null if it is out of reach, which the page itself reports. */
async function findSchool(
  { api, me, permissions }: Pick<PageRequest, "api" | "me" | "permissions">,
  schoolId: string,
): Promise<PageRequest["school"]> {
  const mine = me.schools.find(({ id }) => id === schoolId);
  if (mine !== undefined || !permissions.reachesAll) return mine ?? null;
  const { data } = await api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } });
  return data === undefined ? null : { id: data.id, name: data.name };
}

const firstOf = (value: unknown): string => {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" ? first : "";
};

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

export const requestIdOf = (res: Response): string => String(res.locals["requestId"] ?? "");
