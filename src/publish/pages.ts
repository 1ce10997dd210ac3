import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Router } from "express";
import { makeTemplates, pageHeaders, renderPage, type Page } from "../platform/pages/index.ts";
import { listGuides } from "./guides.ts";
import type { Place, PublishedDocument } from "./documents.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));

const style = loadAsset("docs.css", "text/css; charset=utf-8", readOwn("docs.css"));
const start = loadAsset("reference.js", "text/javascript; charset=utf-8", readOwn("reference.js"));
const redoc = loadAsset("redoc.js", "text/javascript; charset=utf-8", readRedoc());

/** The address of the stylesheet of the guides. */
export const guideStyle = style.path;

/** Serves what the pages load; addresses carry the content's hash, so that a browser may keep them for ever. */
export function makeReferenceAssets(): Router {
  const router = Router();
  for (const asset of [style, start, redoc]) {
    router.get(asset.path, (req, res) => {
      const zipped = req.acceptsEncodings("gzip") === "gzip";
      res.set({
        "Content-Type": asset.contentType,
        "Cache-Control": "public, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
        Vary: "Accept-Encoding",
        ...(zipped ? { "Content-Encoding": "gzip" } : {}),
      });
      res.send(zipped ? asset.zipped : asset.content);
    });
  }
  return router;
}

/** The guide for partners: from the first token to handling errors. */
export function renderGuide(documents: PublishedDocument[], place: Place): Page {
  const body = render("guide", { ...place, documents, guides: listGuides(), style: style.path });
  return allowCaching(renderPage({ title: "For partners", body, width: "wide" }, { locale: "en" }));
}

/** The reference page of one document; its script draws it from the document's address. */
export function renderReference(document: PublishedDocument, documents: PublishedDocument[]): Page {
  const html = render("reference", { document, documents, style: style.path, redoc: redoc.path, start: start.path });
  const headers = { ...pageHeaders(), "Content-Security-Policy": referencePolicy, "Content-Language": "en" };
  return allowCaching({ status: 200, html, headers });
}

const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Redoc's styles: an empty element that it fills by script, and one for its scrollbars.
  "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src blob:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** These pages are the same for everybody. */
function allowCaching(page: Page): Page {
  const { "Cache-Control": _, "Content-Type": __, ...headers } = page.headers;
  return { ...page, headers };
}

function readOwn(file: string): Buffer {
  return readFileSync(join(import.meta.dirname, file));
}

/** Redoc, without the picture that it would fetch from its maker. */
function readRedoc(): Buffer {
  const file = createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");
  return Buffer.from(readFileSync(file, "utf8").replaceAll("https://cdn.redoc.ly/redoc/logo-mini.svg", "data:,"));
}

function loadAsset(name: string, contentType: string, content: Buffer) {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { path: `/docs/assets/${name.replace(".", `-${hash}.`)}`, contentType, content, zipped: gzipSync(content) };
}
