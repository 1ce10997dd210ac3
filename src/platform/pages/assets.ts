import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { Router } from "express";

const contentTypes = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
} as const;

const assets = new Map<string, { content: Buffer; contentType: string; zipped?: Buffer }>();

export function addAsset(file: string): string {
  const extension = extname(file);
  if (!Object.hasOwn(contentTypes, extension)) throw new Error(`no content type for ${file}`);
  return addContent(basename(file, extension), extension as keyof typeof contentTypes, readFileSync(file));
}

export function addContent(name: string, extension: keyof typeof contentTypes, content: Buffer): string {
  const contentType = contentTypes[extension];
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  const path = `/assets/${name}-${hash}${extension}`;
  assets.set(path, { content, contentType });
  return path;
}

export function addPackageAsset(name: string, file: string): string {
  const description = findPackageJSON(name, import.meta.url);
  if (description === undefined) throw new Error(`the package ${name} is not installed`);
  return addAsset(join(dirname(description), file));
}

export const assetPaths = {
  style: addAsset(join(import.meta.dirname, "pages.css")),
  logo: addAsset(join(import.meta.dirname, "logo.svg")),
};

export function makePageAssets(): Router {
  const router = Router();
  router.get("/assets/:file", (req, res, next) => {
    const asset = assets.get(`/assets/${req.params.file}`);
    if (asset === undefined) return next();
    const isZipped = asset.contentType.startsWith("text/") && req.acceptsEncodings("gzip") === "gzip";
    res.set({
      "Content-Type": asset.contentType,
      "Cache-Control": "public, max-age=31536000, immutable",
      "X-Content-Type-Options": "nosniff",
      Vary: "Accept-Encoding",
      ...(isZipped && { "Content-Encoding": "gzip" }),
    });
    res.send(isZipped ? (asset.zipped ??= gzipSync(asset.content)) : asset.content);
  });
  return router;
}
