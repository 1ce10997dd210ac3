import { join } from "node:path";
import { addAsset, makeTemplates, pageHeaders, renderPage, type Page } from "../platform/pages/index.ts";
import { contents } from "./contents.ts";
import type { PublishedDocument } from "./documents.ts";
import type { Response } from "express";
import type { Guide, RenderArticle } from "./guides.ts";
import { plainText } from "./markdown.ts";
import type { Results } from "./search.ts";

export const render = makeTemplates(join(import.meta.dirname, "templates"));

const [style, start, behaviour, redoc] = [
  "docs.css",
  "reference.js",
  "docs.js",
  "../../generated/redoc/redoc.standalone.js",
].map((file) => addAsset(join(import.meta.dirname, file))) as [string, string, string, string];

export const guideAssets = { stylesheets: [style], scripts: [behaviour] } as const;

export type Contents = { id: string; title: string; pages: { path: string; title: string; about: string }[] }[];

export function listContents(
  guides: readonly Guide[],
  documents: readonly Pick<PublishedDocument, "name" | "label" | "isVariant">[],
): Contents {
  const references = documents
    .filter(({ isVariant }) => !isVariant)
    .map(({ name, label }) => ({ path: `/docs/${name}`, title: `${label}: reference` }));
  return contents.map(({ title, entries }, at) => ({
    id: title.toLowerCase(),
    title,
    pages: [...entries, ...(at === contents.length - 1 ? references : [])].map((entry) => {
      if (typeof entry !== "string") return { ...entry, about: "" };
      const guide = guides.find(({ name }) => name === entry);
      if (guide === undefined) throw new Error(`the contents name docs/${entry}.md, which does not exist`);
      const lead = plainText(guide.text.split("\n\n")[1] ?? "");
      return { path: `/docs/${entry}`, title: guide.title, about: /^.*?[.](?= |$)/.exec(lead)?.[0] ?? "" };
    }),
  }));
}

export function makeArticles(pages: Contents): RenderArticle {
  return ({ path, title, html }) =>
    allowCaching(renderFrame(title, render("article", { pages, path, html, query: "" })));
}

export function renderOverview(pages: Contents, documents: PublishedDocument[]): Page {
  return makeArticles(pages)({ path: "/docs", title: "For partners", html: render("overview", { pages, documents }) });
}

export function renderSearch(pages: Contents, query: string, results: Results): Page {
  const html = render("search", { query, ...results });
  return renderFrame("Search", render("article", { pages, path: "/docs/search", html, query }));
}

export function renderStatus(pages: Contents, isReady: boolean): Page {
  const html = render("status", { isReady, time: `${new Date(Date.now()).toISOString().slice(0, 19)}Z` });
  const page = renderFrame("Status", render("article", { pages, path: "/docs/status", html, query: "" }));
  return { ...page, status: isReady ? 200 : 503 };
}

const renderFrame = (title: string, body: string): Page =>
  renderPage({ title, body, width: "wide", ...guideAssets }, { locale: "en" });

export function renderReference(document: PublishedDocument, documents: PublishedDocument[]): Page {
  const html = render("reference", { document, documents, style, redoc, start });
  const headers = { ...pageHeaders(), "Content-Security-Policy": referencePolicy, "Content-Language": "en" };
  return allowCaching({ status: 200, html, headers });
}

const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Redoc's inline styles: an empty element that a script fills, and one for scrollbars.
  "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src blob:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export function sendPage(res: Response, { status, headers, html }: Page): void {
  res.status(status).set(headers).send(html);
}

function allowCaching(page: Page): Page {
  const { "Cache-Control": _, "Content-Type": __, ...headers } = page.headers;
  return { ...page, headers };
}
