import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Router } from "express";

const assets = [
  load("style", "pages.css", "text/css; charset=utf-8"),
  load("logo", "logo.svg", "image/svg+xml"),
] as const;

/** Addresses carry the content's hash, so that a browser may keep them for ever. */
export const assetPaths = Object.fromEntries(assets.map((asset) => [asset.name, asset.path])) as Record<
  "style" | "logo",
  string
>;

/** Serves the stylesheet and the logo of all pages. */
export function makePageAssets(): Router {
  const router = Router();
  for (const asset of assets) {
    router.get(asset.path, (_request, response) => {
      response.set({
        "Content-Type": asset.contentType,
        "Cache-Control": "public, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
      });
      response.send(asset.content);
    });
  }
  return router;
}

function load(name: "style" | "logo", file: string, contentType: string) {
  const content = readFileSync(join(import.meta.dirname, file));
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { name, path: `/assets/${file.replace(".", `-${hash}.`)}`, contentType, content };
}
